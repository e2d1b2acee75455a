"""The daemon as users run it: a process with a config file, read over HTTP."""

import asyncio
import signal
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.support.ports import free_port
from tests.support.waiting import wait_until

COMMAND = (sys.executable, "-m", "monitor.cli")
Series = dict[tuple[str, tuple[tuple[str, str], ...]], float]

# Small delays, so that everything in the past is decided soon after it was read.
QUICK: Mapping[str, Any] = {
    "attribution_seconds": 10,
    "lateness_seconds": 2,
    "idle_seconds": 2,
    "windows": [10, 60],
    "windows_kept": 1000,
    "judgments": {"maturities": [5, 40]},
    "commit_seconds": 1,
}


def series(text: str) -> Series:
    """Every sample of an exposition, by name and labels."""
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def quality(samples: Series) -> Series:
    """What speaks of the events, not of the process or the clock."""
    ours = ("vector_", "ranking_monitor_events", "ranking_monitor_rejected", "ranking_monitor_judged")
    return {key: value for key, value in samples.items() if key[0].startswith(ours)}


class Daemon:
    """A running daemon."""

    def __init__(self, process: asyncio.subprocess.Process, url: str, log: Path) -> None:
        self.process = process
        self.url = url
        self.log = log

    async def get(self, path: str) -> httpx.Response:
        # There is no TLS, and reading the certificate authorities takes longer than the answer.
        async with httpx.AsyncClient(base_url=self.url, timeout=10, verify=False) as client:
            return await client.get(path)

    async def metrics(self) -> Series:
        return series((await self.get("/metrics")).text)

    async def scrape(self) -> Series:
        """What Prometheus gets, who acknowledges by it what it shows."""
        async with httpx.AsyncClient(base_url=self.url, timeout=10, verify=False) as client:
            headers = {"X-Prometheus-Scrape-Timeout-Seconds": "10"}
            return series((await client.get("/metrics", headers=headers)).text)

    async def total(self, name: str, **labels: str) -> float:
        """The sum of a family's series that have these labels."""
        wanted = set(labels.items())
        return sum(v for (n, have), v in (await self.metrics()).items() if n == name and wanted <= set(have))

    async def answers(self, path: str, status: int = 200) -> bool:
        try:
            return (await self.get(path)).status_code == status
        except httpx.TransportError:
            return False

    async def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal; the exit code."""
        self.process.send_signal(number)
        return await asyncio.wait_for(self.process.wait(), 10)


@asynccontextmanager
async def daemon(folder: Path, config: Mapping[str, Any]) -> AsyncIterator[Daemon]:
    """Run `ranking-monitor run` with QUICK's settings and these; stopped at the end if it still runs."""
    port = free_port()
    path = folder / f"monitor-{port}.yaml"
    path.write_text(yaml.safe_dump({**QUICK, **config, "listen": f"127.0.0.1:{port}"}))
    log = folder / f"monitor-{port}.log"
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *COMMAND, "run", "--config", str(path), stdout=errors, stderr=errors
        )
    running = Daemon(process, f"http://127.0.0.1:{port}", log)
    try:
        await wait_until(lambda: process.returncode is not None or _listens(running), 20)
        yield running
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _listens(running: Daemon) -> bool:
    return await running.answers("/-/healthy")


async def command(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
    """Run a command to its end: exit code, standard output, standard error."""
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, errors = await asyncio.wait_for(process.communicate(stdin), 60)
    assert process.returncode is not None
    return process.returncode, out.decode(), errors.decode()

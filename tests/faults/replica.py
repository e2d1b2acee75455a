"""A daemon that can be killed, stopped, frozen and started again at the same address."""

import asyncio
import json
import os
import random
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.support.daemon import Daemon
from tests.support.ports import free_port
from tests.support.waiting import wait_until

LAUNCHER = (sys.executable, "-m", "tests.faults.launcher")
START_SECONDS = 60.0
"""A busy machine takes its time; waiting costs nothing where it does not."""


class Replica:
    """One replica: what is started in its place again has its address, as in a StatefulSet."""

    def __init__(
        self,
        folder: Path,
        config: Mapping[str, Any],
        *,
        session_seconds: float | None = 3.0,
        proxy: int = 0,
        dawdle_seconds: float = 0.0,
        memory_bytes: int | None = None,
    ) -> None:
        port = free_port()
        self.address = f"127.0.0.1:{port}"
        self.config = folder / f"monitor-{port}.yaml"
        self.config.write_text(yaml.safe_dump({**config, "listen": self.address}))
        self.log = folder / f"monitor-{port}.log"
        self.starts = 0
        self._moment = folder / f"moment-{port}"
        self._moment.write_bytes(b"\0")
        faults: dict[str, Any] = {"dawdle_seconds": dawdle_seconds}
        if session_seconds is not None:
            faults["session_seconds"] = session_seconds
        if config.get("commit", "scrape") == "scrape":
            faults["moment"] = str(self._moment)
        if proxy:
            faults["proxy"] = proxy
        if memory_bytes:
            faults["memory_bytes"] = memory_bytes
        self._environment = {**os.environ, "LAUNCHER": json.dumps(faults)}
        self._running: Daemon | None = None

    @property
    def running(self) -> Daemon:
        assert self._running is not None, "it was not started"
        return self._running

    @property
    def alive(self) -> bool:
        return self._running is not None and self._running.process.returncode is None

    async def start(self) -> None:
        """Start it, and wait until it listens."""
        assert not self.alive
        self._moment.write_bytes(b"\0")
        self.starts += 1
        with self.log.open("ab") as output:
            process = await asyncio.create_subprocess_exec(
                *(*LAUNCHER, "run", "--config", str(self.config)),
                stdout=output,
                stderr=output,
                env=self._environment,
            )
        self._running = Daemon(process, f"http://{self.address}", self.log)
        await wait_until(self._listens, START_SECONDS, every=0.1)

    async def _listens(self) -> bool:
        assert self.alive, f"it ended with {self.running.process.returncode}:\n{self.said()}"
        return await self.running.answers("/-/healthy")

    async def ready(self, seconds: float = START_SECONDS) -> None:
        """Wait until it says that it is ready."""
        try:
            await wait_until(lambda: self.running.answers("/-/ready"), seconds, every=0.1)
        except AssertionError as error:
            said = (await self.running.get("/-/ready")).text
            raise AssertionError(f"{self.address} is not ready after {seconds:g} s: {said}") from error

    async def terminate(self) -> None:
        """End it as an orchestrator does; it has ten seconds."""
        began = time.monotonic()
        code = await self.running.stop()
        assert code == 0, f"exit code {code} after {time.monotonic() - began:.1f} s:\n{self.said()}"

    async def kill(self) -> None:
        if self.alive:
            self.running.process.kill()
            await self.running.process.wait()

    # The moment between a response's first byte and its confirmed commit.

    def inside(self) -> bool:
        """Whether the process has shown something that is not committed yet."""
        return self._moment.read_bytes() != b"\0"

    async def freeze_outside(self, seconds: float = 20.0) -> int:
        """Stop the process (SIGSTOP) outside the moment; how often it was found inside and let go on."""
        deadline, tries = time.monotonic() + seconds, 0
        while time.monotonic() < deadline:
            self.running.process.send_signal(signal.SIGSTOP)
            await wait_until(self._frozen, 5, every=0.001)
            # It stands still: what the byte says stays true.
            if not self.inside():
                return tries
            self.running.process.send_signal(signal.SIGCONT)
            tries += 1
            await asyncio.sleep(random.uniform(0.001, 0.01))
        raise AssertionError(f"{self.address} never left the moment:\n{self.said()}")

    def thaw(self) -> None:
        self.running.process.send_signal(signal.SIGCONT)

    async def kill_outside(self, seconds: float = 20.0) -> int:
        """Kill it outside the moment, without a race; how often it was found inside before."""
        tries = await self.freeze_outside(seconds)
        await self.kill()
        return tries

    async def kill_inside(self, after_seconds: float, seconds: float = 20.0) -> bool:
        """Kill it inside the moment, so long after it began; whether it was caught in it."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.inside():
                await asyncio.sleep(after_seconds)
                self.running.process.send_signal(signal.SIGSTOP)
                await wait_until(self._frozen, 5, every=0.001)
                if self.inside():
                    await self.kill()
                    return True
                self.thaw()
            await asyncio.sleep(0.0005)
        return False

    def _frozen(self) -> bool:
        """Whether every thread has stopped."""
        threads = Path(f"/proc/{self.running.process.pid}/task").glob("*/stat")
        return all(path.read_text().rpartition(")")[2].split()[0] in "Tt" for path in threads)

    def resident_bytes(self) -> int:
        pages = int(Path(f"/proc/{self.running.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    def peak_bytes(self) -> int:
        """The most memory that it had since it was started."""
        status = Path(f"/proc/{self.running.process.pid}/status").read_text()
        (line,) = [line for line in status.splitlines() if line.startswith("VmHWM:")]
        return int(line.split()[1]) * 1024

    async def state(self) -> str:
        """What it is up to, in its own words."""
        words = (await self.running.get("/-/ready")).text if self.alive else "it does not run\n"
        where = "inside" if self.inside() else "outside"
        return f"{self.address}, {where} the moment: {words}{self.said(40)}"

    def said(self, lines: int = 15) -> str:
        """The end of its log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

"""A daemon that starts behind a backlog: how fast it catches up, whether it answers, whether it is right.

    python -m benchmarks.figures.catch_up [seconds of backlog]

The backlog has a thousand events for each of its seconds; an hour by default. All the while a client asks for
/metrics every quarter of a second, once as anybody and once as Prometheus. Then event time is moved on, so
that all windows close, and they are compared with those of `ranking-monitor replay` over the same events.
"""

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.broker import PARTITIONS, Loaded, broker, loaded
from benchmarks.figures.asking import Latency, latency, read_records, timed, wait_until
from benchmarks.figures.result import Goal, save
from benchmarks.figures.windows import Compared, compare
from benchmarks.measure import Failed, cpu_seconds, peak_bytes, run
from benchmarks.throughput.daemon import COMMAND, SCRAPE, Daemon, running
from benchmarks.workload import LABELS, START, Record, Workload, write
from tests.support.kafka import Broker, Produced

RATE = 1000
EVERY_SECONDS = 0.25
GIVE_UP_SECONDS = 1800.0
DECIDED_SECONDS = 5.0
GOAL_MS = 100.0
Windows = list[dict[str, Any]]


class Backlog(Workload):
    """A workload that nothing closes: two hours that pass at once are no part of catching up."""

    def closers(self, partitions: int) -> Iterator[Record]:  # noqa: ARG002
        return iter(())


@dataclass(frozen=True)
class Read:
    """How the backlog was read."""

    events: int
    seconds: float
    """From the first answer on, the start of the consumer included."""
    cpu_micros_each: float
    peak_bytes: int
    as_anybody: Latency
    as_prometheus: Latency


@dataclass(frozen=True)
class CatchUp:
    """How it was read, and whether it was right."""

    ran: str
    goals: list[Goal]
    read: Read
    windows: Compared


def measure(seconds: float = 3600.0) -> CatchUp:
    """Load a backlog, read it, and compare."""
    workload = Backlog(int(seconds * RATE), rate=RATE)
    config = {
        "labels": list(LABELS),
        # As docs/sizing.md says: more are open than the default bound allows.
        "limits": {"open": max(1_000_000, int(seconds * RATE))},
        "windows_kept": max(120, int(seconds / 60) + 10),
    }
    with broker() as to, loaded(to, workload) as backlog:
        kafka = backlog.kafka_config(f"catch-up-{backlog.topics['impressions']}")
        with running({**config, "kafka": kafka}) as daemon:
            read = read_backlog(daemon, backlog)
            asyncio.run(close(to, backlog, Workload(workload.events, rate=RATE)))
            shown = closed_windows(daemon, backlog.total + 2 * PARTITIONS)
    compared = compare(shown, replay(workload, config), START + seconds)
    if not compared.series:
        raise Failed("no window has closed: there is nothing to compare")
    return CatchUp(
        f"{read.events:,} records, {seconds:.0f} s of backlog at {RATE:,} events a second, read in"
        f" {read.seconds:.1f} s; {compared.windows} windows with {compared.series:,} series compared;"
        f" /metrics asked {read.as_anybody.asked} times as anybody (p99 {read.as_anybody.p99:.0f} ms)"
        f" and as Prometheus (p99 {read.as_prometheus.p99:.0f} ms)",
        [
            Goal("windows and series after catching up that are not those of replay", 0, compared.unequal),
            Goal("slowest /metrics while catching up, as anybody", GOAL_MS, read.as_anybody.max, "ms"),
            Goal("slowest /metrics while catching up, as Prometheus", GOAL_MS, read.as_prometheus.max, "ms"),
        ],
        read,
        compared,
    )


def read_backlog(daemon: Daemon, backlog: Loaded) -> Read:
    """Ask a daemon that has just been started until it has read everything."""
    daemon.get("/-/healthy")
    began = time.perf_counter()
    anybody, prometheus = ask_until(daemon, backlog.total)
    return Read(
        backlog.total,
        time.perf_counter() - began,
        cpu_seconds(daemon.pid) / backlog.total * 1e6,
        peak_bytes(daemon.pid),
        latency(anybody),
        latency(prometheus),
    )


async def close(to: Broker, backlog: Loaded, workload: Workload) -> None:
    """Send the events that move event time past every deadline."""
    for role, key, value, ts, partition in workload.closers(PARTITIONS):
        await to.produce(backlog.topics[role], [Produced(key, value, partition, int(ts * 1000))])


def closed_windows(daemon: Daemon, records: int) -> Windows:
    """The windows that are closed once so many records were read."""
    wait_until(
        lambda: sum(read_records(daemon.get("/metrics")).values()) >= records,
        GIVE_UP_SECONDS,
        "the closing events were not read",
    )
    # What is due is decided a little later than it is read.
    found: Windows = []
    before: Windows | None = None
    while found != before:
        time.sleep(DECIDED_SECONDS)
        found, before = msgspec.json.decode(daemon.get("/api/v1/windows?limit=10000"))["windows"], found
    return found


def ask_until(daemon: Daemon, records: int) -> tuple[list[float], list[float]]:
    """Ask for /metrics until it shows so many records; how long each answer took, both ways."""
    anybody: list[float] = []
    prometheus: list[float] = []
    began = time.perf_counter()
    while time.perf_counter() - began < GIVE_UP_SECONDS:
        body, seconds = timed(daemon, "/metrics")
        anybody.append(seconds)
        prometheus.append(timed(daemon, "/metrics", SCRAPE)[1])
        if sum(read_records(body).values()) >= records:
            return anybody, prometheus
        time.sleep(EVERY_SECONDS - (time.perf_counter() - began) % EVERY_SECONDS)
    raise Failed(f"the backlog was not read in {GIVE_UP_SECONDS:.0f} s")


def replay(workload: Workload, config: Mapping[str, Any]) -> Windows:
    """The windows of the same events, read from a file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        events, settings, out = (folder / n for n in ("events.jsonl", "monitor.yaml", "windows.jsonl"))
        settings.write_bytes(msgspec.json.encode(config))
        write(workload, events)
        command = [COMMAND, "replay", str(events), "--config", str(settings), "--windows-out", str(out)]
        run(command, timeout_seconds=GIVE_UP_SECONDS, log=folder / "replay.log")
        return [msgspec.json.decode(line) for line in out.read_bytes().splitlines()]


if __name__ == "__main__":
    save("catch_up", measure(float(sys.argv[1]) if len(sys.argv) > 1 else 3600.0))

"""What a running daemon is asked: how far it has come, and how long its answers take."""

import re
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.measure import Failed
from benchmarks.throughput.daemon import Daemon

PROGRESS = re.compile(r"^Healthy: reading (no|[\d,]+) partitions?, (no|[\d,]+) records? behind")
OPEN = re.compile(r"^ranking_monitor_open_impressions (\S+)$", re.MULTILINE)
RECORDS = re.compile(r'^ranking_monitor_records_total\{topic="(.+?)"\} (\S+)$', re.MULTILINE)


class Progress(NamedTuple):
    """How far a daemon has come."""

    partitions: int
    """That it reads: of impressions and of interactions."""
    behind: int


@dataclass(frozen=True)
class Latency:
    """How long answers took, in milliseconds."""

    asked: int
    median: float
    p99: float
    max: float


def progress(daemon: Daemon) -> Progress | None:
    """How far a daemon has come, ready or not; None where it is not healthy."""
    return read_progress(daemon.get("/-/healthy"))


def read_progress(words: str) -> Progress | None:
    """What /-/healthy says.

    >>> read_progress("Healthy: reading 3 partitions, 12,345 records behind, event time 64 s ago")
    Progress(partitions=3, behind=12345)
    >>> read_progress("Unhealthy: the main loop has not come round for 31 s")
    """
    found = PROGRESS.match(words)
    return Progress(*(0 if n == "no" else int(n.replace(",", "")) for n in found.groups())) if found else None


def read_records(exposition: str) -> dict[str, int]:
    """Records by topic, as /metrics shows them.

    >>> read_records('ranking_monitor_records_total{topic="a"} 3.0')
    {'a': 3}
    """
    return {topic: int(float(count)) for topic, count in RECORDS.findall(exposition)}


def read_open(exposition: str) -> int:
    """Impressions that are still to be decided, as /metrics shows them.

    >>> read_open("ranking_monitor_open_impressions 4.0")
    4
    """
    return sum(int(float(count)) for count in OPEN.findall(exposition))


def timed(daemon: Daemon, path: str, headers: Mapping[str, str] | None = None) -> tuple[str, float]:
    """Ask over a new connection; the answer, and the seconds until it was there."""
    began = time.perf_counter()
    body = daemon.get(path, headers or {})
    return body, time.perf_counter() - began


def latency(seconds: Iterable[float]) -> Latency:
    """Summarise.

    >>> latency([0.004, 0.002, 0.003])
    Latency(asked=3, median=3.0, p99=4.0, max=4.0)
    """
    millis = sorted(1000.0 * one for one in seconds)
    return Latency(len(millis), millis[len(millis) // 2], millis[len(millis) * 99 // 100], millis[-1])


def wait_until(good: Callable[[], bool], seconds: float, otherwise: str) -> None:
    """Look ten times a second; fail where it takes too long."""
    deadline = time.monotonic() + seconds
    while not good():
        if time.monotonic() > deadline:
            raise Failed(f"{otherwise} in {seconds:.0f} s")
        time.sleep(0.1)

"""What every program is told, and what it prints: one JSON object each."""

import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Job:
    """Topics to read from their beginning to their end."""

    bootstrap_servers: str
    topics: dict[str, str]
    """impressions, interactions, judgments -> the name of the topic."""
    records: dict[str, int]
    """Topic -> how many records it has."""
    partitions: int
    name: str
    """Of this run alone: for consumer groups and folders."""

    @property
    def total(self) -> int:
        return sum(self.records.values())

    @property
    def event_topics(self) -> list[str]:
        """All but that of the judgments."""
        return [topic for role, topic in self.topics.items() if role != "judgments"]

    @property
    def events_total(self) -> int:
        """Without the judgments."""
        return self.total - self.records[self.topics["judgments"]]


def read_job() -> Job:
    """Return the job that the command line has as JSON."""
    return Job(**json.loads(sys.argv[1]))


class Stopwatch:
    """Wall and CPU time, all threads together, from the first record on; judgments are read before."""

    def __init__(self) -> None:
        self._began: tuple[float, float] | None = None

    def start(self) -> None:
        """Begin; nothing from the second time on."""
        if self._began is None:
            self._began = time.perf_counter(), time.process_time()

    def finish(self, events: int, result: dict[str, Any] | None = None) -> None:
        """Print what it took until now."""
        assert self._began is not None, "no record came"
        seconds, cpu = time.perf_counter() - self._began[0], time.process_time() - self._began[1]
        told = {"events": events, "seconds": seconds, "cpu_seconds": cpu, "peak_bytes": _peak_bytes()}
        print(json.dumps({**told, "result": result}), flush=True)


def _peak_bytes() -> int:
    # Not getrusage: there a child begins with the size of its parent.
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))

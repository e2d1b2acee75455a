"""What a program took: seconds, CPU seconds and memory of a process, and the median over several rounds."""

import os
import statistics
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Spread:
    """The median of several rounds, and the least and the largest."""

    median: float
    low: float
    high: float

    @property
    def percent(self) -> float:
        """Half of the distance between the extremes, in percent of the median."""
        return 50.0 * (self.high - self.low) / self.median if self.median else 0.0


class Failed(Exception):  # noqa: N818 - a finding: the program goes into the table with its reason
    """A program did not do its work; the message has the end of what it said."""


def spread(values: Iterable[float]) -> Spread:
    """Summarise rounds.

    >>> spread([3.0, 1.0, 2.0])
    Spread(median=2.0, low=1.0, high=3.0)
    """
    found = list(values)
    return Spread(statistics.median(found), min(found), max(found))


def run(
    command: Sequence[str],
    *,
    timeout_seconds: float = 600.0,
    env: Mapping[str, str] | None = None,
    log: Path | None = None,
) -> str:
    """Run a program to its end, and return what it printed; what it says on stderr goes to the log."""
    log = log or Path(os.devnull)
    with log.open("wb") as errors:
        try:
            done = subprocess.run(
                command,
                check=False,
                stdout=subprocess.PIPE,
                stderr=errors,
                env={**os.environ, **(env or {})},
                timeout=timeout_seconds,
            )
        except subprocess.TimeoutExpired:
            raise Failed(f"{' '.join(command)[:200]}: not done in {timeout_seconds:.0f} s") from None
    if done.returncode:
        said = log.read_text(errors="replace")[-2000:]
        raise Failed(f"{' '.join(command)[:200]}: exit code {done.returncode}\n{said}")
    return done.stdout.decode()


def cpu_seconds(pid: int) -> float:
    """User and system time of a running process so far, all its threads together."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def peak_bytes(pid: int | str = "self") -> int:
    """The largest resident size of a running process so far; 0 where it has just ended."""
    return _status(pid, "VmHWM:")


def resident_bytes(pid: int | str = "self") -> int:
    """The resident size of a running process now."""
    return _status(pid, "VmRSS:")


def _status(pid: int | str, name: str) -> int:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(name)), 0)

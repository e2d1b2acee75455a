"""What a run of a program brought, and whether two programs came to the same result."""

from dataclasses import dataclass
from math import isclose

Result = dict[str, tuple[int, float]]
"""Metric -> how many impressions were observed, and the sum of their values."""


@dataclass(frozen=True)
class Outcome:
    """One run, from the first record to the last decision."""

    events: int
    seconds: float
    cpu_seconds: float
    peak_bytes: int
    result: Result | None = None
    """None for programs that only read."""

    def __str__(self) -> str:
        return (
            f"{self.events_per_second:10,.0f} events/s {self.cpu_micros:7.2f} us CPU "
            f"{self.peak_bytes / 1e6:5.0f} MB {self.seconds:6.1f} s"
        )

    @property
    def events_per_second(self) -> float:
        return self.events / self.seconds

    @property
    def cpu_micros(self) -> float:
        """CPU microseconds for each event."""
        return self.cpu_seconds / self.events * 1e6


def differences(found: Result, expected: Result) -> list[str]:
    """What differs: counts by anything, sums by more than a millionth.

    >>> differences({"ctr": (4, 2.0)}, {"ctr": (4, 2.0000001)})
    []
    >>> differences({"ctr": (4, 2.0)}, {"ctr": (5, 2.0)})
    ['ctr: 4 observations with sum 2, not 5 with sum 2']
    """
    return [
        f"{name}: {count} observations with sum {total:g}, not {right[0]} with sum {right[1]:g}"
        for name, right in expected.items()
        for count, total in [found.get(name, (0, 0.0))]
        if count != right[0] or not isclose(total, right[1], rel_tol=1e-6)
    ]

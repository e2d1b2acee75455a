"""Whether two lots of closed windows are the same, as the API and `replay --windows-out` write them."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

WindowKey = tuple[str, float, str]


@dataclass(frozen=True)
class Compared:
    """How many windows and series there were, and how many of them differ."""

    windows: int
    series: int
    missing: int
    """Windows or series that only one of the two has."""
    differing: int
    """Series with other samples, buckets or means."""

    @property
    def unequal(self) -> int:
        return self.missing + self.differing


def compare(mine: Iterable[Mapping[str, Any]], others: Iterable[Mapping[str, Any]], until: float) -> Compared:
    """Compare the windows that begin before some time.

    Samples and buckets have to be equal. So have means but for the last digits: a sum of fractions depends
    on their order, and partitions are read in no fixed one.
    """
    a, b = _by_key(mine, until), _by_key(others, until)
    missing = len(a.keys() ^ b.keys())
    series = differing = 0
    for key in a.keys() & b.keys():
        left, right = a[key], b[key]
        series += len(left)
        missing += len(left.keys() ^ right.keys())
        differing += sum(not _equal(left[name], right[name]) for name in left.keys() & right.keys())
    return Compared(len(a), series, missing, differing)


def _by_key(
    windows: Iterable[Mapping[str, Any]], until: float
) -> dict[WindowKey, dict[tuple[Any, ...], Mapping[str, Any]]]:
    return {
        (window["window"], window["start"], window["delay"]): {
            (s["family"], s["k"], s["maturity"], *sorted(s["labels"].items())): s for s in window["series"]
        }
        for window in windows
        if window["start"] < until
    }


def _equal(left: Mapping[str, Any], right: Mapping[str, Any]) -> bool:
    return (
        left["samples"] == right["samples"]
        and left["buckets"] == right["buckets"]
        and _close(left["mean"], right["mean"])
    )


def _close(left: float | None, right: float | None) -> bool:
    """None stands for a mean that no JSON can hold."""
    if left is None or right is None:
        return left is right
    return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-12)

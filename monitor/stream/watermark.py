"""Event time: how far each partition has come, and the watermark that a task's partitions agree on."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from monitor.metrics import Bools, Floats
from monitor.stream.records import TopicPartition

RECENT = 31
"""Records whose median time is the log's clock where producers write the timestamps: fewer than half of them
may be wrong."""


@dataclass(slots=True)
class PartitionClock:
    """How far one partition has come."""

    newest: float = -math.inf
    """Largest `ts` it brought."""
    reached: float = -math.inf
    """Event time: never beyond the log's clock, nor beyond the clock while the partition is idle."""
    _newest_record: float = -math.inf
    """Largest time of a record, by its `ts`, its timestamp and the clock, whichever is least."""
    _recent: Floats = field(default_factory=lambda: np.full(RECENT - 1, -math.inf))
    """Times of the last records; minus infinity before there were as many."""

    def advance(self, times: Floats, *, by_median: Bools | bool = False, limit: float = math.inf) -> Floats:
        """Move on with records of these times; how far the partition had come before each of them.

        Where `by_median` is set, a record counts only as much as most of those before it agree. Event time
        does not move beyond `limit`.
        """
        if not times.size:
            return times
        both = np.concatenate((self._recent, times))
        agreed = np.where(by_median, _running_median(both), times) if np.any(by_median) else times
        steps = np.minimum(agreed, limit)
        reached = np.maximum.accumulate(np.concatenate(([self.reached], steps)))
        self.reached = float(reached[-1])
        self._newest_record = max(self._newest_record, float(times.max()))
        self._recent = both[1 - RECENT :].copy()
        return reached[:-1]

    def reach_newest_record(self) -> None:
        """Nothing is left to read: whatever comes is written from now on, and no record is ahead of now."""
        self.reached = max(self.reached, self._newest_record)

    def idle(self, now: float) -> None:
        """Nothing came though it was fetched to its end: the partition moves on with the clock."""
        self.reached = max(self.reached, now)


@dataclass(slots=True)
class Watermark:
    """The least of what a task's partitions have reached, less the lateness; never goes back."""

    lateness: float
    partitions: dict[TopicPartition, PartitionClock] = field(default_factory=dict)
    value: float = -math.inf

    def reached_by_others(self, partition: TopicPartition) -> float:
        """What holds the watermark back besides the partition at hand."""
        return min((c.reached for tp, c in self.partitions.items() if tp != partition), default=math.inf)

    def advance(self) -> float:
        reached = min((clock.reached for clock in self.partitions.values()), default=-math.inf)
        self.value = max(self.value, reached - self.lateness)
        return self.value


def lowest(watermarks: Iterable[Watermark]) -> float:
    """What every task has passed."""
    return min((watermark.value for watermark in watermarks), default=-math.inf)


def _running_median(times: Floats) -> Floats:
    """The median of each RECENT times in a row."""
    windows = np.lib.stride_tricks.sliding_window_view(times, RECENT)
    medians: Floats = np.partition(windows, RECENT // 2, axis=1)[:, RECENT // 2]
    return medians

"""Event time: how far each partition has come, and the watermark that a task's partitions agree on."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from monitor.stream.records import TopicPartition


@dataclass(slots=True)
class PartitionClock:
    """How far one partition has come."""

    newest: float = -math.inf
    """Largest `ts` it brought."""
    reached: float = -math.inf
    """The same, or the clock while the partition is idle."""

    def saw(self, ts: float) -> None:
        if ts > self.newest:
            self.newest = ts
            self.reached = max(self.reached, ts)

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

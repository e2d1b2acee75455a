"""How far a task was read and counted, and from where its records are still needed."""

import math
from collections import deque
from dataclasses import dataclass, field

from monitor.stream.checkpoint import Checkpoint
from monitor.stream.join import Task
from monitor.stream.records import Start, TopicPartition
from monitor.stream.watermark import PartitionClock, Watermark


@dataclass(slots=True)
class PartitionProgress:
    """One partition of a task."""

    position: int
    """The next offset to be read."""
    counted_from: int
    """Records before this offset were counted by an earlier owner or before a restart."""
    clock: PartitionClock
    covered_from: float | None
    """When the reading began, until the first record tells it better; None once it is settled."""
    first_judgment: int | None = None
    """Offset of the oldest judgment: judgments never age, so with them the log is needed from there on."""
    chunks: deque[tuple[int, float]] = field(default_factory=deque)
    """First offset and largest ts of the chunks that are still needed."""

    def saw_judgment(self, offset: int) -> None:
        if self.first_judgment is None:
            self.first_judgment = offset

    def oldest_needed(self) -> int:
        oldest = self.chunks[0][0] if self.chunks else self.position
        return oldest if self.first_judgment is None else min(oldest, self.first_judgment)


class TaskProgress:
    """One task: what it holds, its watermark, and where its counting stands."""

    def __init__(self, number: int, task: Task, lateness: float, checkpoint: Checkpoint | None) -> None:
        self.number = number
        self.task = task
        self.watermark = Watermark(lateness)
        self.counted_until = checkpoint.watermark if checkpoint else -math.inf
        """Deadlines before this were counted by an earlier owner or before a restart."""
        self.decided_until = -math.inf
        """Deadlines before this were decided here."""
        self.partitions: dict[TopicPartition, PartitionProgress] = {}
        self._counted = checkpoint.positions if checkpoint else {}

    def add(self, partition: TopicPartition, start: Start, now: float) -> None:
        clock = self.watermark.partitions[partition] = PartitionClock()
        covered = bool(self._counted) or start.from_beginning or start.since is not None
        self.partitions[partition] = PartitionProgress(
            position=start.offset,
            counted_from=self._counted.get(partition[0], 0),
            clock=clock,
            covered_from=None if covered else now,
        )

    def positions(self) -> dict[TopicPartition, int]:
        return {partition: part.position for partition, part in self.partitions.items()}

    def checkpoint(self) -> Checkpoint:
        """P and S as they are now; never less than what was counted before."""
        return Checkpoint(
            {tp[0]: max(part.position, part.counted_from) for tp, part in self.partitions.items()},
            max(self.decided_until, self.counted_until),
        )

"""How far a task was read and counted, and from where its records are still needed."""

import math
from collections import deque
from dataclasses import dataclass, field

from monitor.stream import checkpoint
from monitor.stream.checkpoint import Checkpoint
from monitor.stream.join import Task
from monitor.stream.plan import Plan, Stage
from monitor.stream.records import Start, TopicPartition
from monitor.stream.tally import Tally
from monitor.stream.watermark import PartitionClock, Watermark

CLICKS, SETTLED = "clicks", "settled"
OFFSETS_KEPT = 100
"""Late impressions of a partition, and records too far ahead, that a checkpoint can name; the broker bounds
its size."""


@dataclass(frozen=True, slots=True)
class Part:
    """What was counted of one task since the part before, and the commit that tells so."""

    tally: Tally
    checkpoint: Checkpoint | None = None
    commits: dict[TopicPartition, tuple[int, str]] = field(default_factory=dict)


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
    were_late: frozenset[int] = frozenset()
    """Of the records before `counted_from`, impressions that were late."""
    were_ahead: frozenset[int] = frozenset()
    """Of the records before `counted_from`, those whose `ts` was too far ahead of the clock."""
    late: deque[int] = field(default_factory=lambda: deque(maxlen=OFFSETS_KEPT))
    """Offsets of late impressions."""
    ahead: deque[int] = field(default_factory=lambda: deque(maxlen=OFFSETS_KEPT))
    """Offsets of records that were rejected because the clock was too far behind their `ts`."""
    first_judgment: int | None = None
    """Offset of the oldest judgment: judgments never age, so with them the log is needed from there on."""
    chunks: deque[tuple[int, float]] = field(default_factory=deque)
    """First offset and largest ts of the chunks that are still needed."""

    def begins_at(self, offset: int) -> None:
        """Take note of where a chunk begins: before what was read, the log is another one than before."""
        if offset < self.position:
            self.counted_from, self.were_late, self.were_ahead = 0, frozenset(), frozenset()
            self.late.clear()
            self.ahead.clear()

    def took(self, first: int, last: int, newest: float) -> None:
        """Take note of records that were taken in: their offsets, and their largest ts."""
        self.clock.newest = max(self.clock.newest, newest)
        self.position = last + 1
        if newest > -math.inf:
            self.chunks.append((first, newest))

    def reached(self, position: int) -> None:
        """Take note of the next offset, where what comes before it are no records to be taken in."""
        self.position = max(self.position, position)

    def saw_judgment(self, offset: int) -> None:
        if self.first_judgment is None:
            self.first_judgment = offset

    def oldest_needed(self) -> int:
        oldest = self._oldest_chunk
        return oldest if self.first_judgment is None else min(oldest, self.first_judgment)

    @property
    def late_and_needed(self) -> list[int]:
        return [offset for offset in self.late if offset >= self._oldest_chunk]

    @property
    def ahead_and_needed(self) -> list[int]:
        """Unlike those of late impressions, their deadlines may be yet to come."""
        oldest = self.oldest_needed()
        return [offset for offset in self.ahead if offset >= oldest]

    @property
    def to_replay(self) -> int:
        """Records that are still to be read again without being counted."""
        return max(0, self.counted_from - self.position)

    @property
    def _oldest_chunk(self) -> int:
        return self.chunks[0][0] if self.chunks else self.position


class Counted:
    """Up to where the deadlines of a task were counted by an earlier owner or before a restart.

    Where the delays were others then, a deadline of then is moved to where it would be now.
    """

    def __init__(self, before: Checkpoint | None, plan: Plan) -> None:
        before = before or Checkpoint(positions={})
        then = before.delays or delays_of(plan)
        self.until = before.watermark
        self.interactions = self._told(before, CLICKS) + plan.attribution - then.attribution
        """For interactions, and what is decided with them."""
        self.settled = self._told(before, SETTLED) + plan.last_delay - then.last
        """For the fate of impressions."""
        # A maturity that was not there before has no series yet in which anything was counted.
        self.maturities = {
            delay: self._told(before, _name(delay)) if delay in then.maturities else -math.inf
            for delay in delays_of(plan).maturities
        }
        self.stages = [self._stage(stage) for stage in plan.stages]

    @staticmethod
    def _told(before: Checkpoint, kind: str) -> float:
        until = before.apart.get(kind, before.watermark)
        return -math.inf if until is None else until

    def _stage(self, stage: Stage) -> float:
        until = [] if stage.delay else [self.until]
        if stage.decides_clicks:
            until.append(self.interactions)
        if stage.maturity is not None:
            until.append(self.maturities[stage.delay])
        return max(until)

    def apart(self, decided: float) -> dict[str, float | None]:
        """The kinds of deadlines that are counted up to another time than the watermark is, by now."""
        kinds = {CLICKS: self.interactions, SETTLED: self.settled}
        kinds |= {_name(delay): until for delay, until in self.maturities.items()}
        reached = max(decided, self.until)
        now = {kind: max(decided, until) for kind, until in kinds.items()}
        return {
            kind: until if math.isfinite(until) else None for kind, until in now.items() if until != reached
        }


class TaskProgress:
    """One task: what it holds, its watermark, what it counted, and where its counting stands."""

    def __init__(
        self, number: int, plan: Plan, lateness: float, before: Checkpoint | None, tally: Tally
    ) -> None:
        self.number = number
        self.task = Task(plan)
        self.tally = tally
        """What was counted and not handed on yet."""
        self.watermark = Watermark(lateness)
        self.counted = Counted(before, plan)
        self.decided_until = -math.inf
        """Deadlines before this were decided here."""
        self.partitions: dict[TopicPartition, PartitionProgress] = {}
        self._before = before or Checkpoint(positions={})
        self._sequence = self._before.sequence
        self._delays = delays_of(plan)

    def add(self, partition: TopicPartition, start: Start, now: float) -> None:
        clock = self.watermark.partitions[partition] = PartitionClock()
        counted = self._before.positions
        counted_from = counted.get(partition[0], 0)
        covered = bool(counted) or start.from_beginning or start.since is not None
        were_late = self._before.late.get(partition[0], [])
        were_ahead = self._before.ahead.get(partition[0], [])
        self.partitions[partition] = PartitionProgress(
            position=start.offset,
            # A log that ends before what was counted has lost records: those that come are others.
            counted_from=counted_from if start.end is None else min(counted_from, start.end),
            clock=clock,
            covered_from=None if covered else now,
            were_late=frozenset(were_late),
            were_ahead=frozenset(were_ahead),
            # Read again without being counted: they are to be named once more.
            late=deque(were_late, maxlen=OFFSETS_KEPT),
            ahead=deque(were_ahead, maxlen=OFFSETS_KEPT),
        )

    @property
    def to_replay(self) -> int:
        return sum(part.to_replay for part in self.partitions.values())

    def checkpoint(self) -> Checkpoint:
        """P and S as they are now; never less than what was counted before."""
        late = {tp[0]: part.late_and_needed for tp, part in self.partitions.items()}
        ahead = {tp[0]: part.ahead_and_needed for tp, part in self.partitions.items()}
        return Checkpoint(
            positions={tp[0]: max(part.position, part.counted_from) for tp, part in self.partitions.items()},
            watermark=max(self.decided_until, self.counted.until),
            sequence=self._sequence + 1,
            delays=self._delays,
            apart=self.counted.apart(self.decided_until),
            late={topic: offsets for topic, offsets in late.items() if offsets},
            ahead={topic: offsets for topic, offsets in ahead.items() if offsets},
        )

    def take(self, tally: Tally) -> Part:
        """Hand on what was counted, with the commit that tells how far; go on with an empty tally."""
        taken, self.tally = self.tally, tally
        reached = self.checkpoint()
        self._sequence = reached.sequence
        return Part(taken, reached, self.commits(reached))

    def commits(self, reached: Checkpoint) -> dict[TopicPartition, tuple[int, str]]:
        """For each partition the oldest offset still needed, and how far the task was counted."""
        text = checkpoint.encode(reached)
        return {tp: (part.oldest_needed(), text) for tp, part in self.partitions.items()}


def _name(maturity: float) -> str:
    return f"{maturity:g}"


def delays_of(plan: Plan) -> checkpoint.Delays:
    """The delays of a plan as a checkpoint names them."""
    return checkpoint.Delays(
        plan.attribution, tuple(stage.delay for stage in plan.stages if stage.maturity is not None)
    )

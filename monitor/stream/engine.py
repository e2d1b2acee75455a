"""The engine: records in, fates and observations out. It knows event time only; the clock is a parameter."""

import logging
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from monitor.config import Config
from monitor.durations import in_words
from monitor.events import Event, Impression, Judgment, Reason, Rejected, decode, decode_tombstone
from monitor.stream import checkpoint, intake
from monitor.stream.books import Books
from monitor.stream.cells import Cells
from monitor.stream.join import KINDS, Held, Interaction, Task
from monitor.stream.judgments import JudgmentTable
from monitor.stream.labels import LabelSets
from monitor.stream.observations import Observations
from monitor.stream.plan import Stage, make_plan
from monitor.stream.progress import PartitionProgress, TaskProgress
from monitor.stream.records import Chunk, Record, Role, Start, TopicPartition
from monitor.stream.score import Scored, score
from monitor.stream.snapshot import Snapshot
from monitor.stream.watermark import lowest
from monitor.stream.windows import Window

log = logging.getLogger(__name__)
MAX_BATCH = 4096
"""Impressions scored at once: bounds the padded matrices when a backlog is worked off."""


class Engine:
    """Joins, judges and scores what the sources bring, for all tasks of this process."""

    def __init__(self, config: Config, roles: Mapping[str, Role]) -> None:
        self.plan = make_plan(config)
        self.labels = LabelSets(config.labels)
        self._config = config
        self._roles = roles
        self._judgments_anywhere = Role.EVENTS in roles.values()
        self._tasks: dict[int, TaskProgress] = {}
        self._left: dict[int, checkpoint.Checkpoint] = {}
        self._table = JudgmentTable(config.judgments.combine, config.limits.judgments)
        self.books = self._new_books()
        self._uncounted = self._new_books()
        """Where that goes which was counted before a restart."""
        self._observations = Observations(config, self.plan, self.labels)
        self._windows = self._observations.windows

    # What the source tells.

    def assign(self, starts: Mapping[TopicPartition, Start], now: float) -> None:
        """Take the whole new assignment: keep the tasks that go on, begin the new ones, drop the rest."""
        by_task: dict[int, dict[TopicPartition, Start]] = {}
        for partition, start in starts.items():
            by_task.setdefault(partition[1], {})[partition] = start
        before, self._tasks = self._tasks, {}
        for number, parts in by_task.items():
            known = before.pop(number, None)
            if known and known.positions() == {tp: start.offset for tp, start in parts.items()}:
                self._tasks[number] = known
                continue
            if known:
                self._leave(known)
            stored = checkpoint.of_task({tp[0]: start.metadata for tp, start in parts.items()})
            counted = checkpoint.higher(stored, self._left.pop(number, None))
            progress = TaskProgress(number, Task(self.plan), self._config.lateness_seconds, counted)
            for partition, start in parts.items():
                progress.add(partition, start, now)
                if start.since is not None:
                    self._windows.covered_from = max(self._windows.covered_from, start.since)
            self._tasks[number] = progress
        for progress in before.values():
            self._leave(progress)
        self._windows.resume(min((p.counted_until for p in self._tasks.values()), default=-math.inf))

    def ingest(self, chunk: Chunk, now: float) -> None:
        """Take records in, in the order of their partition."""
        if self._roles[chunk.topic] is Role.JUDGMENTS:
            self._ingest_judgments(chunk, now)
        else:
            self._ingest_events(chunk, now)

    def idle(self, partitions: Collection[TopicPartition], now: float) -> None:
        """These partitions were fetched to their end and brought nothing: they move on with the clock."""
        for partition in partitions:
            progress = self._tasks.get(partition[1])
            if progress and partition in progress.partitions:
                part = progress.partitions[partition]
                part.clock.idle(now)
                self._cover(part, math.inf)

    def advance(self, now: float) -> None:
        """Decide everything whose deadline has passed."""
        for progress in self._tasks.values():
            progress.watermark.advance()
        passed = self._table.horizon = lowest(p.watermark for p in self._tasks.values())
        for progress in self._tasks.values():
            self._pass(progress, passed if self._judgments_anywhere else progress.watermark.value, now)
        self._windows.close(passed)
        for progress in self._tasks.values():
            for part in progress.partitions.values():
                while part.chunks and self._needed_until(part.chunks[0][1]) < passed:
                    part.chunks.popleft()

    def finish(self, now: float) -> None:
        """The end of a file: all time has passed."""
        for progress in self._tasks.values():
            for part in progress.partitions.values():
                part.clock.idle(math.inf)
        self.advance(now)

    # What others ask for.

    def checkpoints(self) -> dict[TopicPartition, tuple[int, str]]:
        """For each partition the oldest offset still needed, and how far its task was counted."""
        return {
            partition: (part.oldest_needed(), text)
            for progress in self._tasks.values()
            for text in [checkpoint.encode(progress.checkpoint())]
            for partition, part in progress.partitions.items()
        }

    @property
    def open_impressions(self) -> int:
        return sum(p.task.open for p in self._tasks.values())

    @property
    def pending_interactions(self) -> int:
        return sum(p.task.pending for p in self._tasks.values())

    @property
    def judgments(self) -> int:
        return self._table.live

    @property
    def watermarks(self) -> dict[int, float]:
        return {number: p.watermark.value for number, p in self._tasks.items()}

    @property
    def partitions(self) -> int:
        return sum(len(p.partitions) for p in self._tasks.values())

    def windows(self) -> Sequence[Window]:
        return self._windows.closed()

    def snapshot(self) -> Snapshot:
        observed, books = self._observations, self.books
        observed.grow()
        cells = Cells(self.plan.columns)
        cells.merge(observed.cells)
        return Snapshot(
            label_names=self.labels.names,
            label_sets=list(self.labels.values),
            columns=self.plan.columns,
            cells=cells,
            positions_shown=observed.shown.copy(),
            positions_clicked=observed.clicked.copy(),
            windows=self._windows.newest(),
            records=dict(books.records),
            rejected=dict(books.rejected),
            fates=dict(books.fates),
            judged=dict(books.judged),
            label_overflow=dict(self.labels.overflow),
            duplicate_keys=books.duplicate_keys,
            judgments_evicted=books.judgments_evicted,
            open_impressions=self.open_impressions,
            pending_interactions=self.pending_interactions,
            judgments=self.judgments,
            watermarks=self.watermarks,
            newest={tp: part.clock.newest for p in self._tasks.values() for tp, part in p.partitions.items()},
            delays=observed.delays,
        )

    # Taking in.

    def _leave(self, progress: TaskProgress) -> None:
        """Drop a task; should it come back, what this process has counted of it is not counted again."""
        self._left[progress.number] = progress.checkpoint()
        self._windows.forget(progress.number)

    def _ingest_judgments(self, chunk: Chunk, now: float) -> None:
        books = self.books
        books.records[chunk.topic] += len(chunk.records)
        for record in chunk.records:
            event = _event(record, now)
            if isinstance(event, Judgment):
                books.fates["judgment", intake.judge(event, self._table)] += 1
            else:
                books.rejected[event.reason if isinstance(event, Rejected) else Reason.WRONG_TOPIC] += 1
        books.judgments_evicted += self._table.evict()

    def _ingest_events(self, chunk: Chunk, now: float) -> None:
        partition = (chunk.topic, chunk.partition)
        progress = self._tasks[chunk.partition]
        part = progress.partitions[partition]
        takes_judgments = self._roles[chunk.topic] is Role.EVENTS
        lateness = self._config.lateness_seconds
        others = progress.watermark.reached_by_others(partition)
        # The watermark moves with every record, so that a fate does not depend on how records are chunked.
        reached, watermark = part.clock.reached, progress.watermark.value
        decided = watermark
        first = chunk.records[0]
        newest = -math.inf
        for record in chunk.records:
            if record.offset < part.counted_from:
                books = self._uncounted
            else:
                # Before a restart event time had come this far, be it by the clock of an idle partition.
                books, watermark = self.books, max(watermark, progress.counted_until)
            books.records[chunk.topic] += 1
            event = _event(record, now)
            if isinstance(event, Rejected) or (isinstance(event, Judgment) and not takes_judgments):
                books.rejected[event.reason if isinstance(event, Rejected) else Reason.WRONG_TOPIC] += 1
                continue
            if isinstance(event, Impression):
                self._impression(event, progress, books, watermark)
            elif isinstance(event, Judgment):
                if event.ts < watermark and decided < watermark:
                    # It comes after its time: what has passed is decided without it.
                    self._advance(progress, watermark, now)
                    decided = watermark
                books.fates["judgment", intake.judge(event, self._table)] += 1
                part.saw_judgment(record.offset)
            else:
                kind, fate = intake.interact(event, progress.task, watermark)
                if fate:
                    books.fates[kind, fate] += 1
            if event.ts > newest:
                newest = event.ts
                reached = max(reached, newest)
                watermark = max(watermark, min(reached, others) - lateness)
        part.clock.saw(newest)
        part.position = chunk.records[-1].offset + 1
        if newest > -math.inf:
            part.chunks.append((first.offset, newest))
        # Now, not at the end of the poll: the next chunk may bring judgments, or more of this partition.
        self._advance(progress, progress.watermark.advance(), now)
        self._cover(part, first.timestamp / 1000 if first.timestamp > 0 else now)
        self.books.judgments_evicted += self._table.evict()
        self._keep_bounds(now)

    def _impression(self, event: Impression, progress: TaskProgress, books: Books, watermark: float) -> None:
        first = progress.task.held(hash(event.impression_id))
        if first is not None and first.ts + self.plan.last_delay >= watermark:
            books.fates["impression", "duplicate"] += 1
            return
        if event.ts < watermark:
            books.fates["impression", "late"] += 1
            return
        held, repeated = intake.hold(
            event, self.labels.number(event.labels), keep_embeddings=self.plan.keeps_embeddings
        )
        books.duplicate_keys += repeated
        progress.task.hold(held)

    def _cover(self, part: PartitionProgress, first_record: float) -> None:
        """Windows are complete from where the reading began: the first record, or when it was assigned."""
        if part.covered_from is not None:
            begun = min(part.covered_from, first_record)
            self._windows.covered_from = max(self._windows.covered_from, begun)
            part.covered_from = None

    # Deciding.

    def _advance(self, progress: TaskProgress, watermark: float, now: float) -> None:
        """Decide what has passed when a task comes to a watermark.

        Where any partition may bring judgments all tasks wait for the lowest, and it may have been this one.
        """
        if self._judgments_anywhere:
            others = (p.watermark.value for p in self._tasks.values() if p is not progress)
            passed = min([watermark, *others])
            for each in self._tasks.values():
                self._pass(each, passed, now)
        else:
            self._pass(progress, watermark, now)

    def _pass(self, progress: TaskProgress, watermark: float, now: float) -> None:
        progress.decided_until = max(progress.decided_until, watermark)
        for number, held in progress.task.due(watermark):
            self._decide(progress, number, held, "settled", now)
        self._end_interactions(progress, progress.task.expire(watermark), "unmatched")

    def _decide(self, progress: TaskProgress, number: int, held: list[Held], fate: str, now: float) -> None:
        """Observe impressions at one stage; what was counted before a restart goes to the windows only."""
        stage = self.plan.stages[number]
        uncounted = bisect_left(held, progress.counted_until, key=lambda h: h.ts + stage.delay)
        for part, counted in ((held[:uncounted], False), (held[uncounted:], True)):
            for i in range(0, len(part), MAX_BATCH):
                self._observe(progress, number, part[i : i + MAX_BATCH], fate, now, counted=counted)

    def _observe(
        self, progress: TaskProgress, number: int, held: list[Held], fate: str, now: float, *, counted: bool
    ) -> None:
        stage = self.plan.stages[number]
        scored = score(stage, held, self._table)
        if log.isEnabledFor(logging.DEBUG):
            _explain(stage, scored)
        progress.task.pending -= scored.fates.total()
        self._observations.add(progress.number, number, scored, now, counted=counted)
        books = self.books if counted else self._uncounted
        books.fates.update(scored.fates)
        if scored.judged is not None and stage.maturity is not None:
            judged = int(np.count_nonzero(scored.judged))
            books.judged[stage.maturity, "judged"] += judged
            books.judged[stage.maturity, "unjudged"] += len(held) - judged
        if number == len(self.plan.stages) - 1:
            books.fates["impression", fate] += len(held)

    def _end_interactions(self, progress: TaskProgress, ended: Iterable[Interaction], fate: str) -> None:
        for kind, _, _, ts in ended:
            counted = ts + self.plan.attribution >= progress.counted_until
            books = self.books if counted else self._uncounted
            books.fates[KINDS[kind], fate] += 1

    # Bounds.

    def _keep_bounds(self, now: float) -> None:
        """Over a bound the oldest are decided early, as if time had passed, and counted as evicted."""
        limits = self._config.limits
        if (over := self.pending_interactions - limits.pending) > 0:
            self._bound_pending(over, now)
        if (over := self.open_impressions - limits.open) > 0:
            ages = sorted((ts, number) for number, p in self._tasks.items() for ts in p.task.oldest(over))
            for number, count in Counter(number for _, number in ages[:over]).items():
                self._evict(self._tasks[number], self._tasks[number].task.evict(count), now)

    def _bound_pending(self, over: int, now: float) -> None:
        """First those that wait for an impression; then the oldest impressions that hold interactions."""
        for progress in sorted(self._tasks.values(), key=lambda p: -p.task.pending):
            evicted = progress.task.evict_waiting(over)
            self._end_interactions(progress, evicted, "evicted")
            over -= len(evicted)
        for progress in sorted(self._tasks.values(), key=lambda p: -p.task.pending):
            before = progress.task.pending
            if over > 0:
                self._evict(progress, progress.task.evict_holding(over), now)
            over -= before - progress.task.pending

    def _evict(self, progress: TaskProgress, stages: list[tuple[int, list[Held]]], now: float) -> None:
        for number, held in stages:
            self._decide(progress, number, held, "evicted", now)

    # Small things.

    def _needed_until(self, ts: float) -> float:
        """When a record of this event time is needed no more: held nowhere, and in no open window."""
        ends = [math.floor(ts / size) * size + size for size in self._config.windows]
        return max([ts, *ends]) + self.plan.last_delay

    def _new_books(self) -> Books:
        return Books(self._roles, [stage.maturity for stage in self.plan.stages if stage.maturity])


def _event(record: Record, now: float) -> Event | Rejected:
    arrived = record.timestamp / 1000 if record.timestamp > 0 else now
    if record.value is None:
        return decode_tombstone(record.key, arrived)
    return decode(record.value, arrived)


def _explain(stage: Stage, scored: Scored) -> None:
    """Follow the scoring at DEBUG: hashes and numbers only, no id, query or key."""
    for row, held in enumerate(scored.held):
        values = " ".join(
            f"{column.measure.name}={value:.4g}"
            for column, value in zip(stage.columns, scored.values[row].tolist(), strict=True)
            if not math.isnan(value)
        )
        ident, results = held.id & (1 << 64) - 1, len(held.ranked)
        log.debug(
            "impression %016x of %.3f decided after %s: %d results; %s",
            *(ident, held.ts, in_words(stage.delay), results, values or "nothing to observe"),
        )

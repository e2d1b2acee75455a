"""The engine: records in, fates and observations out. It knows event time only; the clock is a parameter."""

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter

import numpy as np

from monitor.config import Config
from monitor.events import Judgment, Reason, Rejected
from monitor.stream import intake
from monitor.stream.arriving import Arrival, events_of
from monitor.stream.books import Books
from monitor.stream.bounds import is_over, memory_shares
from monitor.stream.clock_readings import ClockReadings
from monitor.stream.cuts import Cuts, Parts
from monitor.stream.deciding import Decisions
from monitor.stream.judgments import JudgmentTable
from monitor.stream.labels import LabelSets
from monitor.stream.log_clock import timestamps, written_at
from monitor.stream.plan import make_plan
from monitor.stream.progress import Part, PartitionProgress, TaskProgress
from monitor.stream.records import Chunk, Role, Start, TopicPartition
from monitor.stream.snapshot import Snapshot
from monitor.stream.takeover import counted_before
from monitor.stream.tally import Tally
from monitor.stream.watermark import lowest
from monitor.stream.windows import Window, Windows

MAX_PART = 1000
"""Records that are taken in, and forgotten, together."""


class Engine:
    """Joins, judges and scores what the sources bring, for all tasks of this process."""

    def __init__(self, config: Config, roles: Mapping[str, Role]) -> None:
        self.plan = make_plan(config)
        self.labels = LabelSets(config.labels, config.label_values)
        self._config = config
        self._roles = roles
        self._judgments_anywhere = Role.EVENTS in roles.values()
        self._tasks: dict[int, TaskProgress] = {}
        self._table = JudgmentTable(config.judgments.combine, config.limits.judgments)
        self._windows = Windows(config.windows, self.plan.stages, config.windows_kept)
        self._judging = self._new_tally()
        """What belongs to no task: judgments of a topic of their own."""
        self._uncounted = self._new_books()
        """Where that goes which was counted before a restart."""
        self.cuts = Cuts(self._new_tally)
        self._decisions = Decisions(self.plan, config.limits, self._table, self._windows, self._uncounted)
        self._readings = ClockReadings()
        self._now = -math.inf
        """The clock when anything last came."""
        self._is_decided = True
        """Whether nothing came since what is due was decided."""

    # What the source tells.

    def assign(self, starts: Mapping[TopicPartition, Start], now: float) -> None:
        """Take the whole new assignment: keep the tasks that go on, begin the new ones, drop the rest."""
        self._decide_due()
        by_task: dict[int, dict[TopicPartition, Start]] = {}
        for partition, start in starts.items():
            by_task.setdefault(partition[1], {})[partition] = start
        before, self._tasks = self._tasks, {}
        for number, parts in by_task.items():
            known = before.pop(number, None)
            if known and all(start.kept for start in parts.values()):
                self._tasks[number] = known
                continue
            if known:
                self._leave(known)
            self._tasks[number] = self._begin(number, parts, now)
        for progress in before.values():
            self._leave(progress)
        self._windows.resume(min((p.counted.until for p in self._tasks.values()), default=-math.inf))

    def ingest(self, chunk: Chunk, now: float) -> None:
        """Take records in, in the order of their partition; what is due by then is decided by `advance`."""
        self._now, self._is_decided = now, False
        if self._roles[chunk.topic] is Role.JUDGMENTS:
            self._ingest_judgments(chunk, now)
            return
        progress = self._tasks[chunk.partition]
        part = progress.partitions[chunk.topic, chunk.partition]
        part.begins_at(chunk.records[0].offset)
        before = bisect_left(chunk.records, part.counted_from, key=attrgetter("offset"))
        for records, counted in ((chunk.records[:before], False), (chunk.records[before:], True)):
            # In parts: what is needed again after a restart is known no finer than that.
            for i in range(0, len(records), MAX_PART):
                part_of_chunk = chunk._replace(records=records[i : i + MAX_PART])
                self._ingest_events(part_of_chunk, now, counted=counted)
        if chunk.at_end and not part.to_replay:
            part.clock.reach_newest_record()
            progress.watermark.advance()

    def reach(self, positions: Mapping[TopicPartition, int]) -> None:
        """Take note of the next offsets: all records before them were taken in, or are none of ours."""
        for partition, position in positions.items():
            progress = self._tasks.get(partition[1])
            if progress and partition in progress.partitions:
                progress.partitions[partition].reached(position)

    def idle(self, partitions: Mapping[TopicPartition, float]) -> None:
        """These were fetched to their end and brought nothing: they move on with the clock, up to a time."""
        for partition, until in partitions.items():
            progress = self._tasks.get(partition[1])
            if progress and partition in progress.partitions:
                part = progress.partitions[partition]
                part.clock.idle(until)
                progress.watermark.advance()
                self._is_decided = False
                self._cover(part, math.inf)

    def advance(self, now: float) -> None:
        """Decide everything whose deadline has passed."""
        self._now, self._is_decided = now, True
        for progress in self._tasks.values():
            progress.watermark.advance()
        passed = lowest(p.watermark for p in self._tasks.values())
        # A task that is taken over may be behind, by as much as it has to read again.
        self._table.horizon = passed - self.plan.last_delay
        self._decisions.advance(
            [(p, passed if self._judgments_anywhere else p.watermark.value) for p in self._tasks.values()],
            now,
        )
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
        self._decide_due()
        return {
            partition: commit
            for progress in self._tasks.values()
            for partition, commit in progress.commits(progress.checkpoint()).items()
        }

    def freeze(self) -> None:
        """A scrape begins: what was counted until now is to be shown by the one after it."""
        self.cuts.freeze(self._take(), len(self.labels))

    def publish(self) -> None:
        """Show at once what was counted until now, where nobody waits for scrapes."""
        self.cuts.publish(self._take())

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

    @property
    def to_replay(self) -> int:
        """Records that are read again without being counted, before all is as it was before a restart."""
        return sum(p.to_replay for p in self._tasks.values())

    @property
    def records(self) -> int:
        return sum(tally.books.records.total() for tally in self._tallies())

    @property
    def rejected(self) -> int:
        return sum(tally.books.rejected.total() for tally in self._tallies())

    def windows(self) -> Sequence[Window]:
        return self._windows.closed()

    def snapshot(self) -> Snapshot:
        """All that was counted until now."""
        return self._snapshot(self.total(self._tallies()), len(self.labels))

    def cut(self, total: Tally) -> Snapshot:
        """What a scrape shows, given the total of that; and at 0 what waits."""
        return self._snapshot(total, self.cuts.label_sets)

    def total(self, tallies: Iterable[Tally]) -> Tally:
        """Tallies added up to a new one."""
        total = self._new_tally()
        for tally in tallies:
            total.merge(tally)
        return total

    def moment(self) -> Snapshot:
        """What is so now, without anything that was counted."""
        return self._snapshot(self._new_tally(), len(self.labels))

    def _snapshot(self, total: Tally, label_sets: int) -> Snapshot:
        total.grow(label_sets)
        books = total.books
        return Snapshot(
            label_names=self.labels.names,
            label_sets=self.labels.values[: len(total.shown)],
            columns=self.plan.columns,
            cells=total.cells,
            positions_shown=total.shown,
            positions_clicked=total.clicked,
            windows=self._windows.newest(),
            records=books.records,
            rejected=books.rejected,
            fates=books.fates,
            judged=books.judged,
            label_overflow=books.label_overflow,
            duplicate_keys=books.duplicate_keys,
            judgments_evicted=books.judgments_evicted,
            open_impressions=self.open_impressions,
            pending_interactions=self.pending_interactions,
            judgments=self.judgments,
            to_replay=self.to_replay,
            watermarks=self.watermarks,
            newest={tp: part.clock.newest for p in self._tasks.values() for tp, part in p.partitions.items()},
            delays=total.delays,
            late=books.late,
            leads=self._readings.leads(self._now),
            clock_skews=self._readings.skews(self._now),
        )

    # Taking in.

    def _begin(self, number: int, parts: Mapping[TopicPartition, Start], now: float) -> TaskProgress:
        """Take a task, from where it was counted: by its last owner, or shown by this process itself."""
        lateness = self._config.lateness_seconds
        counted = counted_before(
            number, parts, self.cuts.shown_of.get(number), plan=self.plan, lateness=lateness, now=now
        )
        progress = TaskProgress(number, self.plan, lateness, counted, self._new_tally())
        for partition, start in parts.items():
            progress.add(partition, start, now)
            if start.since is not None:
                self._windows.covered_from = max(self._windows.covered_from, start.since)
        return progress

    def _leave(self, progress: TaskProgress) -> None:
        """Drop a task; should it come back, what scrapes have shown of it is not counted again."""
        if self._config.commit == "interval":
            # Every scrape has shown all of it.
            self.cuts.publish({progress.number: progress.take(self._new_tally())})
        self.cuts.drop(progress.number)
        self._windows.forget(progress.number)

    def _take(self) -> Parts:
        self._decide_due()
        judged, self._judging = self._judging, self._new_tally()
        parts: Parts = {None: Part(judged)}
        for number, progress in self._tasks.items():
            parts[number] = progress.take(self._new_tally())
        return parts

    def _tallies(self) -> Iterator[Tally]:
        yield from self.cuts.tallies()
        yield self._judging
        for progress in self._tasks.values():
            yield progress.tally

    def _ingest_judgments(self, chunk: Chunk, now: float) -> None:
        books = self._judging.books
        books.records[chunk.topic] += len(chunk.records)
        stamps = timestamps(chunk.records)
        written = np.where(np.isinf(stamps), now, stamps)
        for event in events_of(chunk.records, written, self._config.ahead_seconds, now):
            if isinstance(event, Judgment):
                books.fates["judgment", intake.judge(event, self._table)] += 1
            else:
                books.rejected[event.reason if isinstance(event, Rejected) else Reason.WRONG_TOPIC] += 1
        allowed = memory_shares(self._tasks, self._table, self._config.limits)
        books.judgments_evicted += self._table.evict(allowed.judgments)

    def _ingest_events(self, chunk: Chunk, now: float, *, counted: bool) -> None:
        progress = self._tasks[chunk.partition]
        part = progress.partitions[chunk.topic, chunk.partition]
        books = progress.tally.books if counted else self._uncounted
        books.records[chunk.topic] += len(chunk.records)
        arrival = Arrival(
            progress,
            chunk,
            books,
            self.labels,
            self._table if self._roles[chunk.topic] is Role.EVENTS else None,
            self._readings,
            counted=counted,
            keep_embeddings=self.plan.keeps_embeddings,
            ahead_seconds=self._config.ahead_seconds,
            max_impression_bytes=self._config.limits.impression_bytes,
        )
        arrival.take(now, lambda w: self._advance(progress, w, now))
        first = chunk.records[0]
        part.took(first.offset, chunk.records[-1].offset, arrival.newest)
        progress.watermark.advance()
        self._cover(part, written_at(first, now))
        self._keep_bounds(now)

    def _keep_bounds(self, now: float) -> None:
        if self._table.is_full or is_over(self._tasks, self._table, self._config.limits):
            # What has passed goes first: it is no longer there to be decided early.
            self.advance(now)
            allowed = memory_shares(self._tasks, self._table, self._config.limits)
            self._judging.books.judgments_evicted += self._table.evict(allowed.judgments)
            self._decisions.keep_bounds(self._tasks, allowed, now)

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
            self._decisions.advance([(each, passed) for each in self._tasks.values()], now)
        else:
            self._decisions.advance([(progress, watermark)], now)

    def _decide_due(self) -> None:
        """Decide what is due, before anything tells how far was counted.

        What ended when it came is counted up to P, and what ended with time up to S: were S behind, a record
        that is read again in another order could end both ways.
        """
        if not self._is_decided:
            self.advance(self._now)

    # Small things.

    def _needed_until(self, ts: float) -> float:
        """When a record of this event time is needed no more: held nowhere, and in no open window.

        Not its own, and not that of an impression, or of an interaction, that it belongs to.
        """
        reach = ts + self.plan.attribution
        ends = [math.floor(reach / size) * size + size for size in self._config.windows]
        return max([reach, *ends]) + self.plan.last_delay

    def _new_tally(self) -> Tally:
        return Tally(self.plan, self._new_books())

    def _new_books(self) -> Books:
        maturities = [stage.maturity for stage in self.plan.stages if stage.maturity]
        return Books(self._roles, maturities, self.labels.names)

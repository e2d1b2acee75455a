"""Arriving: the records of a partition become held impressions, joined interactions, judgments, or a fate."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from monitor.events import (
    INTERACTIONS,
    Impression,
    Judgment,
    Reason,
    Rejected,
    decode,
    decode_all,
    decode_tombstone,
)
from monitor.metrics import Floats
from monitor.stream import intake, log_clock
from monitor.stream.books import Books
from monitor.stream.clock_readings import ClockReadings
from monitor.stream.judgments import JudgmentTable
from monitor.stream.labels import LabelSets
from monitor.stream.progress import TaskProgress
from monitor.stream.records import Chunk, Record


class Run(NamedTuple):
    """Events that came one after the other."""

    events: list[Any]
    offsets: list[int]
    ts: Floats
    watermarks: Floats
    """How far event time had come before each."""

    def within(self, rows: slice) -> "Run":
        return Run._make(column[rows] for column in self)

    def of(self, kind: type) -> tuple["Run", list[int]]:
        """The events of one type, and where they are."""
        rows = [row for row, event in enumerate(self.events) if type(event) is kind]
        if len(rows) == len(self.events):
            return self, rows
        events, offsets = [self.events[row] for row in rows], [self.offsets[row] for row in rows]
        return Run(events, offsets, self.ts[rows], self.watermarks[rows]), rows


class Arrival:
    """Records of one partition that come together, on their way into its task.

    The watermark moves with every record, so that a fate does not depend on which records come together.
    Records that are `counted` decide by it who is late. Those that were counted before a restart do not: the
    clock has moved on since, so the checkpoint lists what the clock of then decided.
    """

    def __init__(
        self,
        progress: TaskProgress,
        chunk: Chunk,
        books: Books,
        labels: LabelSets,
        table: JudgmentTable | None,
        readings: ClockReadings,
        *,
        counted: bool,
        keep_embeddings: bool,
        ahead_seconds: float,
        max_impression_bytes: int,
    ) -> None:
        """`table` is None where judgments do not belong."""
        partition = (chunk.topic, chunk.partition)
        self._max_impression_bytes = max_impression_bytes
        self._progress = progress
        self._part = progress.partitions[partition]
        self._chunk = chunk
        self._books = books
        self._others = progress.watermark.reached_by_others(partition)
        self._counted = counted
        # Before a restart event time had come this far, perhaps by the clock of an idle partition.
        floor = progress.counted.until if counted else -math.inf
        self._watermark = max(progress.watermark.value, floor)
        self._decided = progress.decided_until
        self._labels = labels
        self._table = table
        self._readings = readings
        self._keep_embeddings = keep_embeddings
        self._ahead_seconds = ahead_seconds
        self.newest = -math.inf
        """The largest `ts` that came."""

    def take(self, now: float, decide: Callable[[float], None]) -> None:
        """Take the records in.

        `decide` is called before a judgment that comes after its time: what has passed is decided without it.
        """
        run = self._decoded(now)
        self.newest = float(run.ts.max(initial=-math.inf))
        while run.events:
            rest = self._first_of(run, decide)
            run = run.within(slice(rest, None))

    def _decoded(self, now: float) -> Run:
        """The events among the records; the rejected are counted."""
        records = self._chunk.records
        offsets = [record.offset for record in records]
        stamps, by_broker = log_clock.timestamps(records), log_clock.are_append_times(records)
        # A producer's timestamp may be as wrong as its `ts`, so the clock counts too. When records are read
        # again it has moved on: it rejects nothing that it let in before, and what it rejected is listed.
        compared_with = np.where(by_broker, stamps, np.minimum(stamps, now))
        found = events_of(records, compared_with, self._ahead_seconds, now)
        if self._keep_embeddings:
            found = [self._bounded(event) for event in found]
        if self._part.were_ahead and not self._counted:
            found = [
                Rejected(Reason.FUTURE_TS) if offset in self._part.were_ahead else event
                for event, offset in zip(found, offsets, strict=True)
            ]
        # Of what is rejected only a `ts` too far ahead is known; the others are NaN.
        ts = np.array([event.ts for event in found], dtype=np.float64)
        fresh_at = None if self._chunk.catching_up else now
        self._readings.saw(self._chunk.topic, ts, np.where(by_broker, stamps, np.nan), fresh_at, now)
        refused = (Rejected,) if self._table is not None else (Rejected, Judgment)
        if not set(map(type, found)).isdisjoint(refused):
            for row, event in enumerate(found):
                if isinstance(event, refused):
                    self._reject(event, offsets[row], stamps[row])
            taken = [row for row, event in enumerate(found) if not isinstance(event, refused)]
            found, offsets = [found[row] for row in taken], [offsets[row] for row in taken]
            ts, stamps, by_broker = ts[taken], stamps[taken], by_broker[taken]
        reached = self._part.clock.advance(
            np.minimum(np.minimum(ts, stamps), now),
            by_median=self._chunk.catching_up & ~by_broker,
            limit=math.inf if self._counted else self._progress.counted.until + self._lateness,
        )
        watermarks = np.maximum(np.minimum(reached, self._others) - self._lateness, self._watermark)
        return Run(found, offsets, ts, watermarks)

    @property
    def _lateness(self) -> float:
        return self._progress.watermark.lateness

    def _bounded(self, event: Any) -> Any:
        """Refuse an impression that is too large, whatever else is held: a replay must refuse it too."""
        # Without embeddings none is: the least memory that can be configured sees to that.
        if type(event) is not Impression or event.embeddings is None:
            return event
        is_too_large = intake.size_bytes(event) > self._max_impression_bytes
        return Rejected(Reason.TOO_LARGE) if is_too_large else event

    def _reject(self, event: Rejected | Judgment, offset: int, stamp: float) -> None:
        """Count a record that is not an event, or not one that belongs here."""
        reason = event.reason if isinstance(event, Rejected) else Reason.WRONG_TOPIC
        self._books.rejected[reason] += 1
        ts = event.ts if isinstance(event, Rejected) else None
        if self._counted and ts is not None and ts <= stamp + self._ahead_seconds:
            # It was the clock that said so: read again later, another clock would let it pass.
            self._part.ahead.append(offset)

    def _first_of(self, run: Run, decide: Callable[[float], None]) -> int:
        """Take in as many as can be taken together, impressions first; how many those are."""
        run = self._until_late_judgment(run, decide)
        kinds = set(map(type, run.events))
        if Impression in kinds:
            impressions, rows = run.of(Impression)
            admitted = self._show(impressions, nothing_before=rows[0] == 0)
            if admitted < len(rows):
                run = run.within(slice(rows[admitted]))
        if not kinds.isdisjoint(INTERACTIONS):
            done, rows = intake.interactions(run.events)
            self._books.fates.update(self._progress.task.interact(done, run.watermarks[rows]))
        if self._table is not None and Judgment in kinds:
            for event, offset in zip(run.events, run.offsets, strict=True):
                if isinstance(event, Judgment):
                    self._books.fates["judgment", intake.judge(event, self._table)] += 1
                    self._part.saw_judgment(offset)
        return len(run.events)

    def _until_late_judgment(self, run: Run, decide: Callable[[float], None]) -> Run:
        """What comes before a judgment that is late; if it is the first, what has passed is decided now."""
        if Judgment not in set(map(type, run.events)):
            return run
        judgments, rows = run.of(Judgment)
        late = (judgments.watermarks > np.maximum(judgments.ts, self._decided)).nonzero()[0].tolist()
        if late and rows[late[0]] == 0:
            self._decided = float(run.watermarks[0])
            decide(self._decided)
            late = [row for row in late if judgments.watermarks[row] > self._decided]
        return run.within(slice(rows[late[0]])) if late else run

    def _show(self, run: Run, *, nothing_before: bool) -> int:
        """Let the task hold impressions; how many of them it has looked at."""
        task, events = self._progress.task, run.events
        if self._counted:
            late = run.ts < run.watermarks
        else:
            late = np.array([offset in self._part.were_late for offset in run.offsets], dtype=bool)
        ids = intake.ids_of(events)
        rows, fates = task.admit(
            ids, run.ts.tolist(), run.watermarks.tolist(), late, nothing_before=nothing_before
        )
        for row, fate in fates.items():
            self._books.fates["impression", fate] += 1
            if fate == "late" and self._counted:
                self._part.late.append(run.offsets[row])
                self._books.late.observe(run.watermarks[row] + self._lateness - run.ts[row])
        if fates or rows < len(events):
            held = [row for row in range(rows) if row not in fates]
            events, ids = [events[row] for row in held], [ids[row] for row in held]
        if events:
            label_sets = self._labels.numbers([event.labels for event in events], self._books.label_overflow)
            shown, repeated = intake.impressions(
                events, ids, label_sets, keep_embeddings=self._keep_embeddings
            )
            self._books.duplicate_keys += repeated
            task.hold(shown)
        return rows


def events_of(
    records: Sequence[Record], compared_with: Floats, ahead_seconds: float, now: float
) -> list[Any]:
    """What records say, or why they are rejected.

    The `ts` of each is compared with a time; `now` is the clock, for a tombstone that does not say when it
    was written.
    """
    values = [record.value for record in records if record.value is not None]
    if len(values) == len(records):
        events = decode_all(values, float(compared_with.min()), ahead_seconds)
        if events is not None:
            return events
    return [
        decode_tombstone(record.key, log_clock.written_at(record, now))
        if record.value is None
        else decode(record.value, time, ahead_seconds)
        for record, time in zip(records, compared_with.tolist(), strict=True)
    ]

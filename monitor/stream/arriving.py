"""Arriving: the records of a partition become held impressions, joined interactions, judgments, or a fate."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from monitor.events import (
    INTERACTIONS,
    Event,
    Impression,
    Judgment,
    Reason,
    Rejected,
    decode,
    decode_all,
    decode_tombstone,
)
from monitor.metrics import Floats
from monitor.stream import intake
from monitor.stream.books import Books
from monitor.stream.judgments import JudgmentTable
from monitor.stream.labels import LabelSets
from monitor.stream.progress import TaskProgress
from monitor.stream.records import Record, TopicPartition


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
    """

    def __init__(
        self,
        progress: TaskProgress,
        partition: TopicPartition,
        books: Books,
        floor: float,
        labels: LabelSets,
        table: JudgmentTable | None,
        *,
        keep_embeddings: bool,
    ) -> None:
        """`table` is None where judgments do not belong."""
        self._progress = progress
        self._part = progress.partitions[partition]
        self._books = books
        self._others = progress.watermark.reached_by_others(partition)
        self._watermark = max(progress.watermark.value, floor)
        self._decided = progress.decided_until
        self._labels = labels
        self._table = table
        self._keep_embeddings = keep_embeddings
        self.newest = -math.inf
        """The largest `ts` that came."""

    def take(self, records: Sequence[Record], now: float, decide: Callable[[float], None]) -> None:
        """Take records in.

        `decide` is called before a judgment that comes after its time: what has passed is decided without it.
        """
        run = self._decoded(records, now)
        self.newest = float(run.ts.max(initial=-math.inf))
        while run.events:
            rest = self._first_of(run, decide)
            run = run.within(slice(rest, None))

    def _decoded(self, records: Sequence[Record], now: float) -> Run:
        """The events among records; the rejected are counted."""
        found = events_of(records, now)
        offsets = [record.offset for record in records]
        refused = (Rejected,) if self._table is not None else (Rejected, Judgment)
        if not set(map(type, found)).isdisjoint(refused):
            for event in found:
                if isinstance(event, refused):
                    reason = event.reason if isinstance(event, Rejected) else Reason.WRONG_TOPIC
                    self._books.rejected[reason] += 1
            taken = [row for row, event in enumerate(found) if not isinstance(event, refused)]
            found, offsets = [found[row] for row in taken], [offsets[row] for row in taken]
        ts = np.array([event.ts for event in found], dtype=np.float64)
        reached = np.minimum(np.maximum.accumulate(ts), self._others) - self._progress.watermark.lateness
        watermarks = np.maximum(np.concatenate(([-math.inf], reached))[:-1], self._watermark)
        return Run(found, offsets, ts, watermarks)

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
        task, events, late = self._progress.task, run.events, run.ts < run.watermarks
        if self._part.were_late:
            late |= np.array([offset in self._part.were_late for offset in run.offsets])
        ids = intake.ids_of(events)
        rows, fates = task.admit(
            ids, run.ts.tolist(), run.watermarks.tolist(), late, nothing_before=nothing_before
        )
        for row, fate in fates.items():
            self._books.fates["impression", fate] += 1
            if fate == "late":
                self._part.late.append(run.offsets[row])
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


def events_of(records: Sequence[Record], now: float) -> list[Any]:
    """What records say, or why they are rejected; `now` is the clock, where one does not tell its time."""
    values = [record.value for record in records if record.value is not None]
    stamps = [record.timestamp or 0 for record in records]
    if len(values) == len(records):
        lowest = min(stamps)
        earliest = lowest / 1000 if lowest > 0 else min(arrived_at(record, now) for record in records)
        if (events := decode_all(values, earliest)) is not None:
            return events
    return [_event_of(record, arrived_at(record, now)) for record in records]


def _event_of(record: Record, arrived: float) -> Event | Rejected:
    value = record.value
    return decode_tombstone(record.key, arrived) if value is None else decode(value, arrived)


def arrived_at(record: Record, now: float) -> float:
    """When a record reached Kafka, or the clock where it does not tell."""
    stamp = record.timestamp
    return stamp / 1000 if stamp is not None and stamp > 0 else now

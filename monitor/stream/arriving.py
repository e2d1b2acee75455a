"""Arriving: the records of a partition become held impressions, joined interactions, judgments, or a fate."""

import math
from collections.abc import Callable, Sequence

from monitor.events import (
    INTERACTIONS,
    Event,
    Impression,
    Judgment,
    Reason,
    Rejected,
    decode,
    decode_tombstone,
)
from monitor.stream import intake
from monitor.stream.books import Books
from monitor.stream.intake import Shown
from monitor.stream.judgments import JudgmentTable
from monitor.stream.labels import LabelSets
from monitor.stream.progress import TaskProgress
from monitor.stream.records import Record, TopicPartition


class Arrival:
    """Records of one partition that come together, on their way into its task.

    The watermark moves with every record, so that a fate does not depend on which records come together.
    """

    def __init__(
        self, progress: TaskProgress, partition: TopicPartition, books: Books, floor: float, shown: Shown
    ) -> None:
        self._progress = progress
        self._part = progress.partitions[partition]
        self._books = books
        self._others = progress.watermark.reached_by_others(partition)
        self._watermark = max(progress.watermark.value, floor)
        self._shown = shown
        self.newest = -math.inf
        """The largest `ts` that came."""

    def take(
        self,
        records: Sequence[Record],
        now: float,
        labels: LabelSets,
        table: JudgmentTable | None,
        decide: Callable[[float], None],
    ) -> None:
        """Take records in. `table` is None where judgments do not belong.

        `decide` is called before a judgment that comes after its time: what has passed is decided without it.
        """
        progress, books, task, shown = self._progress, self._books, self._progress.task, self._shown
        were_late, others, lateness = self._part.were_late, self._others, progress.watermark.lateness
        watermark, newest, decided = self._watermark, self.newest, progress.decided_until
        for record in records:
            event = event_of(record, now)
            if isinstance(event, Impression):
                impression = hash(event.impression_id)
                late = event.ts < watermark or record.offset in were_late
                if fate := task.admit(impression, event.ts, watermark, late=late):
                    self._turn_away(fate, record.offset)
                else:
                    shown.add(event, impression, labels.number(event.labels, books.label_overflow))
            elif isinstance(event, INTERACTIONS):
                if fate := intake.interact(event, task, watermark):
                    books.fates[intake.kind_of(event), fate] += 1
            elif isinstance(event, Judgment) and table is not None:
                if event.ts < watermark and decided < watermark:
                    self._hold()
                    decide(watermark)
                    decided = watermark
                books.fates["judgment", intake.judge(event, table)] += 1
                self._part.saw_judgment(record.offset)
            else:
                books.rejected[event.reason if isinstance(event, Rejected) else Reason.WRONG_TOPIC] += 1
                continue
            if event.ts > newest:
                newest = event.ts
                watermark = max(watermark, min(newest, others) - lateness)
        self.newest = newest
        self._hold()

    def _turn_away(self, fate: str, offset: int) -> None:
        self._books.fates["impression", fate] += 1
        if fate == "late":
            self._part.late.append(offset)

    def _hold(self) -> None:
        """Hand the impressions over that came until now."""
        if self._shown:
            impressions, repeated = self._shown.take()
            self._books.duplicate_keys += repeated
            self._progress.task.hold(impressions)


def event_of(record: Record, now: float) -> Event | Rejected:
    """What a record says; `now` is the clock, where the record does not tell when it reached Kafka."""
    value, arrived = record.value, arrived_at(record, now)
    return decode_tombstone(record.key, arrived) if value is None else decode(value, arrived)


def arrived_at(record: Record, now: float) -> float:
    """When a record reached Kafka, or the clock where it does not tell."""
    stamp = record.timestamp
    return stamp / 1000 if stamp is not None and stamp > 0 else now

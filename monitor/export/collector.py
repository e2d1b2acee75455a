"""The collector: a snapshot as families with their lines and numbers, built in bulk."""

import math
import platform
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate, chain
from typing import Any

import numpy as np

from monitor.export import catalogue
from monitor.export.beginnings import Beginnings, Labels
from monitor.export.catalogue import Family, ScoreFamilies
from monitor.export.gauges import window_gauges
from monitor.export.text import Counted, Filled
from monitor.metrics import Floats, Ints
from monitor.stream.cells import more_rows
from monitor.stream.records import TopicPartition
from monitor.stream.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class ProcessStatus:
    """What is exported beside the engine's numbers."""

    version: str
    config_hash: str
    ready: bool = False
    lag: Mapping[TopicPartition, int] = field(default_factory=dict)
    """Records from the processed position to the end of the partition."""
    skipped: Mapping[TopicPartition, int] = field(default_factory=dict)
    """Records that the source could not hand out."""
    stalls: int = 0
    stall_seconds: float = 0.0
    log_dropped: int = 0
    committed_at: float = -math.inf
    """When counts were last committed; when the process began, before it has."""


class SnapshotCollector:
    """Yields every family of the catalogue, filled from one snapshot."""

    def __init__(self, snapshot: Snapshot, beginnings: Beginnings) -> None:
        self._snapshot = snapshot
        self._beginnings = beginnings

    def counted(self) -> Iterator[Filled]:
        """What is published by cuts."""
        return (family.filled() for family in self.counted_values())

    def counted_values(self) -> Iterator[Counted]:
        """The same as numbers: every counter and histogram of the engine."""
        snapshot = self._snapshot
        for group in catalogue.score_families(snapshot.columns, snapshot.label_names):
            yield from self._scores(group)
        shown, clicks = catalogue.position_families(snapshot.label_names)
        yield self._positions(shown, snapshot.positions_shown)
        yield self._positions(clicks, snapshot.positions_clicked)
        yield from self._books()

    def momentary(self, status: ProcessStatus) -> Iterator[Filled]:
        """What is so at the moment, and what the process knows of itself."""
        snapshot = self._snapshot
        yield from window_gauges(snapshot.windows, snapshot.label_sets, self._beginnings)
        yield from self._own(status)

    def _scores(self, group: ScoreFamilies) -> Iterator[Counted]:
        cells, label_sets = self._snapshot.cells, self._snapshot.label_sets
        series: dict[Labels, list[int]] = {}
        for i in group.columns:
            series.setdefault(self._snapshot.columns[i].labels, []).append(i)
        members = list(chain.from_iterable(series.values()))
        firsts = [0, *accumulate(map(len, series.values()))][:-1]

        def added_up(values: Any) -> Any:
            """By label set and series: the columns of a series are one."""
            return np.add.reduceat(more_rows(values[:, members], len(label_sets)), firsts, axis=1)

        buckets = added_up(cells.buckets[:, :, : len(group.scores.buckets) + 1])
        scores = _histograms(buckets, added_up(cells.sums))
        yield Counted(group.scores, self._lines(group.scores, series), scores)
        if group.squares:
            lines = self._lines(group.squares, series)
            yield Counted(group.squares, lines, added_up(cells.squares).T)

    def _lines(self, family: Family, series: Iterable[Labels]) -> list[str]:
        label_sets = self._snapshot.label_sets
        return list(chain.from_iterable(self._beginnings.of(family, own, label_sets) for own in series))

    def _positions(self, family: Family, counted: Ints) -> Counted:
        label_sets, positions = self._snapshot.label_sets, counted.shape[1]
        lines = [""] * (len(label_sets) * positions)
        for i in range(positions):
            lines[i::positions] = self._beginnings.of(family, (("position", str(i + 1)),), label_sets)
        return Counted(family, lines, more_rows(counted, len(label_sets)).astype(np.float64))

    def _books(self) -> Iterator[Counted]:
        """What became of the records."""
        books = self._snapshot
        yield self._counts(catalogue.RECORDS, {(topic,): n for topic, n in books.records.items()})
        yield self._counts(catalogue.REJECTED, {(reason.value,): n for reason, n in books.rejected.items()})
        yield self._counts(catalogue.EVENTS, books.fates)
        yield self._counts(catalogue.JUDGED, books.judged)
        yield self._counts(catalogue.EVICTED_JUDGMENTS, {(): books.judgments_evicted})
        yield self._counts(catalogue.DUPLICATE_KEYS, {(): books.duplicate_keys})
        yield self._counts(catalogue.LABEL_OVERFLOW, {(name,): n for name, n in books.label_overflow.items()})
        yield self._delays()
        late = books.late
        values = _histograms(late.buckets[None, None], np.array([[late.sum]]))
        yield Counted(catalogue.LATE, list(self._beginnings.one(catalogue.LATE, ())), values)

    def _delays(self) -> Counted:
        family, delays = catalogue.DECISION_DELAY, self._snapshot.delays
        series = [self._beginnings.one(family, (("delay", delay),)) for delay in delays.buckets]
        buckets, sums = np.array([*delays.buckets.values()]), np.array([*delays.sums.values()])
        values = _histograms(buckets[:, None], sums[:, None])
        return Counted(family, list(chain.from_iterable(series)), values)

    def _own(self, status: ProcessStatus) -> Iterator[Filled]:
        """What the monitor says of itself."""
        snapshot, filled = self._snapshot, self._labelled
        yield filled(catalogue.OPEN, {(): snapshot.open_impressions})
        yield filled(catalogue.PENDING, {(): snapshot.pending_interactions})
        yield filled(catalogue.JUDGMENTS, {(): snapshot.judgments})
        yield filled(catalogue.REPLAY, {(): snapshot.to_replay})
        yield filled(catalogue.LAG, {(topic, str(p)): n for (topic, p), n in status.lag.items()})
        yield filled(catalogue.SKIPPED, {(topic, str(p)): n for (topic, p), n in status.skipped.items()})
        yield filled(catalogue.WATERMARK, {(str(task),): at for task, at in snapshot.watermarks.items()})
        yield filled(catalogue.NEWEST, {(topic, str(p)): at for (topic, p), at in snapshot.newest.items()})
        yield filled(catalogue.LEAD, {(topic,): lead for topic, lead in snapshot.leads.items()})
        yield filled(catalogue.CLOCK_SKEW, {(topic,): skew for topic, skew in snapshot.clock_skews.items()})
        yield filled(catalogue.COMMITTED, {(): status.committed_at})
        yield filled(catalogue.STALLS, {(): status.stalls})
        yield filled(catalogue.STALL_SECONDS, {(): status.stall_seconds})
        yield filled(catalogue.LOG_DROPPED, {(): status.log_dropped})
        yield filled(catalogue.READY, {(): int(status.ready)})
        yield filled(catalogue.BUILD_INFO, {(status.version, platform.python_version()): 1})
        yield filled(catalogue.CONFIG_INFO, {(status.config_hash,): 1})

    def _labelled(self, family: Family, values: Mapping[Any, float]) -> Filled:
        """A counter or gauge from its values by tuples of label values, without those that are not finite."""
        finite = {labels: value for labels, value in values.items() if math.isfinite(value)}
        return self._counts(family, finite).filled()

    def _counts(self, family: Family, values: Mapping[Any, float]) -> Counted:
        """A family from its values by tuples of label values."""
        labels = [tuple(zip(family.labels, each, strict=True)) for each in values]
        lines = chain.from_iterable(self._beginnings.one(family, each) for each in labels)
        return Counted(family, list(lines), np.array([*values.values()], dtype=np.float64))


def _histograms(buckets: Ints, sums: Floats) -> Floats:
    """The numbers of series: buckets cumulated, the count and the sum, by series and label set.

    Both are given by label set and series; buckets are not cumulated, and the last is that of +Inf.
    """
    cumulated = buckets.cumsum(axis=2)
    found = np.concatenate((cumulated, cumulated[:, :, -1:], sums[:, :, None]), axis=2)
    return found.swapaxes(0, 1)

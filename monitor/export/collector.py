"""The collector: a snapshot as families and samples, built in bulk, for prometheus_client to render."""

import math
import platform
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from prometheus_client import Metric
from prometheus_client.samples import Sample

from monitor.export import catalogue
from monitor.export.catalogue import Family, Kind, ScoreFamilies
from monitor.export.gauges import window_metrics
from monitor.export.series import le
from monitor.stream.records import TopicPartition
from monitor.stream.snapshot import Snapshot

Labels = dict[str, str]
Number = TypeVar("Number", np.int64, np.float64)


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
    committed_at: float = -math.inf
    """When counts were last committed; when the process began, before it has."""


class SnapshotCollector:
    """Yields every family of the catalogue, filled from one snapshot."""

    def __init__(self, snapshot: Snapshot, status: ProcessStatus) -> None:
        self._snapshot = snapshot
        self._status = status
        self._label_sets = [
            dict(zip(snapshot.label_names, values, strict=True)) for values in snapshot.label_sets
        ]

    def collect(self) -> Iterator[Metric]:
        yield from self.counted()
        yield from self.momentary()

    def counted(self) -> Iterator[Metric]:
        """What is published by cuts."""
        snapshot = self._snapshot
        for group in catalogue.score_families(snapshot.columns, snapshot.label_names):
            yield from self._scores(group)
        shown, clicks = catalogue.position_families(snapshot.label_names)
        yield self._positions(shown, snapshot.positions_shown)
        yield self._positions(clicks, snapshot.positions_clicked)
        yield from _books(snapshot)

    def momentary(self) -> Iterator[Metric]:
        """What is so at the moment, and what the process knows of itself."""
        snapshot = self._snapshot
        yield from window_metrics(snapshot.windows, snapshot.label_names, snapshot.label_sets)
        yield from _own(snapshot, self._status)

    def _scores(self, group: ScoreFamilies) -> Iterator[Metric]:
        cells, rows = self._snapshot.cells, len(self._label_sets)
        histogram = _Histograms(group.scores)
        squares: list[Sample] = []
        series: dict[tuple[tuple[str, str], ...], list[int]] = {}
        for i in group.columns:
            series.setdefault(self._snapshot.columns[i].labels, []).append(i)
        for labels, members in series.items():
            buckets = _rows(cells.buckets[:, members].sum(axis=1), rows)
            label_sets = [{**dict(labels), **values} for values in self._label_sets]
            histogram.add(label_sets, buckets, _rows(cells.sums[:, members].sum(axis=1), rows).tolist())
            if group.squares:
                totals = _rows(cells.squares[:, members].sum(axis=1), rows).tolist()
                squares += map(Sample, [group.squares.name] * rows, label_sets, totals)
        yield histogram.metric
        if group.squares:
            yield _metric(group.squares, squares)

    def _positions(self, family: Family, counted: NDArray[np.int64]) -> Metric:
        samples = [
            Sample(family.name, {"position": str(position), **labels}, count)
            for labels, counts in zip(
                self._label_sets, _rows(counted, len(self._label_sets)).tolist(), strict=True
            )
            for position, count in enumerate(counts, start=1)
        ]
        return _metric(family, samples)


def _books(snapshot: Snapshot) -> Iterator[Metric]:
    """What became of the records."""
    yield _labelled(catalogue.RECORDS, {(topic,): n for topic, n in snapshot.records.items()})
    yield _labelled(catalogue.REJECTED, {(reason.value,): n for reason, n in snapshot.rejected.items()})
    yield _labelled(catalogue.EVENTS, snapshot.fates)
    yield _labelled(catalogue.JUDGED, snapshot.judged)
    yield _labelled(catalogue.EVICTED_JUDGMENTS, {(): snapshot.judgments_evicted})
    yield _labelled(catalogue.DUPLICATE_KEYS, {(): snapshot.duplicate_keys})
    yield _labelled(catalogue.LABEL_OVERFLOW, {(name,): n for name, n in snapshot.label_overflow.items()})
    delays = _Histograms(catalogue.DECISION_DELAY)
    for delay, buckets in snapshot.delays.buckets.items():
        delays.add([{"delay": delay}], buckets[None, :], [snapshot.delays.sums[delay]])
    yield delays.metric


def _own(snapshot: Snapshot, status: ProcessStatus) -> Iterator[Metric]:
    """What the monitor says of itself."""
    yield _labelled(catalogue.OPEN, {(): snapshot.open_impressions})
    yield _labelled(catalogue.PENDING, {(): snapshot.pending_interactions})
    yield _labelled(catalogue.JUDGMENTS, {(): snapshot.judgments})
    yield _labelled(catalogue.REPLAY, {(): snapshot.to_replay})
    yield _labelled(catalogue.LAG, {(topic, str(p)): n for (topic, p), n in status.lag.items()})
    yield _labelled(catalogue.SKIPPED, {(topic, str(p)): n for (topic, p), n in status.skipped.items()})
    yield _labelled(catalogue.WATERMARK, {(str(task),): at for task, at in snapshot.watermarks.items()})
    yield _labelled(catalogue.NEWEST, {(topic, str(p)): at for (topic, p), at in snapshot.newest.items()})
    yield _labelled(catalogue.COMMITTED, {(): status.committed_at})
    yield _labelled(catalogue.STALLS, {(): status.stalls})
    yield _labelled(catalogue.STALL_SECONDS, {(): status.stall_seconds})
    yield _labelled(catalogue.READY, {(): int(status.ready)})
    yield _labelled(catalogue.BUILD_INFO, {(status.version, platform.python_version()): 1})
    yield _labelled(catalogue.CONFIG_INFO, {(status.config_hash,): 1})


class _Histograms:
    """The series of one histogram family, made from whole arrays at a time."""

    def __init__(self, family: Family) -> None:
        self.metric = _metric(family, [])
        self._bounds = [le(bound) for bound in (*family.buckets, math.inf)]
        self._bucket, self._count, self._sum = (f"{family.name}_{s}" for s in ("bucket", "count", "sum"))

    def add(self, label_sets: Sequence[Labels], buckets: NDArray[np.int64], sums: Sequence[float]) -> None:
        """Add a series for each label set: its row of buckets, not cumulated, and its sum."""
        samples, bounds, name = self.metric.samples, self._bounds, self._bucket
        cumulated = buckets.cumsum(axis=1)[:, : len(bounds)].tolist()
        for labels, counts, total in zip(label_sets, cumulated, sums, strict=True):
            samples += [
                Sample(name, {**labels, "le": bound}, count)
                for bound, count in zip(bounds, counts, strict=True)
            ]
            samples.append(Sample(self._count, labels, counts[-1]))
            samples.append(Sample(self._sum, labels, total))


def _metric(family: Family, samples: list[Sample]) -> Metric:
    name = family.name.removesuffix("_total") if family.kind is Kind.COUNTER else family.name
    metric = Metric(name, family.help, family.kind.value)
    metric.samples = samples
    return metric


def _labelled(family: Family, values: Mapping[Any, float]) -> Metric:
    """A counter or gauge from its values by tuples of label values, without those that are not finite."""
    samples = [
        Sample(family.name, dict(zip(family.labels, labels, strict=True)), value)
        for labels, value in values.items()
        if math.isfinite(value)
    ]
    return _metric(family, samples)


def _rows(values: NDArray[Number], rows: int) -> NDArray[Number]:
    """As many rows as there are label sets: what was never observed is 0."""
    missing = rows - len(values)
    return np.pad(values, ((0, missing), *((0, 0),) * (values.ndim - 1))) if missing else values

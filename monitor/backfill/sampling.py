"""Sampling: the values of every counter at each step, gathered into spans of time."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from monitor.backfill.stepping import Step
from monitor.export.beginnings import Beginnings, Labels, series_names
from monitor.export.catalogue import Family
from monitor.export.collector import SnapshotCollector
from monitor.metrics import Floats, Ints

SPAN_SECONDS = 18 * 3600
"""Length of a span, aligned to the epoch: Prometheus compacts to blocks of 2, 6, 18 and 54 hours, and 18 are
less than a tenth of its default retention, which is the most that it makes of them itself."""
MAX_SAMPLES = 4_000_000
"""Samples of a span; where there are many series it is shorter."""


class SampledSeries(NamedTuple):
    """One series with its samples."""

    name: str
    labels: Mapping[str, str]
    times: Ints
    """Seconds since the epoch, ascending."""
    values: Floats


@dataclass(frozen=True, slots=True)
class SampledSpan:
    """The samples of all series in a span of time; spans follow each other step by step."""

    times: Ints
    series: Sequence[SampledSeries]


class _Row(NamedTuple):
    """The values of all series at one time."""

    at: int
    label_sets: int
    """How many there were: more of them are more series, and nothing else is."""
    values: Floats


class Sampler:
    """Turns snapshots into samples. A series is born at 0, one step before it has a value."""

    def __init__(
        self, label_names: tuple[str, ...], constant: Mapping[str, str], since: float = -math.inf
    ) -> None:
        """`constant` labels are on every series; what was counted before `since` is taken off."""
        self._names = _SeriesNames(label_names, constant)
        self._since = since
        self._lines: dict[int, list[str]] = {}
        """The series by the number of label sets."""
        self._before: _Row | None = None
        """What was counted when the samples begin."""
        self._rows: list[_Row] = []

    def take(self, step: Step) -> Iterator[SampledSpan]:
        """Take a step; the span before it, if that is complete."""
        if step.at < self._since:
            return
        row = self._row(step)
        self._before = self._before or row
        if self._rows and self._is_over(row):
            yield self._span(row.label_sets)
            self._rows = []
        self._rows.append(row)

    def finish(self) -> Iterator[SampledSpan]:
        """The last span."""
        if self._rows:
            yield self._span(self._rows[-1].label_sets)
            self._rows = []

    def _row(self, step: Step) -> _Row:
        families = list(SnapshotCollector(step.snapshot, self._names).counted_values())
        label_sets = len(step.snapshot.label_sets)
        if label_sets not in self._lines:
            self._lines[label_sets] = [line for family in families for line in family.lines]
        return _Row(step.at, label_sets, np.concatenate([family.values.ravel() for family in families]))

    def _is_over(self, row: _Row) -> bool:
        size = len(self._rows) * len(row.values)
        return row.at // SPAN_SECONDS != self._rows[0].at // SPAN_SECONDS or size >= MAX_SAMPLES

    def _span(self, label_sets: int) -> SampledSpan:
        """All rows, with the series that the row after them has: some may be born with the last one here."""
        lines = self._lines[label_sets]
        numbers = {line: number for number, line in enumerate(lines)}
        places = {
            n: np.array([numbers[line] for line in self._lines[n]], dtype=np.int64) for n in self._lines
        }
        values = np.full((len(lines), len(self._rows)), np.nan)
        for i, row in enumerate(self._rows):
            values[places[row.label_sets], i] = row.values
        if self._before is not None:
            values[places[self._before.label_sets]] -= self._before.values[:, None]
        has_value = ~np.isnan(values)
        first = np.where(has_value.any(axis=1), has_value.argmax(axis=1), len(self._rows))
        born = np.flatnonzero(first > 0)
        first[born] -= 1
        values[born, first[born]] = 0.0
        times = np.array([row.at for row in self._rows], dtype=np.int64)
        return SampledSpan(
            times,
            [
                SampledSeries(*self._names.series[line], times[begin:], values[number, begin:])
                for number, (line, begin) in enumerate(zip(lines, first.tolist(), strict=True))
            ],
        )


class _SeriesNames(Beginnings):
    """Lines of series with the labels that a scrape would have added, and the series of each line."""

    def __init__(self, label_names: tuple[str, ...], constant: Mapping[str, str]) -> None:
        super().__init__(label_names)
        self._constant = constant
        self.series: dict[str, tuple[str, Mapping[str, str]]] = {}

    def _write(self, family: Family, pairs: Labels) -> list[str]:
        found = {
            self.line(name, labels): (name, labels)
            for name, labels in series_names(family, {**self._constant, **dict(pairs)})
        }
        self.series |= found
        return list(found)

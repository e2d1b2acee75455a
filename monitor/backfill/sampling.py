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

SeriesName = tuple[str, Mapping[str, str]]
"""Name and labels."""


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


class SampleRow(NamedTuple):
    """The values of all series at one time."""

    at: int
    series: Mapping[str, SeriesName]
    """The series in the order of the values, each by its line; the same object while they are the same."""
    values: Floats


class RowMaker:
    """Turns snapshots of one engine into rows."""

    def __init__(self, label_names: tuple[str, ...], constant: Mapping[str, str]) -> None:
        """`constant` labels are on every series."""
        self._names = _SeriesNames(label_names, constant)
        self._series: dict[int, Mapping[str, SeriesName]] = {}
        """By the number of label sets: more of them are more series, and nothing else is."""

    def row(self, step: Step) -> SampleRow:
        families = list(SnapshotCollector(step.snapshot, self._names).counted_values())
        label_sets = len(step.snapshot.label_sets)
        if label_sets not in self._series:
            lines = [line for family in families for line in family.lines]
            self._series[label_sets] = {line: self._names.series[line] for line in lines}
        values = np.concatenate([family.values.ravel() for family in families])
        return SampleRow(step.at, self._series[label_sets], values)


class Sampler:
    """Puts rows together to spans. A series is born at 0, one step before it has a value.

    Rows may come from several engines, one after the other: each goes on where the one before it ended.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        """The series by their lines, in the order in which they came up."""
        self._series: list[SeriesName] = []
        self._current: Floats = np.empty(0)
        """The newest value of each series."""
        self._added: Floats = np.empty(0)
        """What is to be added to the values of the engine at hand."""
        self._order: tuple[Mapping[str, SeriesName], Ints] = ({}, np.empty(0, dtype=np.int64))
        """The series of the last row, and their numbers."""
        self._rows: list[tuple[int, Floats]] = []
        self._last = -math.inf

    def begin(self, row: SampleRow) -> None:
        """The rows of another engine follow; what it had counted by this one is taken off."""
        numbers = self._known(row)
        # A series that the row does not have begins at 0 in the other engine.
        self._added = self._current.copy()
        self._added[numbers] -= row.values

    def take(self, row: SampleRow) -> Iterator[SampledSpan]:
        """Take a row, unless its time is past; the span before it, if that is complete."""
        if row.at <= self._last:
            return
        numbers = self._known(row)
        self._current[numbers] = row.values + self._added[numbers]
        if self._rows and self._is_over(row.at):
            yield self._span()
        self._rows.append((row.at, self._current.copy()))
        self._last = row.at

    def finish(self) -> Iterator[SampledSpan]:
        """The last span."""
        if self._rows:
            yield self._span()

    def total(self, name: str, **labels: str) -> float:
        """The newest values of series that have these labels, added up."""
        chosen = [n == name and has.items() >= labels.items() for n, has in self._series]
        return float(self._current[chosen].sum())

    def _known(self, row: SampleRow) -> Ints:
        """The numbers of the series of a row; new ones get theirs."""
        if row.series is not self._order[0]:
            for line, series in row.series.items():
                if line not in self._numbers:
                    self._numbers[line] = len(self._series)
                    self._series.append(series)
            new = np.zeros(len(self._series) - len(self._current))
            self._current = np.concatenate((self._current, new))
            self._added = np.concatenate((self._added, new))
            self._order = (row.series, np.array([self._numbers[line] for line in row.series], dtype=np.int64))
        return self._order[1]

    def _is_over(self, at: int) -> bool:
        size = len(self._rows) * len(self._series)
        return at // SPAN_SECONDS != self._rows[0][0] // SPAN_SECONDS or size >= MAX_SAMPLES

    def _span(self) -> SampledSpan:
        """All rows, with every series that is known by now: some may be born with the last of these rows."""
        values = np.full((len(self._series), len(self._rows)), np.nan)
        first = np.full(len(self._series), len(self._rows) - 1)
        known = len(self._series)
        for i, (_, row) in reversed(list(enumerate(self._rows))):
            values[: len(row), i] = row
            # What the row after this one has and this one has not is born here.
            values[len(row) : known, i] = 0.0
            first[:known] = i
            known = len(row)
        times = np.array([at for at, _ in self._rows], dtype=np.int64)
        self._rows = []
        return SampledSpan(
            times,
            [
                SampledSeries(*series, times[begin:], values[number, begin:])
                for number, (series, begin) in enumerate(zip(self._series, first.tolist(), strict=True))
            ],
        )


class _SeriesNames(Beginnings):
    """Lines of series with the labels that a scrape would have added, and the series of each line."""

    def __init__(self, label_names: tuple[str, ...], constant: Mapping[str, str]) -> None:
        super().__init__(label_names)
        self._constant = constant
        self.series: dict[str, SeriesName] = {}

    def _write(self, family: Family, pairs: Labels) -> list[str]:
        found: dict[str, SeriesName] = {
            self.line(name, labels): (name, labels)
            for name, labels in series_names(family, {**self._constant, **dict(pairs)})
        }
        self.series |= found
        return list(found)

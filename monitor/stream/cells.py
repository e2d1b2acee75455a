"""Accumulators: count, sum, sum of squares and buckets for each label set and column, as numpy arrays."""

from collections.abc import Sequence
from typing import NamedTuple, Self, TypeVar

import numpy as np

from monitor.metrics import Bools, Floats, Ints
from monitor.stream.plan import Column

Numbers = TypeVar("Numbers", Ints, Floats)


class Observed(NamedTuple):
    """What some impressions add to each column, for those label sets that they have."""

    label_sets: Ints
    buckets: Ints
    sums: Floats
    squares: Floats

    def between(self, first: int, end: int) -> "Observed":
        """Those label sets from `first` to before `end`, numbered from 0 on."""
        low, high = np.searchsorted(self.label_sets, (first, end)).tolist()
        rows = slice(low, high)
        return Observed(
            self.label_sets[rows] - first, self.buckets[rows], self.sums[rows], self.squares[rows]
        )


class Observer:
    """Adds up the values of columns, once for all who want to know."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._groups = _by_bounds(columns)
        self._width = _width(columns)

    def observe(self, label_sets: Ints, values: Floats) -> Observed:
        """Take one row of values for each impression, NaN where there is nothing to observe."""
        seen = ~np.isnan(values)
        rows, columns = np.nonzero(seen)
        scores = values[seen]
        sets, local = _numbered(label_sets)
        cell = local[rows] * values.shape[1] + columns
        shape = (len(sets), values.shape[1])
        size = len(sets) * values.shape[1]
        bucket = np.empty(len(scores), dtype=np.int64)
        for bounds, members in self._groups:
            chosen = members[columns]
            bucket[chosen] = np.searchsorted(bounds, scores[chosen], side="left")
        buckets = np.bincount(cell * self._width + bucket, minlength=size * self._width)
        return Observed(
            label_sets=sets,
            buckets=buckets.reshape(*shape, self._width),
            sums=np.asarray(np.bincount(cell, scores, size), dtype=np.float64).reshape(shape),
            squares=np.asarray(np.bincount(cell, scores * scores, size), dtype=np.float64).reshape(shape),
        )


class Cells:
    """What was observed, for each label set (rows) and column. Cells of the same columns can be added up."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.width = _width(columns)
        self.buckets: Ints = np.zeros((0, len(columns), self.width), dtype=np.int64)
        """How many fell into each bucket, not cumulated; the bucket behind a column's last bound is +Inf."""
        self.sums: Floats = np.zeros((0, len(columns)))
        self.squares: Floats = np.zeros((0, len(columns)))

    @property
    def counts(self) -> Ints:
        return np.asarray(self.buckets.sum(axis=2), dtype=np.int64)

    def grow(self, rows: int) -> None:
        """Make room for so many label sets."""
        if rows > len(self.sums):
            self.buckets = more_rows(self.buckets, rows)
            self.sums = more_rows(self.sums, rows)
            self.squares = more_rows(self.squares, rows)

    def add(self, found: Observed, first_column: int = 0) -> None:
        """Add what was observed, of columns that are these or follow each other among them."""
        sets, columns, width = found.buckets.shape
        if not sets:
            return
        self.grow(int(found.label_sets[-1]) + 1)
        # Rows that follow each other are added as they are; to pick them out costs more.
        rows = found.label_sets if found.label_sets[-1] >= sets else slice(sets)
        within = (rows, slice(first_column, first_column + columns))
        self.buckets[*within, :width] += found.buckets
        self.sums[within] += found.sums
        self.squares[within] += found.squares

    def merge(self, other: Self) -> None:
        """Add what another has observed of the same columns."""
        rows = len(other.sums)
        self.grow(rows)
        self.buckets[:rows] += other.buckets
        self.sums[:rows] += other.sums
        self.squares[:rows] += other.squares


def _numbered(label_sets: Ints) -> tuple[Ints, Ints]:
    """The label sets that are there, and of each row the place among them; some may have no row.

    >>> _numbered(np.array([1, 0, 1])), _numbered(np.array([7, 0, 7]))
    ((array([0, 1]), array([1, 0, 1])), (array([0, 7]), array([1, 0, 1])))
    """
    highest = int(label_sets.max(initial=-1))
    if highest < 2 * len(label_sets):
        # To sort them would cost more than to carry a few along that have nothing.
        return np.arange(highest + 1), label_sets
    sets, local = np.unique(label_sets, return_inverse=True)
    return sets, local


def more_rows(counted: Numbers, rows: int) -> Numbers:
    """The same with zeros below, up to so many rows; np.pad does it too, many times as slowly."""
    grown = np.zeros((rows, *counted.shape[1:]), dtype=counted.dtype)
    grown[: len(counted)] = counted
    return grown


def _width(columns: Sequence[Column]) -> int:
    """Buckets of the column that has most, +Inf among them."""
    return 1 + max((len(column.measure.metric.buckets) for column in columns), default=0)


def _by_bounds(columns: Sequence[Column]) -> list[tuple[Floats, Bools]]:
    """The columns that share their buckets, so that one search serves them all."""
    bounds_of = [column.measure.metric.buckets for column in columns]
    return [
        (np.array(shared), np.array([b == shared for b in bounds_of])) for shared in dict.fromkeys(bounds_of)
    ]

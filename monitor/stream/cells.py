"""Accumulators: count, sum, sum of squares and buckets for each label set and column, as numpy arrays."""

from collections.abc import Sequence
from typing import Self, TypeVar

import numpy as np

from monitor.metrics import Bools, Floats, Ints
from monitor.stream.plan import Column

Numbers = TypeVar("Numbers", Ints, Floats)


class Cells:
    """What was observed, for each label set (rows) and column. Cells of the same columns can be added up."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._groups = _by_bounds(columns)
        self.width = 1 + max((len(bounds) for bounds, _ in self._groups), default=0)
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

    def observe(self, label_sets: Ints, values: Floats) -> None:
        """Add one row of values for each impression, NaN where there is nothing to observe."""
        seen = ~np.isnan(values)
        rows, columns = np.nonzero(seen)
        scores = values[seen]
        self.grow(int(label_sets.max(initial=-1)) + 1)
        sets, local = np.unique(label_sets, return_inverse=True)
        cell = local[rows] * values.shape[1] + columns
        shape = (len(sets), values.shape[1])
        size = len(sets) * values.shape[1]
        bucket = np.empty(len(scores), dtype=np.int64)
        for bounds, members in self._groups:
            chosen = members[columns]
            bucket[chosen] = np.searchsorted(bounds, scores[chosen], side="left")
        counted = np.bincount(cell * self.width + bucket, minlength=size * self.width)
        self.buckets[sets] += counted.reshape(*shape, self.width)
        self.sums[sets] += np.bincount(cell, scores, size).reshape(shape)
        self.squares[sets] += np.bincount(cell, scores * scores, size).reshape(shape)

    def merge(self, other: Self, first_column: int = 0) -> None:
        """Add what another has observed, whose columns are these or follow each other among them."""
        rows, columns = other.sums.shape
        self.grow(rows)
        within = (slice(rows), slice(first_column, first_column + columns))
        self.buckets[*within, : other.width] += other.buckets
        self.sums[within] += other.sums
        self.squares[within] += other.squares


def more_rows(counted: Numbers, rows: int) -> Numbers:
    """The same with zeros below, up to so many rows; np.pad does it too, many times as slowly."""
    grown = np.zeros((rows, *counted.shape[1:]), dtype=counted.dtype)
    grown[: len(counted)] = counted
    return grown


def _by_bounds(columns: Sequence[Column]) -> list[tuple[Floats, Bools]]:
    """The columns that share their buckets, so that one search serves them all."""
    bounds_of = [column.measure.metric.buckets for column in columns]
    return [
        (np.array(shared), np.array([b == shared for b in bounds_of])) for shared in dict.fromkeys(bounds_of)
    ]

"""Accumulators: count, sum, sum of squares and buckets for each label set and column, as numpy arrays."""

from collections.abc import Sequence
from typing import Self

import numpy as np

from monitor.metrics import Floats, Ints
from monitor.stream.plan import Column


class Cells:
    """What was observed, for each label set (rows) and column. Cells of the same columns can be added up."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._bounds = [np.array(column.measure.metric.buckets) for column in columns]
        self.width = 1 + max((len(bounds) for bounds in self._bounds), default=0)
        self.buckets: Ints = np.zeros((0, len(columns), self.width), dtype=np.int64)
        """How many fell into each bucket, not cumulated; the bucket behind a column's last bound is +Inf."""
        self.sums: Floats = np.zeros((0, len(columns)))
        self.squares: Floats = np.zeros((0, len(columns)))

    @property
    def counts(self) -> Ints:
        return np.asarray(self.buckets.sum(axis=2), dtype=np.int64)

    def grow(self, rows: int) -> None:
        """Make room for so many label sets."""
        missing = rows - len(self.sums)
        if missing > 0:
            self.buckets = np.pad(self.buckets, ((0, missing), (0, 0), (0, 0)))
            self.sums = np.pad(self.sums, ((0, missing), (0, 0)))
            self.squares = np.pad(self.squares, ((0, missing), (0, 0)))

    def observe(self, label_sets: Ints, values: Floats, first_column: int = 0) -> None:
        """Add one row of values for each impression, NaN where there is nothing to observe."""
        if not len(values):
            return
        sets, local = np.unique(label_sets, return_inverse=True)
        self.grow(int(sets[-1]) + 1)
        columns = values.shape[1]
        seen = ~np.isnan(values)
        cell = local[:, None] * columns + np.arange(columns)
        size = len(sets) * columns
        at = (sets[:, None], np.arange(first_column, first_column + columns))
        bucket = np.empty(values.shape, dtype=np.int64)
        for bounds, members in self._columns_by_bounds(first_column, columns):
            bucket[:, members] = np.searchsorted(bounds, values[:, members], side="left")
        index = (cell * self.width + bucket)[seen]
        counted = np.bincount(index, minlength=size * self.width)
        self.buckets[at] += counted.reshape(len(sets), columns, self.width)
        cell, scores = cell[seen], values[seen]
        self.sums[at] += np.bincount(cell, scores, size).reshape(len(sets), columns)
        self.squares[at] += np.bincount(cell, scores * scores, size).reshape(len(sets), columns)

    def merge(self, other: Self) -> None:
        """Add what another has observed."""
        rows = len(other.sums)
        self.grow(rows)
        self.buckets[:rows] += other.buckets
        self.sums[:rows] += other.sums
        self.squares[:rows] += other.squares

    def _columns_by_bounds(self, first: int, count: int) -> list[tuple[Floats, list[int]]]:
        groups: dict[bytes, tuple[Floats, list[int]]] = {}
        for i in range(count):
            bounds = self._bounds[first + i]
            groups.setdefault(bounds.tobytes(), (bounds, []))[1].append(i)
        return list(groups.values())

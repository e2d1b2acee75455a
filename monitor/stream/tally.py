"""A tally: everything that was counted between two moments. Tallies add up."""

from typing import Self

import numpy as np

from monitor.durations import in_words
from monitor.metrics import Floats, Ints
from monitor.stream.books import Books
from monitor.stream.cells import Cells, more_rows
from monitor.stream.plan import Plan
from monitor.stream.score import Scored
from monitor.stream.snapshot import DELAY_BUCKETS, Delays


class Tally:
    """The books, and what the decided impressions add to the series and the position counters."""

    def __init__(self, plan: Plan, books: Books) -> None:
        self.books = books
        self.cells = Cells(plan.columns)
        self.shown: Ints = np.zeros((0, plan.positions), dtype=np.int64)
        """(label sets, positions) how often each position was shown."""
        self.clicked: Ints = np.zeros((0, plan.positions), dtype=np.int64)
        self._plan = plan
        self._delay_buckets: Ints = np.zeros((len(plan.stages), len(DELAY_BUCKETS) + 1), dtype=np.int64)
        self._delay_sums = np.zeros(len(plan.stages))

    @property
    def delays(self) -> Delays:
        names = [in_words(stage.delay) for stage in self._plan.stages]
        return Delays(
            dict(zip(names, self._delay_buckets.copy(), strict=True)),
            dict(zip(names, self._delay_sums.tolist(), strict=True)),
        )

    def merge(self, other: Self) -> None:
        """Add another tally."""
        self.books.merge(other.books)
        self.cells.merge(other.cells)
        self.grow(len(other.shown))
        self.shown[: len(other.shown)] += other.shown
        self.clicked[: len(other.clicked)] += other.clicked
        self._delay_buckets += other._delay_buckets
        self._delay_sums += other._delay_sums

    def grow(self, label_sets: int) -> None:
        """Make room for so many label sets, so that each is exported from its first impression on."""
        self.cells.grow(label_sets)
        if label_sets > len(self.shown):
            self.shown = more_rows(self.shown, label_sets)
            self.clicked = more_rows(self.clicked, label_sets)

    def observe(self, number: int, scored: Scored, now: float) -> None:
        """Add what a stage's impressions tell beside their scores: delays, and positions with clicks."""
        shown, delay = scored.impressions, self._plan.stages[number].delay
        # What was evicted is decided before its deadline: no delay.
        self._add_delays(number, np.maximum(now - shown.ts - delay, 0.0))
        if scored.clicks is not None:
            self.grow(int(shown.label_sets.max(initial=-1)) + 1)
            self.shown += _positions(shown.label_sets, shown.lengths, self.shown.shape)
            rows, ranks = np.nonzero(scored.clicks[:, : self._plan.positions])
            np.add.at(self.clicked, (shown.label_sets[rows], ranks), 1)

    def _add_delays(self, number: int, delays: Floats) -> None:
        found = np.searchsorted(DELAY_BUCKETS, delays, side="left")
        self._delay_buckets[number] += np.bincount(found, minlength=len(DELAY_BUCKETS) + 1)
        self._delay_sums[number] += delays.sum()


def _positions(label_sets: Ints, lengths: Ints, shape: tuple[int, ...]) -> Ints:
    """How often each position was shown by rankings of these lengths, for each label set.

    >>> _positions(np.array([1, 1]), np.array([2, 9]), (2, 3))
    array([[0, 0, 0],
           [2, 2, 1]])
    """
    size, positions = shape
    last = np.bincount(
        label_sets * (positions + 1) + np.minimum(lengths, positions), minlength=size * (positions + 1)
    )
    longer: Ints = last.reshape(size, positions + 1)[:, :0:-1].cumsum(axis=1)[:, ::-1]
    return longer

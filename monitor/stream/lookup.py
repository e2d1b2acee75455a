"""What was judged of the queries of a batch, and the grades of many ranked keys at once."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from monitor.metrics import Bools, Floats, Ints
from monitor.metrics.batch import lengths_of, padded
from monitor.stream.query_grades import Qrels


class Judged:
    """The judgments of some rankings, given those of each; rankings of one query share them."""

    def __init__(self, qrels: Sequence[Qrels]) -> None:
        numbers: dict[int, int] = {}
        self._query = np.array([numbers.setdefault(id(q), len(numbers)) for q in qrels], dtype=np.int64)
        self._distinct = list({id(q): q for q in qrels}.values())
        self._keys = np.concatenate([q.keys for q in self._distinct])
        self._ends = np.cumsum([len(q.keys) for q in self._distinct])
        self._starts = np.concatenate(([0], self._ends[:-1]))
        self.grades = np.concatenate([q.grades for q in self._distinct])
        """Of all queries, one after the other: see `find`."""
        self.targets = np.concatenate([q.targets for q in self._distinct])

    def each(self, value: Callable[[Qrels], float]) -> NDArray[np.float64]:
        """A value of the judgments of each ranking."""
        return np.array([value(q) for q in self._distinct], dtype=np.float64)[self._query]

    def ideal(self, depth: int | None) -> Floats:
        """The grades of each ranking's query, highest first, padded with 0; the first `depth`, or all."""
        ideals = [q.ideal[:depth] for q in self._distinct]
        return padded(np.concatenate(ideals), lengths_of(ideals), 0.0)[self._query]

    def find(self, lengths: Ints, keys: Ints) -> tuple[Bools, Ints]:
        """For every key whether its query's judgments have it, and where in the joined arrays.

        `keys` are those of all rankings, one after the other; `lengths` says how many each has. One binary
        search for all of them at once, each between the bounds of its own query, whose keys are sorted.
        """
        low = np.repeat(self._starts[self._query], lengths)
        end = np.repeat(self._ends[self._query], lengths)
        high = end.copy()
        last = len(self._keys) - 1
        for _ in range(int((self._ends - self._starts).max(initial=0)).bit_length()):
            middle = (low + high) >> 1
            below = (low < high) & (self._keys[np.minimum(middle, last)] < keys)
            low = np.where(below, middle + 1, low)
            high = np.where(below, high, np.minimum(middle, high))
        place = np.minimum(low, last)
        return (low < end) & (self._keys[place] == keys), place

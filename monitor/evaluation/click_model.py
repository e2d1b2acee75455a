"""The cascade click model: a reader goes down the list, clicks the first attractive document and stops."""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from typing import NamedTuple, Self

import numpy as np

from monitor.evaluation.lists import keys_of


class ClickedRanking(NamedTuple):
    """A ranking as it was shown, and the keys of it that were clicked."""

    query: Hashable
    keys: Sequence[Hashable]
    clicks: Collection[Hashable] = ()


class CascadeClickModel:
    """Attraction of each document for a query, learnt from clicks that come with their rankings.

    The reader examines ranks 1, 2, ... and clicks an examined document with the probability of its
    attraction, which depends on query and document and not on the rank; after the click nothing is examined
    (Craswell et al. 2008, An Experimental Comparison of Click Position-Bias Models). So the examined ranks
    are known, those down to the first click or all of them, and the likelihood is greatest where the
    attraction of each document is its clicks over its examinations.

    A second click is impossible under the model: only the highest one of a ranking counts. A click on a key
    that was not shown does not count.

    >>> shown = [ClickedRanking("q", ["a", "b"], ["b"]), ClickedRanking("q", ["a", "b"], ["a"])]
    >>> model = CascadeClickModel().fit(shown)
    >>> model.attraction("q", "a"), model.attraction("q", "b")
    (0.5, 1.0)
    >>> model.predict("q", ["b", "a"])
    [1.0, 0.0]
    """

    def __init__(self) -> None:
        self._clicked: Counter[tuple[Hashable, Hashable]] = Counter()
        self._examined: Counter[tuple[Hashable, Hashable]] = Counter()

    def fit(self, rankings: Iterable[ClickedRanking]) -> Self:
        """Learn from rankings and their clicks, in place of what was learnt before."""
        self._clicked, self._examined = Counter(), Counter()
        for query, keys, clicks in rankings:
            if isinstance(clicks, str | bytes):
                raise TypeError(f"the clicks of query {query!r} must be a list of keys, not one text")
            clicked = set(clicks)
            for key in keys_of(keys):
                self._examined[query, key] += 1
                if key in clicked:
                    self._clicked[query, key] += 1
                    break
        if not self._examined:
            raise ValueError("there is nothing to learn from: no ranking has a document")
        return self

    def attraction(self, query: Hashable, key: Hashable) -> float:
        """Return the probability that the document is clicked when it is examined.

        Of a document that was never examined for the query nothing is known: it gets the mean of all, clicks
        over examinations.
        """
        examined = self._examined[query, key]
        if examined:
            return self._clicked[query, key] / examined
        everything = self._examined.total()
        if not everything:
            raise ValueError("the model has learnt nothing yet; call fit first")
        return self._clicked.total() / everything

    def predict(self, query: Hashable, keys: Sequence[Hashable]) -> list[float]:
        """Return the probability of a click at each rank; what is missing to 1 is that of no click at all."""
        attractions = np.array([self.attraction(query, key) for key in keys_of(keys)])
        reached = np.cumprod(np.concatenate(([1.0], 1.0 - attractions)))[:-1]
        predicted: list[float] = (attractions * reached).tolist()
        return predicted

"""NDCG of rankings as a service keeps it: several k at once, ideals remembered, scores observed."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, TypedDict
from weakref import WeakKeyDictionary

import numpy as np

from monitor.evaluation.lists import (
    Judged,
    Key,
    Results,
    cut_offs,
    finite_grade,
    grades_of,
    keys_of,
    measure,
)
from monitor.metrics import METRICS, Batch, Floats
from monitor.metrics.batch import best_order

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry, Histogram

IDEALS_KEPT = 10_000

_HISTOGRAMS: "WeakKeyDictionary[CollectorRegistry, Histogram]" = WeakKeyDictionary()
_LOCK = Lock()


class RankingComparison(TypedDict):
    """Two rankings of one query, by `ndcg@k`."""

    baseline: dict[str, float]
    improved: dict[str, float]
    difference: dict[str, float]
    """Improved minus baseline."""
    percentage: dict[str, float | None]
    """The difference in percent of the baseline; `None` where the baseline is 0."""


class NDCGEvaluator:
    """NDCG@k of rankings against graded judgments, with linear gain and the ideal of all judgments.

    A ranking is taken in its given order, best first, whatever scores its items carry; a key that stands
    twice counts at its first rank. A key without a judgment counts as grade 0.

    The ideal order of a query is made once, for every k: it is remembered by the judged grades themselves, so
    judgments that change between calls get their own, and the last 10,000 are kept.

    With a `registry` of prometheus_client, every score of `evaluate_ranking` is observed in the histogram
    `vector_ndcg_avg` with the label `k`; evaluators of one registry share it. A registry that has a metric of
    that name from elsewhere is a ValueError.

    >>> evaluator = NDCGEvaluator(k_values=(1, 3))
    >>> evaluator.evaluate_ranking([{"key": "b", "score": 0.9}, {"key": "a", "score": 0.8}], {"a": 1.0, "b": 0.5})
    {'ndcg@1': 0.5, 'ndcg@3': 0.8597186998521972}
    """  # noqa: E501 - an example as one would write it

    def __init__(
        self, k_values: Iterable[int] = (1, 3, 5, 10), registry: "CollectorRegistry | None" = None
    ) -> None:
        self.k_values = tuple(cut_offs(k_values))
        self._ideal = lru_cache(maxsize=IDEALS_KEPT)(_ideal)
        self._observed = None if registry is None else _histogram(registry)

    def dcg_at_k(self, grades: Sequence[float | None], k: int) -> float:
        """Return the discounted gain of the first k ranks, given the grade at each (`None`: unjudged).

        >>> NDCGEvaluator().dcg_at_k([3, None, 2], 3)
        4.0
        """
        return _score("dcg", k, _checked(grades))

    def idcg_at_k(self, grades: Sequence[float | None], k: int) -> float:
        """Return the discounted gain of the best order of the judged grades, cut at k.

        >>> NDCGEvaluator().idcg_at_k([2, 0, 3, 2], 3) == NDCGEvaluator().dcg_at_k([3, 2, 2], 3)
        True
        """
        ideal = self._ideal(_judged(grades))
        return _score("dcg", k, ideal[0])

    def ndcg_at_k(
        self, grades: Sequence[float | None], k: int, judged: Sequence[float] | None = None
    ) -> float:
        """Return DCG over ideal DCG of the first k ranks, given the grade at each (`None`: unjudged).

        `judged` are the grades of all judged documents of the query; without it the ranked ones are all.

        >>> evaluator = NDCGEvaluator()
        >>> round(evaluator.ndcg_at_k([0, 1, 0, 1, 0], 5), 3)
        0.651
        >>> round(evaluator.ndcg_at_k([1.0, 0.0], 10, judged=[2.0, 1.0, 0.0]), 3)
        0.38
        """
        known = _judged(grades if judged is None else judged)
        return _score("ndcg", k, _checked(grades), self._ideal(known))

    def evaluate_ranking(
        self, ranked_items: Results[Key], relevance_judgments: Judged[Key]
    ) -> dict[str, float]:
        """Return `{"ndcg@1": ...}` for each k, and observe each where there is a registry.

        Items are `{"key": ..., "score": ...}` or keys; judgments a grade by key, or the relevant keys.
        """
        scores = self._scores(ranked_items, relevance_judgments)
        if self._observed is not None:
            for k, score in zip(self.k_values, scores.values(), strict=True):
                self._observed.labels(str(k)).observe(score)
        return scores

    def compare_rankings(
        self,
        baseline_ranking: Results[Key],
        improved_ranking: Results[Key],
        relevance_judgments: Judged[Key],
    ) -> RankingComparison:
        """Return both rankings' scores with differences and percentages, by `ndcg@k`; nothing is observed.

        >>> found = NDCGEvaluator(k_values=[1, 3]).compare_rankings(["x", "a"], ["a", "x"], {"a"})
        >>> round(found["difference"]["ndcg@3"], 3), round(found["percentage"]["ndcg@3"], 1)
        (0.369, 58.5)
        >>> found["percentage"]["ndcg@1"] is None
        True
        """
        baseline = self._scores(baseline_ranking, relevance_judgments)
        improved = self._scores(improved_ranking, relevance_judgments)
        difference = {name: improved[name] - before for name, before in baseline.items()}
        percentage = {
            name: 100 * difference[name] / before if before else None for name, before in baseline.items()
        }
        return RankingComparison(
            baseline=baseline, improved=improved, difference=difference, percentage=percentage
        )

    def _scores(self, ranked_items: Results[Key], judgments: Judged[Key]) -> dict[str, float]:
        judged = grades_of(judgments)
        grades, ideal = [*map(judged.get, keys_of(ranked_items))], self._ideal(tuple(judged.values()))
        return {f"ndcg@{k}": _score("ndcg", k, grades, ideal) for k in self.k_values}


def _checked(grades: Sequence[float | None]) -> list[float | None]:
    return [
        None if grade is None else finite_grade(grade, f"rank {rank}")
        for rank, grade in enumerate(grades, start=1)
    ]


def _judged(grades: Sequence[float | None]) -> tuple[float, ...]:
    return tuple(grade for grade in _checked(grades) if grade is not None)


def _score(name: str, k: int, grades: Sequence[float | None] | Floats, ideal: Floats | None = None) -> float:
    ranked: Floats = np.array([grades], dtype=np.float64)  # None becomes NaN
    batch = Batch(lengths=np.array([len(grades)]), grades=ranked, ideal=ideal)
    return float(measure(name, k).score(batch)[0])


def _ideal(judged: tuple[float, ...]) -> Floats:
    ideal, _ = best_order(judged, np.array([len(judged)]))
    return ideal


def _histogram(registry: "CollectorRegistry") -> "Histogram":
    """Return the registry's histogram: two of one name cannot be registered."""
    from prometheus_client import Histogram  # noqa: PLC0415 - only callers with a registry need it

    ndcg = METRICS["ndcg"]
    with _LOCK:
        if registry not in _HISTOGRAMS:
            try:
                _HISTOGRAMS[registry] = Histogram(
                    ndcg.family, ndcg.summary, ["k"], buckets=ndcg.buckets, registry=registry
                )
            except ValueError:
                raise ValueError(
                    f"the registry already has a {ndcg.family} that is not of an NDCGEvaluator;"
                    " unregister that one, or give another CollectorRegistry"
                ) from None
        return _HISTOGRAMS[registry]

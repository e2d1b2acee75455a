"""NDCG@10, MRR@10, CTR@10 and abandonment of one impression, in plain Python, observed in histograms."""

from collections.abc import Collection, Sequence
from math import log2

from prometheus_client import CollectorRegistry, Histogram

K = 10
DISCOUNTS = [1.0 / log2(rank + 1) for rank in range(1, K + 1)]
BUCKETS = [number / 10 for number in range(11)]


class Quality:
    """The judgments, and the histograms of what was decided."""

    def __init__(self) -> None:
        self.grades: dict[str, dict[str, float]] = {}
        self._registry = CollectorRegistry()
        self._ndcg, self._mrr, self._ctr, self._abandonment = (
            Histogram(name, name, ["variant", "region"], buckets=BUCKETS, registry=self._registry)
            for name in ("ndcg", "mrr", "ctr", "abandonment")
        )

    def judge(self, query_id: str, key: str, grade: float) -> None:
        """Remember a judgment."""
        self.grades.setdefault(query_id, {})[key] = grade

    def observe(
        self, query_id: str, ranked: Sequence[str], labels: tuple[str, str], clicked: Collection[int]
    ) -> None:
        """Score an impression of which these positions were clicked."""
        self._ctr.labels(*labels).observe(any(position <= K for position in clicked))
        self._abandonment.labels(*labels).observe(not clicked)
        if grades := self.grades.get(query_id):
            gains = [grades.get(key, 0.0) for key in ranked[:K]]
            self._ndcg.labels(*labels).observe(ndcg(gains, sorted(grades.values(), reverse=True)))
            self._mrr.labels(*labels).observe(reciprocal_rank(gains))

    def result(self) -> dict[str, tuple[int, float]]:
        """Return the count and the sum of each metric, over all labels."""
        found: dict[str, tuple[int, float]] = {}
        for family in self._registry.collect():
            count = sum(s.value for s in family.samples if s.name == f"{family.name}_count")
            total = sum(s.value for s in family.samples if s.name == f"{family.name}_sum")
            found[family.name] = (int(count), total)
        return found


def ndcg(gains: Sequence[float], ideal: Sequence[float]) -> float:
    """NDCG of the gains in their order; `ideal` are those of all judgments, best first."""
    best = _dcg(ideal)
    return _dcg(gains) / best if best else 0.0


def reciprocal_rank(gains: Sequence[float]) -> float:
    """1 / rank of the first relevant one."""
    return next((1.0 / rank for rank, gain in enumerate(gains, 1) if gain > 0), 0.0)


def _dcg(gains: Sequence[float]) -> float:
    return sum(gain * discount for gain, discount in zip(gains, DISCOUNTS, strict=False))

"""Reference: one score for one impression, straight from the definitions. Shares no code with monitor."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, median
from typing import NamedTuple

Grade = float | None


@dataclass(frozen=True)
class Behaviour:
    """What the user did with one impression, by rank (1-based)."""

    shown: int
    """How many keys were ranked."""
    clicked: frozenset[int]
    dwell: dict[int, float]
    """The longest dwell of each rank that has one."""
    outcome: str | None = None
    scroll: int | None = None


def combine(grades: list[float], how: str) -> float:
    """The grade of a document from those of its assessors."""
    return mean(grades) if how == "mean" else median(grades)


def split(name: str) -> tuple[str, int | None]:
    """`ndcg@10` is the metric ndcg with k = 10; without a cut-off k is None."""
    metric, _, k = name.partition("@")
    return metric, int(k) if k else None


def judged_score(metric: str, k: int | None, ranking: list[Grade], judged: list[float]) -> float:
    """Score a ranking of grades (None: unjudged) against all grades of the query."""
    top = ranking[:k]
    hits = [grade is not None and grade > 0 for grade in top]
    relevant = sum(grade > 0 for grade in judged)
    match metric:
        case "ndcg":
            ideal = dcg(sorted(judged, reverse=True)[:k])
            return dcg([grade or 0 for grade in top]) / ideal if ideal > 0 else 0
        case "mrr":
            return max((1 / rank for rank, hit in enumerate(hits, 1) if hit), default=0)
        case "recall":
            return sum(hits) / relevant if relevant else 0
        case "precision":
            divisor = k if k is not None else len(ranking)
            return sum(hits) / divisor if divisor else 0
        case "ap":
            precisions = [sum(hits[:rank]) / rank for rank, hit in enumerate(hits, 1) if hit]
            return sum(precisions) / relevant if relevant else 0
        case "success":
            return 1 if any(hits) else 0
        case "judged":
            return sum(grade is not None for grade in top) / len(top) if top else 0
    raise KeyError(metric)


def dcg(grades: list[float]) -> float:
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, 1))


def click_score(metric: str, k: int | None, did: Behaviour) -> float | None:
    """Score what the user did; None where there is nothing to observe."""
    within = {rank for rank in did.clicked if k is None or rank <= k}
    match metric:
        case "ctr":
            return 1 if within else 0
        case "position_ctr":
            return None if did.shown < k else 1 if k in did.clicked else 0
        case "click_mrr":
            return 1 / min(within) if within else 0
        case "abandonment":
            return 0 if did.clicked else 1
        case "satisfied":
            return 1 if any(did.dwell.get(rank, 0) >= 30 for rank in did.clicked) else 0
        case "outcome_success":
            return None if did.outcome is None else 1 if did.outcome == "successful" else 0
        case "dwell_seconds":
            return max(did.dwell.values(), default=None)
        case "click_depth":
            return max(did.clicked, default=None)
        case "scroll_depth":
            return did.scroll
    raise KeyError(metric)


JUDGED = {"ndcg", "mrr", "recall", "precision", "ap", "success", "judged"}
CLICKED = {"ctr", "position_ctr", "click_mrr", "abandonment", "satisfied"}
ALWAYS_CLICKED = ["outcome_success", "dwell_seconds", "click_depth", "scroll_depth"]
FAMILIES = {
    "results": "vector_results",
    "latency": "vector_search_latency_seconds",
    "dwell_seconds": "vector_dwell_seconds",
    "click_depth": "vector_click_depth",
    "scroll_depth": "vector_scroll_depth",
    "label_delay": "vector_label_delay_seconds",
}


def family(metric: str) -> str:
    """The name of the Prometheus histogram."""
    return FAMILIES.get(metric, f"vector_{metric}_avg")


class Sums(NamedTuple):
    """What a series or a window keeps of its observations."""

    observations: int
    total: float
    squares: float


def sums(observed: Sequence[float]) -> Sums:
    return Sums(len(observed), math.fsum(observed), math.fsum(score * score for score in observed))


def up_to(bound: float, observed: Sequence[float]) -> int:
    """The cumulative bucket count: how many observations are at most the bound."""
    return sum(score <= bound for score in observed)

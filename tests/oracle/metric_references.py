"""The metrics once more, in plain Python straight from their definitions: slow, and easy to believe."""

import itertools
import math

from tests.oracle.metric_cases import Case, named_target

NOTHING = math.nan


def discount(rank: int) -> float:
    return 1 / math.log2(rank + 1)


def is_relevant(case: Case, key: str) -> bool:
    return case.judgments.get(key, 0) > 0


def dcg(case: Case, k: int, gain=lambda grade: grade) -> float:
    return sum(gain(grade) * discount(rank) for rank, grade in enumerate(case.grades[:k], 1))


def exponential(grade: float) -> float:
    return 2**grade - 1


def ndcg(case: Case, k: int, gain=lambda grade: grade) -> float:
    ideal = Case(
        ranking=sorted(case.judgments, key=lambda key: -case.judgments[key]), judgments=case.judgments
    )
    best = dcg(ideal, k, gain)
    return dcg(case, k, gain) / best if best else 0.0


def f1(case: Case, k: int) -> float:
    found = sum(is_relevant(case, key) for key in case.ranking[:k])
    if not found:
        return 0.0
    precision, recall = found / k, found / len(case.relevant)
    return 2 * precision * recall / (precision + recall)


def judged(case: Case, k: int) -> float:
    shown = case.ranking[:k]
    return sum(key in case.judgments for key in shown) / len(shown) if shown else 0.0


def rbp(case: Case, k: int, p: float) -> float:
    return (1 - p) * sum(p**i for i, key in enumerate(case.ranking[:k]) if is_relevant(case, key))


def err(case: Case, k: int, max_grade: float) -> float:
    return _cascade([(2 ** min(grade, max_grade) - 1) / 2**max_grade for grade in case.grades[:k]])


def err_given(case: Case, k: int) -> float:
    return _cascade([min(grade, 1) for grade in case.grades[:k]])


def _cascade(probabilities: list[float]) -> float:
    score, still_reading = 0.0, 1.0
    for rank, stops in enumerate(probabilities, 1):
        score += still_reading * stops / rank
        still_reading *= 1 - stops
    return score


def diversity_count(case: Case, k: int) -> float:
    if not named_target(case):
        return NOTHING
    return len({case.target(key) for key in case.ranking[:k]})


def dedup_recall(case: Case, k: int) -> float:
    if not named_target(case):
        return NOTHING
    wanted = {case.target(key) for key in case.relevant}
    found = {case.target(key) for key in case.ranking[:k] if is_relevant(case, key)}
    return len(found) / len(wanted) if wanted else 0.0


def cosine(a: list[float], b: list[float]) -> float:
    length = math.hypot(*a) * math.hypot(*b)
    return sum(x * y for x, y in zip(a, b, strict=True)) / length if length else 0.0


def ild(case: Case, k: int) -> float:
    shown = case.ranking[:k]
    if case.vectors is None or len(shown) < 2:
        return NOTHING
    distances = [1 - cosine(case.vectors[a], case.vectors[b]) for a, b in itertools.combinations(shown, 2)]
    return min(max(sum(distances) / len(distances), 0.0), 1.0)


def alpha_dcg(case: Case, order: tuple[str, ...], alpha: float) -> float:
    score = 0.0
    for rank, key in enumerate(order, 1):
        above = [other for other in order[: rank - 1] if key in case.vectors and other in case.vectors]
        novelty = 1 - max(
            (max(cosine(case.vectors[key], case.vectors[other]), 0.0) for other in above), default=0.0
        )
        score += max(case.judgments.get(key, 0), 0) * (alpha + (1 - alpha) * novelty) * discount(rank)
    return score


def greedy_order(case: Case, alpha: float) -> tuple[str, ...]:
    order, left = (), list(case.relevant)
    while left:
        best = max(left, key=lambda key: alpha_dcg(case, (*order, key), alpha))
        left.remove(best)
        order = (*order, best)
    return order


def alpha_ndcg(case: Case, k: int, alpha: float) -> float:
    if case.vectors is None:
        return NOTHING
    if not case.relevant:
        return 0.0
    if len(case.relevant) <= 8:
        orders = itertools.permutations(case.relevant, len(case.relevant[:k]))
        best = max(alpha_dcg(case, order, alpha) for order in orders)
    else:
        best = alpha_dcg(case, greedy_order(case, alpha)[:k], alpha)
    return min(alpha_dcg(case, tuple(case.ranking[:k]), alpha) / best, 1.0)


def clicked_ranks(case: Case, k: int | None = None) -> list[int]:
    return [rank for rank, key in enumerate(case.ranking[:k], 1) if key in case.clicked]


def position_ctr(case: Case, k: int) -> float:
    if len(case.ranking) < k:
        return NOTHING
    return float(case.ranking[k - 1] in case.clicked)


def satisfied(case: Case) -> float:
    return float(any(case.dwell.get(key, 0) >= 30 for key in case.clicked))

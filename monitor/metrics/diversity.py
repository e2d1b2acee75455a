"""Metrics of how different the ranked documents are, by the cosines of their embeddings."""

from collections import Counter
from functools import cache
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from monitor.metrics.arrays import discounts, linear_gains
from monitor.metrics.batch import Batch, Floats, Ints, require
from monitor.metrics.parameters import Interval
from monitor.metrics.registry import Need, Reads, metric

EXACT_UP_TO = 8


@metric("ild", need=Need.IMPRESSION, uses=("embeddings",))
def ild(batch: Batch, k: int | None) -> Floats:
    """Intra-list diversity: how different the first k documents are from each other.

    Definition: mean of 1 - cosine over the unordered pairs of the first k documents, clamped to [0, 1].
    Range: 0 to 1; 0 is one and the same direction, 1 is unrelated directions.
    Edge cases: undefined, so not observed, with fewer than two documents or without embeddings; a zero
    vector has the cosine 0 with all others.
    Reference: Ziegler et al. 2005, Improving Recommendation Lists Through Topic Diversification.

    >>> import numpy as np
    >>> from monitor.metrics import Batch, parse
    >>> vectors = np.array([[1, 0], [0, 1], [1, 0]], dtype=np.float32)
    >>> parse("ild@2").score(Batch(lengths=np.array([3]), embeddings=[vectors]))
    array([1.])
    """
    scores = np.full(len(batch), np.nan)
    for row, vectors in enumerate(require(batch.embeddings, "embeddings")):
        if vectors is not None and len(vectors[:k]) >= 2:
            scores[row] = _mean_distance(_directions(vectors[:k]))
    return scores


@metric("alpha_ndcg", need=Need.JUDGMENTS, uses=("embeddings",), reads=Reads.WHOLE_LIST)
def alpha_ndcg(batch: Batch, k: int | None, *, alpha: Annotated[float, Interval(0, 1)] = 0.5) -> Floats:
    """NDCG in which a document gains less, the more it resembles one ranked above it.

    Definition: DCG of the first k ranks with the gain grade * (alpha + (1 - alpha) * novelty), where
    novelty is 1 - the highest cosine to any document ranked above (1 for the first, cosines below 0 count
    as 0), divided by that of the best order of the query's relevant documents under the same gains.
    Relevant documents that were not ranked have no embedding: they stand in that order with novelty 1. With
    alpha = 1 it is plain NDCG.
    Range: 0 to 1; 1 is the best order.
    Edge cases: undefined, so not observed, without embeddings; the best order is exact for up to 8 relevant
    documents and greedy above, where the score is clamped to 1; an empty ranking or a query without a
    relevant judgment gives 0.
    Reference: after Clarke et al. 2008, Novelty and Diversity in Information Retrieval Evaluation, with
    cosines in place of nuggets.

    >>> import numpy as np
    >>> from monitor.metrics import judged_batch, parse
    >>> vectors = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32)
    >>> parse("alpha_ndcg@3").score(judged_batch([[1, 1, 1]], embeddings=[vectors])).round(3)
    array([0.965])
    """
    grades, ideal = require(batch.grades, "grades"), require(batch.ideal, "ideal")
    scores = np.zeros(len(batch))
    for row, vectors in enumerate(require(batch.embeddings, "embeddings")):
        wanted = linear_gains(ideal[row][ideal[row] > 0])
        if vectors is None:
            scores[row] = np.nan
        elif len(wanted) and len(vectors):
            gains = linear_gains(grades[row, : len(vectors)])
            scores[row] = _alpha_ndcg(gains, _directions(vectors[: len(gains)]), wanted, k, alpha)
    return scores


def _mean_distance(directions: Floats) -> float:
    # The cosines of all pairs add up to the square of the sum without the squares: no n by n matrix.
    count, total = len(directions), directions.sum(axis=0)
    cosines = (total @ total - np.vdot(directions, directions)) / 2
    return float(1.0 - cosines / (count * (count - 1) / 2))


def _alpha_ndcg(gains: Floats, directions: Floats, wanted: Floats, k: int | None, alpha: float) -> float:
    above = np.tril(_cosines(directions[:k]), -1).max(axis=1)
    reached = _worth(gains[:k], above, alpha) @ discounts(len(above))

    found = np.flatnonzero(gains)
    missing = Counter(wanted.tolist()) - Counter(gains[found].tolist())
    # They are like no other, so the best order takes the highest first: none below the cut-off matters.
    unseen = sorted(missing.elements(), reverse=True)[: None if k is None else max(k, EXACT_UP_TO + 1)]
    candidates = np.concatenate((gains[found], unseen))
    cosines = np.zeros((len(candidates), len(candidates)))
    cosines[: len(found), : len(found)] = _cosines(directions[found])
    best_order = _exact_best if len(candidates) <= EXACT_UP_TO else _greedy_best
    depth = len(candidates) if k is None else min(k, len(candidates))
    return float(reached) / best_order(candidates, cosines, depth, alpha)


def _worth(gains: Floats, cosines: Floats, alpha: float) -> Floats:
    """Return the gains that are left beside documents of these highest cosines."""
    return gains * (alpha + (1.0 - alpha) * (1.0 - cosines))


def _exact_best(gains: Floats, cosines: Floats, k: int, alpha: float) -> float:
    """Return the highest sum that any order of k documents reaches.

    What a document is worth depends on which documents stand above it, not on their order, so it is enough to
    know the best sum for each set of documents, from the smaller sets to the larger ones.
    """
    count = len(gains)
    highest = np.zeros((1 << count, count))
    for last in range(count):
        half = 1 << last
        np.maximum(highest[:half], cosines[last], out=highest[half : 2 * half])
    worth = _worth(gains, highest, alpha)
    best = np.zeros(1 << count)
    for discount, (sets, members, without) in zip(discounts(k), _sets_by_size(count), strict=False):
        best[sets] = (best[without] + discount * worth[without, members]).max(axis=1)
    return float(best[_sets_by_size(count)[k - 1][0]].max())


@cache
def _sets_by_size(count: int) -> list[tuple[Ints, Ints, Ints]]:
    """Return, for each size from 1: all sets of it as bit masks, their members, and the sets without each."""
    masks = np.arange(1 << count)
    bits = (masks[:, np.newaxis] >> np.arange(count)) & 1
    sizes = bits.sum(axis=1)
    grouped = []
    for size in range(1, count + 1):
        sets = masks[sizes == size]
        members = np.nonzero(bits[sets])[1].reshape(-1, size)
        grouped.append((sets, members, sets[:, np.newaxis] - (1 << members)))
    return grouped


def _greedy_best(gains: Floats, cosines: Floats, k: int, alpha: float) -> float:
    """Return the sum of taking, rank by rank, the document that is worth most beside those taken."""
    left, highest, total = gains.copy(), np.zeros(len(gains)), 0.0
    for discount in discounts(k):
        worth = _worth(left, highest, alpha)
        taken = int(worth.argmax())
        total += discount * worth[taken]
        left[taken] = 0.0
        np.maximum(highest, cosines[taken], out=highest)
    return float(total)


def _cosines(directions: Floats) -> Floats:
    """Return the cosine of each pair; opposite directions count as unrelated, 0."""
    return np.clip(directions @ directions.T, 0.0, 1.0)


def _directions(vectors: NDArray[Any]) -> Floats:
    """Return the vectors at length 1; a zero vector stays zero."""
    exact = vectors.astype(np.float64)
    if vectors.dtype != np.float32:  # whose squares always fit
        # In units of a power of 2 near a row's largest number no square overflows, nor do all vanish.
        _, exponents = np.frexp(np.abs(exact).max(axis=1, initial=0.0))
        exact /= np.ldexp(0.5, exponents)[:, np.newaxis]
    norms = np.sqrt(np.vecdot(exact, exact))
    return exact / np.where(norms > 0, norms, 1.0)[:, np.newaxis]

"""Discounted cumulative gain and its normalised form: grades count, and early ranks count more."""

from typing import Literal, TypeAlias

import numpy as np

from monitor.metrics.arrays import discounts, linear_gains, ratio
from monitor.metrics.batch import Batch, Floats, require
from monitor.metrics.registry import Need, metric

Gain: TypeAlias = Literal["linear", "exponential"]
Ideal: TypeAlias = Literal["all", "retrieved"]

HIGHEST_EXPONENT = 1000.0  # sums of higher powers of 2 would overflow to infinity, and their ratio to NaN

DCG_BUCKETS = (0.0, 0.5, 1.0, 2.0, 3.0, 5.0, 7.5, 10.0, 15.0, 20.0, 30.0, 50.0, 100.0)


@metric("ndcg", need=Need.JUDGMENTS)
def ndcg(batch: Batch, k: int | None, *, gain: Gain = "linear", ideal: Ideal = "all") -> Floats:
    """Normalised discounted cumulative gain: how near the order is to the best possible one.

    Definition: DCG of the first k ranks / DCG of the ideal order cut at k. The ideal order is that of all
    judgments of the query, or with `ideal=retrieved` of the retrieved documents alone.
    Range: 0 to 1; 1 is the ideal order.
    Edge cases: unjudged counts as grade 0, a negative grade too; an empty ranking or a query without a
    relevant judgment gives 0; a k beyond the list adds nothing.
    Reference: Järvelin and Kekäläinen 2002 in the form of Burges et al. 2005; trec_eval's ndcg and
    ndcg_cut.

    >>> from monitor.metrics import judged_batch, parse
    >>> parse("ndcg@5").score(judged_batch([[0, 1, 0, 1, 0]])).round(3)
    array([0.651])
    """
    if ideal == "retrieved":
        best = -np.sort(-_gains(require(batch.grades, "grades"), gain), axis=1)[:, :k]
    else:
        best = _gains(require(batch.ideal, "ideal")[:, :k], gain)
    return ratio(dcg(batch, k, gain=gain), _discounted(best))


@metric("dcg", need=Need.JUDGMENTS, bounds=(0.0, np.inf), buckets=DCG_BUCKETS)
def dcg(batch: Batch, k: int | None, *, gain: Gain = "linear") -> Floats:
    """Discounted cumulative gain: the sum of gains, each divided by log2(rank + 1).

    Definition: sum over the first k ranks of gain(grade) / log2(rank + 1); the gain is the grade itself, or
    2 ** grade - 1 with `gain=exponential`.
    Range: 0 upwards, without a common end: depends on grades and k.
    Edge cases: unjudged counts as grade 0, a negative grade too; an empty ranking gives 0.
    Reference: Järvelin and Kekäläinen 2002 in the form of Burges et al. 2005; scikit-learn's dcg_score.

    >>> from monitor.metrics import judged_batch, parse
    >>> parse("dcg@3").score(judged_batch([[3, None, 2]]))
    array([4.])
    """
    return _discounted(_gains(require(batch.grades, "grades")[:, :k], gain))


def _gains(grades: Floats, gain: Gain) -> Floats:
    gains = linear_gains(grades)
    if gain == "exponential":
        np.minimum(gains, HIGHEST_EXPONENT, out=gains)
        np.exp2(gains, out=gains)
        gains -= 1.0
    return gains


def _discounted(gains: Floats) -> Floats:
    total: Floats = gains @ discounts(gains.shape[1])
    return total

"""Metrics with a model of the reader who goes down the list and stops somewhere."""

from typing import Annotated

import numpy as np

from monitor.metrics.arrays import hits, ranks
from monitor.metrics.batch import Batch, Floats, require
from monitor.metrics.parameters import Interval
from monitor.metrics.registry import Need, metric

HIGHEST_MAX_GRADE = 1000.0  # 2 ** 1024 is not a float any more


@metric("rbp", need=Need.JUDGMENTS)
def rbp(batch: Batch, k: int | None, *, p: Annotated[float, Interval(0, 1, below=True)] = 0.8) -> Floats:
    """Rank-biased precision: what a reader gains who goes on to the next rank with probability p.

    Definition: (1 - p) * sum over the first k ranks with a relevant document of p ** (rank - 1).
    Range: 0 to 1; the first k ranks can give no more than 1 - p ** k.
    Edge cases: unjudged is not relevant; p = 0 looks at rank 1 alone; an empty ranking gives 0.
    Reference: Moffat and Zobel 2008, Rank-Biased Precision for Measurement of Retrieval Effectiveness.

    >>> from monitor.metrics import judged_batch, parse
    >>> parse("rbp(p=0.5)").score(judged_batch([[1, 0, 1]]))
    array([0.625])
    """
    found = hits(batch, k)
    weights = (1.0 - p) * p ** (ranks(found.shape[1]) - 1.0)
    scores: Floats = np.vecdot(found, weights)
    return scores


@metric("err", need=Need.JUDGMENTS)
def err(
    batch: Batch, k: int | None, *, max_grade: Annotated[float, Interval(0, HIGHEST_MAX_GRADE, above=True)]
) -> Floats:
    """Expected reciprocal rank at which a reader is satisfied who stops the sooner, the better the document.

    Definition: sum over the first k ranks of 1 / rank * R(rank) * product of 1 - R over the ranks above,
    with R = (2 ** grade - 1) / 2 ** max_grade; `max_grade`, the top of the grading scale, must be given.
    Range: 0 to 1; a document of the highest grade at rank 1 alone gives 1 - 2 ** -max_grade.
    Edge cases: a grade above `max_grade` counts as it; unjudged and negative count as 0; an empty ranking
    gives 0.
    Reference: Chapelle et al. 2009, Expected Reciprocal Rank for Graded Relevance.

    >>> from monitor.metrics import judged_batch, parse
    >>> parse("err(max_grade=1)@2").score(judged_batch([[1, 1]]))
    array([0.625])
    """
    grades = np.fmin(np.fmax(require(batch.grades, "grades")[:, :k], 0.0), max_grade)
    return _expected_reciprocal_rank(np.exp2(grades - max_grade) - 2.0**-max_grade)


@metric("err_given", need=Need.JUDGMENTS)
def err_given(batch: Batch, k: int | None) -> Floats:
    """Expected reciprocal rank where each grade is the probability itself that the document satisfies.

    Definition: sum over the first k ranks of 1 / rank * R(rank) * product of 1 - R over the ranks above,
    with R = the grade, such as a click or purchase rate.
    Range: 0 to 1; 1 is a document at rank 1 that satisfies for certain.
    Edge cases: a grade above 1 counts as 1; unjudged and negative count as 0; an empty ranking gives 0.
    Reference: Chapelle et al. 2009, Expected Reciprocal Rank for Graded Relevance, with R given.

    >>> from monitor.metrics import judged_batch, parse
    >>> parse("err_given@2").score(judged_batch([[0.5, 0.5]]))
    array([0.625])
    """
    return _expected_reciprocal_rank(np.fmin(np.fmax(require(batch.grades, "grades")[:, :k], 0.0), 1.0))


def _expected_reciprocal_rank(satisfied: Floats) -> Floats:
    reached = np.ones_like(satisfied)
    np.cumprod(1.0 - satisfied[:, :-1], axis=1, out=reached[:, 1:])
    scores: Floats = np.vecdot(satisfied * reached, 1.0 / ranks(satisfied.shape[1]))
    return scores

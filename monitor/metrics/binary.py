"""Metrics that ask only whether a document is relevant: its grade is above 0."""

import numpy as np

from monitor.metrics.arrays import counts, hits, ranks, ratio, reciprocal_rank, whether_any
from monitor.metrics.batch import Batch, Bools, Floats, require
from monitor.metrics.registry import Need, metric

RECALL_LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


@metric("mrr", need=Need.JUDGMENTS, aliases=("rr", "recip_rank"))
def mrr(batch: Batch, k: int | None) -> Floats:
    """Reciprocal rank of the first relevant document; its mean over impressions is the MRR.

    Definition: 1 / rank of the first relevant document within the first k, 0 if there is none.
    Range: 0 to 1; 1 is a relevant document at rank 1.
    Edge cases: unjudged is not relevant; an empty ranking or a query without a relevant judgment gives 0.
    Reference: Voorhees 1999 (TREC-8 question answering); trec_eval's recip_rank.

    >>> from monitor.metrics import judged_batch, parse
    >>> parse("mrr@10").score(judged_batch([[1], [0, 0, 1], [0]])).mean().round(3)
    np.float64(0.444)
    """
    return reciprocal_rank(hits(batch, k))


@metric("recall", need=Need.JUDGMENTS)
def recall(batch: Batch, k: int | None) -> Floats:
    """Share of the query's relevant documents that the first k ranks hold.

    Definition: relevant documents within the first k / all relevant judgments of the query, retrieved or
    not.
    Range: 0 to 1; with more than k relevant documents 1 is out of reach.
    Edge cases: an empty ranking or a query without a relevant judgment gives 0.
    Reference: trec_eval's recall, and set_recall without a cut-off.

    >>> from monitor.metrics import judged_batch, parse
    >>> parse("recall@2").score(judged_batch([[1, 0, 1]], [[1, 1, 1, 1]]))
    array([0.25])
    """
    return ratio(counts(hits(batch, k)), require(batch.relevant, "relevant"))


@metric("precision", need=Need.JUDGMENTS, aliases=("p",))
def precision(batch: Batch, k: int | None) -> Floats:
    """Share of the first k ranks that hold a relevant document.

    Definition: relevant documents within the first k / k, also where fewer were retrieved; without a
    cut-off relevant documents retrieved / documents retrieved.
    Range: 0 to 1; with fewer than k relevant documents 1 is out of reach.
    Edge cases: unjudged is not relevant; an empty ranking gives 0.
    Reference: trec_eval's P, and set_P without a cut-off.

    >>> from monitor.metrics import judged_batch, parse
    >>> parse("precision@5").score(judged_batch([[1, 0, 1]]))
    array([0.4])
    """
    found = counts(hits(batch, k))
    return ratio(found, batch.lengths) if k is None else found / k


@metric("f1", need=Need.JUDGMENTS)
def f1(batch: Batch, k: int | None) -> Floats:
    """Harmonic mean of precision and recall.

    Definition: 2 * P * R / (P + R) with precision and recall of the first k, which is 2 * relevant found /
    (k + relevant judged); without a cut-off the documents retrieved stand for k.
    Range: 0 to 1.
    Edge cases: 0 where precision and recall are both 0, so for an empty ranking too.
    Reference: van Rijsbergen 1979; trec_eval's set_F with its default weight, without a cut-off.

    >>> from monitor.metrics import judged_batch, parse
    >>> parse("f1@2").score(judged_batch([[1, 0]], [[1, 1]]))
    array([0.5])
    """
    shown = batch.lengths if k is None else k
    return ratio(2 * counts(hits(batch, k)), shown + require(batch.relevant, "relevant"))


@metric("ap", need=Need.JUDGMENTS, aliases=("map",))
def ap(batch: Batch, k: int | None) -> Floats:
    """Average precision; its mean over impressions is the MAP.

    Definition: sum of the precision at each rank within the first k that holds a relevant document / all
    relevant judgments of the query (not k).
    Range: 0 to 1; with more than k relevant documents 1 is out of reach.
    Edge cases: an empty ranking or a query without a relevant judgment gives 0.
    Reference: trec_eval's map and map_cut.

    >>> from monitor.metrics import judged_batch, parse
    >>> parse("ap").score(judged_batch([[1, 0, 1]], [[1, 1, 1]])).round(3)
    array([0.556])
    """
    found = hits(batch, k)
    return ratio(np.vecdot(precision_by_rank(found), found), require(batch.relevant, "relevant"))


@metric("success", need=Need.JUDGMENTS, aliases=("hit",))
def success(batch: Batch, k: int | None) -> Floats:
    """Whether the first k ranks hold any relevant document.

    Definition: 1 if a relevant document stands within the first k, otherwise 0.
    Range: 0 or 1; the mean is the share of impressions with a hit.
    Edge cases: unjudged is not relevant; an empty ranking or a query without a relevant judgment gives 0.
    Reference: trec_eval's success; also known as hit rate.

    >>> from monitor.metrics import judged_batch, parse
    >>> parse("success@2").score(judged_batch([[0, 1], [0, 0, 1]]))
    array([1., 0.])
    """
    return whether_any(hits(batch, k))


@metric("judged", need=Need.JUDGMENTS, of_relevance=False)
def judged(batch: Batch, k: int | None) -> Floats:
    """Share of the first k ranks that anyone has judged: how far the other judged metrics can be trusted.

    Definition: judged documents, of any grade, within the first k / documents retrieved within the first k.
    Range: 0 to 1; 1 means that nothing shown was unjudged.
    Edge cases: where fewer than k were retrieved it divides by what was retrieved; an empty ranking gives
    0.
    Reference: Judged@k of ir_measures, which divides in the same way.

    >>> from monitor.metrics import judged_batch, parse
    >>> parse("judged@10").score(judged_batch([[1, None, 0, None]]))
    array([0.5])
    """
    known = ~np.isnan(require(batch.grades, "grades")[:, :k])
    shown = batch.lengths if k is None else np.minimum(batch.lengths, k)
    return ratio(counts(known), shown)


@metric("r_precision", need=Need.JUDGMENTS)
def r_precision(batch: Batch) -> Floats:
    """Precision at R, where R is the number of relevant judgments of the query.

    Definition: relevant documents within the first R ranks / R.
    Range: 0 to 1; 1 is every relevant document ranked above all others.
    Edge cases: an empty ranking or a query without a relevant judgment gives 0.
    Reference: trec_eval's Rprec.

    >>> from monitor.metrics import judged_batch, parse
    >>> parse("r_precision").score(judged_batch([[1, 0, 1, 1]], [[1, 1, 1]])).round(3)
    array([0.667])
    """
    found = hits(batch, None)
    total = require(batch.relevant, "relevant")
    within = ranks(found.shape[1]) <= total[:, np.newaxis]
    return ratio(counts(found & within), total)


@metric("iprec11", need=Need.JUDGMENTS)
def iprec11(batch: Batch) -> Floats:
    """Interpolated precision, averaged over the recall levels 0.0, 0.1, ... 1.0.

    Definition: the interpolated precision at a recall level is the highest precision at any rank where
    recall is at least that level, 0 if there is none; the score is the mean over the 11 levels.
    Range: 0 to 1; 1 is every relevant document ranked above all others.
    Edge cases: a level asks for floor(level * relevant + 0.9) documents, in trec_eval's floating point; an
    empty ranking or a query without a relevant judgment gives 0.
    Reference: trec_eval's 11pt_avg, the mean of its iprec_at_recall.

    >>> from monitor.metrics import judged_batch, parse
    >>> parse("iprec11").score(judged_batch([[1, 0, 0, 1]])).round(3)
    array([0.773])
    """
    scores: Floats = interpolated_precision(batch).sum(axis=1) / len(RECALL_LEVELS)
    return scores


def interpolated_precision(batch: Batch) -> Floats:
    """Return the interpolated precision of each row at each of the recall levels, (n, 11)."""
    found = hits(batch, None)
    total = require(batch.relevant, "relevant")
    best_from_here = np.zeros((len(batch), found.shape[1] + 1))
    best_from_here[:, :-1] = np.maximum.accumulate(precision_by_rank(found)[:, ::-1], axis=1)[:, ::-1]
    so_far = np.cumsum(found, axis=1)
    rows = np.arange(len(batch))
    levels = np.empty((len(batch), len(RECALL_LEVELS)))
    for column, level in enumerate(RECALL_LEVELS):
        needed = np.floor(level * total + 0.9)
        levels[:, column] = best_from_here[rows, counts(so_far < needed[:, np.newaxis])]
    return levels


def precision_by_rank(found: Bools) -> Floats:
    """Return the precision at each rank, (n, depth), of rankings whose hits are True."""
    precisions: Floats = np.cumsum(found, axis=1) / ranks(found.shape[1])
    return precisions

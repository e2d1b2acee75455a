"""Metrics that count each identity once, however many of its documents are ranked."""

import numpy as np

from monitor.metrics.arrays import hits, ratio
from monitor.metrics.batch import Batch, Bools, Floats, require
from monitor.metrics.registry import Need, metric

COUNT_BUCKETS = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 50.0, 100.0)


@metric(
    "diversity_count",
    need=Need.JUDGMENTS,
    bounds=(0.0, np.inf),
    buckets=COUNT_BUCKETS,
    uses=("targets",),
    of_relevance=False,
)
def diversity_count(batch: Batch, k: int | None) -> Floats:
    """Number of different things within the first k ranks, near-duplicates counted once.

    Definition: distinct identities (the judgment's `target`, or else the document itself) among the first k
    documents, relevant or not.
    Range: 0 upwards, at most k.
    Edge cases: undefined, so not observed, where the query's judgments name no target; an unjudged document
    is a thing of its own; an empty ranking gives 0.
    Reference: none; a count of what is left when the ranking is projected on targets.

    >>> from monitor.metrics import judged_batch, parse
    >>> batch = judged_batch([[1, 1, 0, 1]], targets=[[7, 7, 8, 9]], relevant_targets=[3])
    >>> parse("diversity_count@3").score(batch), parse("diversity_count@4").score(batch)
    (array([2.]), array([3.]))
    """
    targets = require(batch.targets, "targets")[:, :k]
    return _distinct(batch, np.arange(targets.shape[1]) < batch.lengths[:, None])


@metric("dedup_recall", need=Need.JUDGMENTS, uses=("targets",))
def dedup_recall(batch: Batch, k: int | None) -> Floats:
    """Share of the different relevant things that the first k ranks hold, near-duplicates counted once.

    Definition: distinct identities (the judgment's `target`, or else the document itself) among the
    relevant documents within the first k / distinct identities among all relevant judgments of the query.
    Range: 0 to 1; with more than k identities 1 is out of reach.
    Edge cases: undefined, so not observed, where the query's judgments name no target; an empty ranking or
    a query without a relevant judgment gives 0.
    Reference: subtopic recall, Zhai, Cohen and Lafferty 2003, Beyond Independent Relevance.

    >>> from monitor.metrics import judged_batch, parse
    >>> batch = judged_batch([[1, 1, 0, 1]], targets=[[7, 7, 8, 9]], relevant_targets=[3])
    >>> parse("dedup_recall@4").score(batch).round(3)
    array([0.667])
    """
    found = _distinct(batch, hits(batch, k))
    return np.where(
        np.isnan(found), np.nan, ratio(found, require(batch.relevant_targets, "relevant_targets"))
    )


def _distinct(batch: Batch, chosen: Bools) -> Floats:
    """Return how many identities the chosen ranks of each row have; NaN where no target is named."""
    rows, _ = np.nonzero(chosen)
    identities = require(batch.targets, "targets")[:, : chosen.shape[1]][chosen]
    order = np.lexsort((identities, rows))
    rows, identities = rows[order], identities[order]
    first = np.ones(len(rows), dtype=np.bool_)
    first[1:] = (rows[1:] != rows[:-1]) | (identities[1:] != identities[:-1])
    distinct = np.bincount(rows[first], minlength=len(batch)).astype(np.float64)
    return np.where(require(batch.relevant_targets, "relevant_targets") < 0, np.nan, distinct)

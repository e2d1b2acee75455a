"""Curves of a ranking: precision by rank, and recall with precision by rank."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.evaluation.lists import Judged, Key, Results, batch_of_one, grades_of, keys_of
from monitor.metrics import Floats
from monitor.metrics.arrays import hits as relevant_ranks
from monitor.metrics.arrays import ratio
from monitor.metrics.binary import precision_by_rank


class RecallPrecision(NamedTuple):
    """Recall and precision after each rank."""

    recall: Floats
    precision: Floats


def precision_curve(hits: Sequence[float] | NDArray[Any]) -> Floats:
    """Return P@1, P@2, ... of a ranking, given for each rank whether (or how) it is relevant.

    >>> precision_curve([1, 0, 0, 1])
    array([1.        , 0.5       , 0.33333333, 0.5       ])
    """
    found = np.asarray(hits, dtype=np.float64) > 0
    if found.ndim != 1:
        raise ValueError(f"hits must be one number a rank, not {found.ndim}-dimensional")
    curve: Floats = precision_by_rank(found[np.newaxis])[0]
    return curve


def recall_precision_curve(results: Results[Key], relevant_docs: Judged[Key]) -> RecallPrecision:
    """Return recall and precision after each rank of a ranking.

    Recall divides by all relevant documents, ranked or not; it is 0 where none is known. An empty ranking has
    an empty curve.

    >>> recall_precision_curve(["a", "x", "b", "y"], {"a", "b"})
    RecallPrecision(recall=array([0.5, 0.5, 1. , 1. ]), precision=array([1.        , 0.5       , 0.66666667, 0.5       ]))
    """  # noqa: E501 - printed by numpy
    batch = batch_of_one(keys_of(results), grades_of(relevant_docs))
    found = relevant_ranks(batch, None)
    assert batch.relevant is not None
    so_far = np.cumsum(found, axis=1)[0]
    recall = ratio(so_far, np.broadcast_to(batch.relevant, so_far.shape))
    return RecallPrecision(recall, precision_by_rank(found)[0])

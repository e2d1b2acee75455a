"""The confusion matrix of a retrieved set: what was found, what was not, and what was rightly left out."""

import operator
from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from monitor.evaluation.lists import Judged, Key, grades_of, measure
from monitor.metrics import Batch, Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfusionMatrix:
    """How many documents of a collection are retrieved or not, and relevant or not, with the usual ratios."""

    tp: int
    """Retrieved and relevant."""
    fp: int
    """Retrieved and not relevant."""
    fn: int
    """Relevant and not retrieved."""
    tn: int
    """Neither."""
    precision: float
    """tp / (tp + fp); 0 where nothing was retrieved."""
    recall: float
    """tp / (tp + fn); 0 where nothing is relevant."""
    f1: float
    """Their harmonic mean; 0 where both are 0."""
    accuracy: float
    """(tp + tn) / all; near 1 for any search of a large collection, so rarely of use."""


def confusion_matrix(
    retrieved: Collection[Key], relevant: Judged[Key], collection_size: int
) -> ConfusionMatrix:
    """Compare a retrieved set with the relevant one; the order does not matter, and a key counts once.

    `relevant` may be keys or a grade by key (above 0 is relevant). A collection that is smaller than what was
    retrieved or is relevant cannot be, and is a ValueError; so is a size that is no whole number.

    >>> confusion_matrix(["d1", "d2", "d3"], {"d1", "d3", "d9"}, 10)
    ConfusionMatrix(tp=2, fp=1, fn=1, tn=6, precision=0.6666666666666666, recall=0.6666666666666666, \
f1=0.6666666666666666, accuracy=0.8)
    """
    if isinstance(retrieved, str | bytes):
        raise TypeError("retrieved must be a list or set of keys, not one text")
    found, wanted = set(retrieved), {key for key, grade in grades_of(relevant).items() if grade > 0}
    tp, seen = len(found & wanted), len(found | wanted)
    size = _whole(collection_size)
    if size < max(seen, 1):
        counted = f"{seen} documents are retrieved or relevant" if seen else "it must hold something"
        raise ValueError(f"a collection of {size} is too small: {counted}")
    fp, fn, tn = len(found) - tp, len(wanted) - tp, size - seen
    grades: Floats = np.repeat((1.0, 0.0), (tp, fp))[np.newaxis]
    batch = Batch(lengths=np.array([tp + fp]), grades=grades, relevant=np.array([tp + fn]))
    precision, recall, f1 = (
        float(measure(name, None).score(batch)[0]) for name in ("precision", "recall", "f1")
    )
    accuracy = (tp + tn) / size
    return ConfusionMatrix(
        tp=tp, fp=fp, fn=fn, tn=tn, precision=precision, recall=recall, f1=f1, accuracy=accuracy
    )


def _whole(collection_size: int) -> int:
    try:
        return operator.index(collection_size)
    except TypeError:
        raise ValueError(
            f"collection_size must be a whole number of documents, not {collection_size!r}"
        ) from None

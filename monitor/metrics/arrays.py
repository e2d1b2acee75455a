"""The small array steps that several kernels share."""

from functools import cache

import numpy as np

from monitor.metrics.batch import Batch, Bools, Floats, Ints, require

HIGHEST_GAIN = 1e300  # sums of larger ones would overflow to infinity, and their ratio to NaN


def hits(batch: Batch, k: int | None) -> Bools:
    """Return where the first k ranks hold a relevant document; padding and unjudged ranks are False."""
    return require(batch.grades, "grades")[:, :k] > 0


def counts(mask: Bools) -> Ints:
    """Return how many of each row are True."""
    found: Ints = np.count_nonzero(mask, axis=1)
    return found


def whether_any(mask: Bools) -> Floats:
    """Return 1 for each row with a True, 0 for the others."""
    return np.asarray(mask.any(axis=1), dtype=np.float64)


def reciprocal_rank(mask: Bools) -> Floats:
    """Return 1 / rank of the first True of each row; 0 where there is none."""
    if mask.shape[1] == 0:
        return np.zeros(len(mask))
    return np.where(mask.any(axis=1), 1.0 / (mask.argmax(axis=1) + 1), 0.0)


def ratio(part: Floats | Ints, whole: Floats | Ints) -> Floats:
    """Return part / whole; 0 where the whole is 0, which is trec_eval's convention."""
    return np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0)


def linear_gains(grades: Floats) -> Floats:
    """Return the grades as gains, in a new array; unjudged (NaN) and negative ones are 0."""
    gains = np.fmax(grades, 0.0)
    return np.minimum(gains, HIGHEST_GAIN, out=gains)


@cache
def ranks(depth: int) -> Ints:
    """Return 1, 2, ... depth."""
    numbers = np.arange(1, depth + 1, dtype=np.int64)
    numbers.flags.writeable = False
    return numbers


@cache
def discounts(depth: int) -> Floats:
    """Return 1 / log2(rank + 1) for the first ranks."""
    weights: Floats = 1.0 / np.log2(ranks(depth) + 1.0)
    weights.flags.writeable = False
    return weights

"""How far a statistic would move with other queries of the same kind: resampling with replacement."""

import inspect
import warnings
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from monitor.extras import need
from monitor.stats.samples import Floats, at_least_two, check_chances, rows_at_once

Method = Literal["percentile", "bca"]


class Interval(NamedTuple):
    """A confidence interval, and the statistic of the whole sample."""

    low: float
    high: float
    estimate: float


def bootstrap_interval(
    values: npt.ArrayLike,
    statistic: Callable[..., Any] = np.mean,
    *,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    method: Method = "percentile",
) -> Interval:
    """Return the bootstrap confidence interval of a statistic, as `scipy.stats.bootstrap` has it.

    `statistic` maps a list of numbers to a number; one that takes `axis`, as numpy's do, is given it and
    scores many resamples in one call. `percentile` takes the quantiles of the resampled statistics; `bca`
    corrects them for bias and skew, at the cost of n more calls on n - 1 values. Where BCa is not defined
    (all jackknife values are the same, or all resamples lie on one side of the estimate) the percentile
    interval is given. Values that are all equal give their statistic for both ends.

    >>> bootstrap_interval([0.1, 0.4, 0.5, 0.9, 0.6], seed=1).estimate
    0.5
    """
    sample = at_least_two(values)
    check_chances(confidence, resamples)
    if method not in ("percentile", "bca"):
        raise ValueError(f'method is "{method}"; it must be "percentile" or "bca"')
    estimate = float(statistic(sample, axis=-1) if _takes_axis(statistic) else statistic(sample))
    if not np.isfinite(estimate):
        raise ValueError(f"the statistic of the values is {estimate}; it must be a finite number")
    if np.ptp(sample) == 0:
        return Interval(estimate, estimate, estimate)
    found = _resampled(sample, statistic, confidence, resamples, seed, method)
    if not np.isfinite(found.bootstrap_distribution).all():
        raise ValueError("the statistic of some resamples is not a finite number; use one that always is")
    ends = found.confidence_interval
    if not np.isfinite([ends.low, ends.high]).all():
        ends = percentile_ends(found.bootstrap_distribution, confidence)
    return Interval(float(ends[0]), float(ends[1]), estimate)


def resampled_means(sample: Floats, resamples: int, seed: int) -> Floats:
    """Return the mean of each of many resamples of a checked sample."""
    found = _resampled(sample, np.mean, 0.95, resamples, seed, "percentile")
    return np.asarray(found.bootstrap_distribution, dtype=np.float64)


def percentile_ends(distribution: Floats, confidence: float) -> tuple[float, float]:
    """Return the quantiles that leave equal tails."""
    tail = (1 - confidence) / 2
    low, high = np.quantile(distribution, [tail, 1 - tail])
    return float(low), float(high)


def _takes_axis(statistic: Callable[..., Any]) -> bool:
    try:
        return "axis" in inspect.signature(statistic).parameters
    except ValueError:  # a function of C that does not tell: none of numpy's
        return False


def _resampled(
    sample: Floats,
    statistic: Callable[..., Any],
    confidence: float,
    resamples: int,
    seed: int,
    method: Method,
) -> Any:
    stats = need("scipy.stats", "the bootstrap")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a degenerate BCa interval is NaN: seen by that
        return stats.bootstrap(
            (sample,),
            statistic,
            vectorized=_takes_axis(statistic),
            n_resamples=resamples,
            batch=rows_at_once(len(sample)),
            confidence_level=confidence,
            method="BCa" if method == "bca" else "percentile",
            random_state=np.random.default_rng(seed),
        )

"""Whether a system differs from its baseline on the same queries: four paired, two-sided tests.

Every test tells the mean difference, system - baseline, and an interval of that mean, so that their results
stand in one table. Callers drop pairs with an undefined value: NaN is refused, and none comes out.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from monitor.extras import need
from monitor.stats.bootstrap import percentile_ends, resampled_means
from monitor.stats.samples import Floats, Pairs, check_chances, rows_at_once

SLACK = 100 * np.finfo(np.float64).eps  # sums in another order are the same sum


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What a test says of a system and its baseline.

    `effect_size` is Cohen's d of the paired differences, also called d_z: their mean over their standard
    deviation (n - 1). Differences that are all 0 give p 1, effect 0, statistic 0 and the interval [0, 0].
    Differences that are all equal but not 0 have no deviation to divide by: the effect size, and t, are None,
    and the interval is the difference itself.
    """

    test: str
    baseline_mean: float
    system_mean: float
    difference: float
    low: float
    high: float
    statistic: float | None
    p_value: float
    effect_size: float | None
    confidence: float
    n: int


def paired_t(
    baseline: npt.ArrayLike,
    system: npt.ArrayLike,
    *,
    confidence: float = 0.95,
    seed: int = 0,  # noqa: ARG001 - all tests are called alike
) -> Comparison:
    """Student's t test of the paired differences, as `scipy.stats.ttest_rel`, with its interval.

    Where all differences are equal and not 0, t is infinite and scipy's p is 0, even for two queries. Here p
    is then 2 / 2^n, the smallest that n differences get from the permutation test.

    >>> result = paired_t([0.2, 0.4, 0.6], [0.3, 0.7, 0.8])
    >>> round(result.difference, 3), round(result.p_value, 3), round(result.effect_size, 3)
    (0.2, 0.074, 2.0)
    """
    check_chances(confidence)
    pairs = Pairs.of(baseline, system)
    if pairs.constant:
        t = None if pairs.mean else 0.0
        return _comparison("paired_t", pairs, pairs.mean, pairs.mean, t, _smallest_p(pairs), confidence)
    found = need("scipy.stats", "the paired t test").ttest_1samp(pairs.differences, 0.0)
    low, high = found.confidence_interval(confidence)
    return _comparison("paired_t", pairs, low, high, float(found.statistic), found.pvalue, confidence)


def wilcoxon(
    baseline: npt.ArrayLike,
    system: npt.ArrayLike,
    *,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Wilcoxon's signed rank test, as `scipy.stats.wilcoxon`: differences of 0 are left out of the ranks.

    The statistic is the smaller of the two rank sums; p is exact for few queries without ties and normal
    otherwise, as scipy decides. Differences that are apart by rounding only are ties. The interval is the
    percentile bootstrap's, of the mean difference: the test's own (Hodges and Lehmann's pseudo-median)
    is of another number than the difference beside it, and need not contain that.

    >>> wilcoxon([1, 2, 3, 4, 5, 6], [2, 4, 6, 8, 10, 12]).p_value
    0.03125
    """
    check_chances(confidence, resamples)
    pairs = Pairs.of(baseline, system)
    if not pairs.differences.any():
        return _comparison("wilcoxon", pairs, 0.0, 0.0, 0.0, 1.0, confidence)
    found = need("scipy.stats", "the Wilcoxon test").wilcoxon(pairs.differences)
    low, high = _bootstrap_ends(pairs, confidence, resamples, seed)
    return _comparison("wilcoxon", pairs, low, high, float(found.statistic), found.pvalue, confidence)


def bootstrap_test(
    baseline: npt.ArrayLike,
    system: npt.ArrayLike,
    *,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Bootstrap test of the mean difference, by the shift method (Smucker, Allan and Carterette 2007).

    The differences are resampled with replacement. p is the share of resampled means that lie at least as far
    from the mean difference as that lies from 0; the sample counts as one of them, so that p is never 0. The
    interval is the percentile interval of the same resamples; the statistic is the difference. Where all
    differences are equal and not 0, p is at least 2 / 2^n, as for the t test.

    >>> bootstrap_test([0.1, 0.4, 0.3, 0.2], [0.2, 0.4, 0.5, 0.2], seed=7).n
    4
    """
    check_chances(confidence, resamples)
    pairs = Pairs.of(baseline, system)
    mean = pairs.mean
    if pairs.constant:
        p = max(_smallest_p(pairs), 1 / (resamples + 1))
        return _comparison("bootstrap", pairs, mean, mean, pairs.scaled(mean), p, confidence)
    means = resampled_means(pairs.differences, resamples, seed)
    beyond = np.count_nonzero(np.abs(means - mean) >= abs(mean) * (1 - SLACK))
    low, high = percentile_ends(means, confidence)
    p = (1 + beyond) / (resamples + 1)
    return _comparison("bootstrap", pairs, low, high, pairs.scaled(mean), p, confidence)


def permutation_test(
    baseline: npt.ArrayLike,
    system: npt.ArrayLike,
    *,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Fisher's randomisation test of the mean difference: under the null, each pair could be the other way.

    Where 2^n ways are at most `resamples` all are counted and p is exact; otherwise that many are drawn and
    the sample counts as one of them, so that p is never 0. The interval is the percentile bootstrap's, of
    the mean difference; the statistic is the difference.

    >>> permutation_test([1, 2, 3, 4], [2, 4, 6, 8]).p_value
    0.125
    """
    check_chances(confidence, resamples)
    pairs = Pairs.of(baseline, system)
    mean = pairs.mean
    beyond, drawn = _sign_flips_beyond(pairs.differences, resamples, seed)
    low, high = _bootstrap_ends(pairs, confidence, resamples, seed)
    return _comparison("permutation", pairs, low, high, pairs.scaled(mean), beyond / drawn, confidence)


TESTS: dict[str, Callable[..., Comparison]] = {
    "paired_t": paired_t,
    "wilcoxon": wilcoxon,
    "bootstrap": bootstrap_test,
    "permutation": permutation_test,
}
"""The tests by name; each takes `(baseline, system, *, confidence, seed)`."""


def _comparison(
    test: str, pairs: Pairs, low: float, high: float, statistic: float | None, p: float, confidence: float
) -> Comparison:
    if pairs.constant:
        effect = None if pairs.mean else 0.0
    else:
        effect = pairs.mean / float(pairs.differences.std(ddof=1))
    return Comparison(
        test=test,
        baseline_mean=pairs.baseline_mean,
        system_mean=pairs.system_mean,
        difference=pairs.scaled(pairs.mean),
        low=pairs.scaled(low),
        high=pairs.scaled(high),
        statistic=statistic,
        p_value=min(float(p), 1.0),
        effect_size=effect,
        confidence=confidence,
        n=len(pairs.differences),
    )


def _smallest_p(pairs: Pairs) -> float:
    """Return the p of differences that are all equal: 1 if they are 0, else what n of one sign can show."""
    return 2.0 ** (1 - len(pairs.differences)) if pairs.mean else 1.0


def _bootstrap_ends(pairs: Pairs, confidence: float, resamples: int, seed: int) -> tuple[float, float]:
    if pairs.constant:
        return pairs.mean, pairs.mean
    return percentile_ends(resampled_means(pairs.differences, resamples, seed), confidence)


def _sign_flips_beyond(differences: Floats, resamples: int, seed: int) -> tuple[int, int]:
    """Return how many ways to flip signs give a mean at least as far from 0, and of how many ways."""
    n = len(differences)
    total = float(differences.sum())
    least = abs(total) * (1 - SLACK)
    if n < 63 and 2**n <= resamples:
        ways = np.arange(2**n, dtype=np.int64)
        flipped = np.array([(ways >> i) & 1 for i in range(n)], dtype=np.float64)
        return int(np.count_nonzero(np.abs(total - 2 * (differences @ flipped)) >= least)), 2**n
    rng = np.random.default_rng(seed)
    beyond, left, most = 0, resamples, rows_at_once(n)
    while left:
        rows = min(left, most)
        bits = np.unpackbits(rng.integers(0, 256, size=(rows, -(-n // 8)), dtype=np.uint8), axis=1, count=n)
        beyond += int(np.count_nonzero(np.abs(total - 2 * (bits @ differences)) >= least))
        left -= rows
    return 1 + beyond, 1 + resamples

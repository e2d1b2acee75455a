"""The statistics against scipy, scikit-learn, krippendorff and plain Python, and by simulation."""

import math
import warnings

import krippendorff
import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from monitor.stats import (
    TESTS,
    bootstrap_interval,
    bootstrap_test,
    cohen_kappa,
    holm,
    krippendorff_alpha,
    paired_t,
    permutation_test,
    wilcoxon,
)


def scores(seed, n, digits=None, lift=0.05):
    """Paired scores in [0, 1]; fewer digits make ties and zeros."""
    rng = np.random.default_rng(seed)
    baseline = rng.beta(2, 2, n)
    system = np.clip(baseline + rng.normal(lift, 0.15, n), 0, 1)
    if digits is not None:  # in steps of 1/16, so that differences have no rounding and scipy sees the ties
        baseline, system = np.round(baseline * digits) / digits, np.round(system * digits) / digits
    return baseline, system


PAIRS = [
    scores(seed, n, digits, lift)
    for seed, n in enumerate([2, 3, 5, 9, 13, 14, 30, 50, 51, 200, 1000])
    for digits in (None, 16, 4)
    for lift in (0.0, 0.05, 0.9)
]
UNEQUAL = [pair for pair in PAIRS if np.ptp(pair[1] - pair[0]) > 0]
"""scipy has no t where all differences are the same."""


def test_the_cases_have_ties_zeros_and_tiny_p_values():
    differences = [system - baseline for baseline, system in UNEQUAL]
    assert any((each == 0).any() for each in differences)
    assert any(len(np.unique(np.abs(each))) < len(each) for each in differences)
    assert min(paired_t(*pair).p_value for pair in UNEQUAL) < 1e-100
    assert len(UNEQUAL) > 80


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.999])
def test_the_t_test_is_scipy_s(confidence):
    for baseline, system in UNEQUAL:
        expected = stats.ttest_rel(system, baseline)
        low, high = expected.confidence_interval(confidence)
        result = paired_t(baseline, system, confidence=confidence)
        assert result.statistic == pytest.approx(expected.statistic, rel=1e-9, abs=1e-12)
        assert result.p_value == pytest.approx(expected.pvalue, rel=1e-9, abs=0)
        assert (result.low, result.high) == pytest.approx((low, high), rel=1e-9, abs=1e-12)


def test_cohen_s_d_is_the_mean_over_the_deviation_of_the_differences():
    for baseline, system in UNEQUAL:
        differences = [b - a for a, b in zip(baseline.tolist(), system.tolist(), strict=True)]
        mean = math.fsum(differences) / len(differences)
        deviation = math.sqrt(math.fsum((d - mean) ** 2 for d in differences) / (len(differences) - 1))
        assert paired_t(baseline, system).effect_size == pytest.approx(mean / deviation, rel=1e-9, abs=1e-12)


def test_the_wilcoxon_test_is_scipy_s():
    few_with_ties = [scores(1, 9, 4), scores(2, 5, 4), scores(3, 11, 16)]  # scipy takes its time for these
    others = [pair for pair in PAIRS if len(pair[0]) > 13 or pair[0][0] * 16 % 1]
    for baseline, system in few_with_ties + others:
        assert (baseline != system).any()
        expected = stats.wilcoxon(system, baseline)
        result = wilcoxon(baseline, system, resamples=10)
        assert (result.statistic, result.p_value) == pytest.approx(
            (expected.statistic, expected.pvalue), rel=1e-12, abs=0
        )


def test_the_exact_permutation_test_is_scipy_s():
    for baseline, system in PAIRS:
        if len(baseline) <= 9:
            expected = stats.permutation_test(
                (system - baseline,), np.mean, permutation_type="samples", vectorized=True, n_resamples=np.inf
            )
            result = permutation_test(baseline, system)
            assert result.p_value == pytest.approx(expected.pvalue, rel=1e-12)
            assert result.statistic == pytest.approx(expected.statistic, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_drawn_permutation_test_is_scipy_s_but_for_chance(seed):
    baseline, system = scores(seed, 40, lift=0.03)
    expected = stats.permutation_test(
        (system - baseline,),
        np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        random_state=np.random.default_rng(9),
    )
    result = permutation_test(baseline, system, resamples=20_000)
    assert result.p_value == pytest.approx(expected.pvalue, abs=5 * math.sqrt(0.25 / 20_000))


STATISTICS = [np.mean, np.median, np.std, lambda values: float(np.mean(values > 0.5))]


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("statistic", STATISTICS, ids=["mean", "median", "deviation", "share"])
def test_the_bootstrap_interval_is_scipy_s_but_for_chance(statistic, method):
    values = scores(1, 50)[0]
    expected = stats.bootstrap(
        (values,),
        statistic,
        n_resamples=4000,
        method={"percentile": "percentile", "bca": "BCa"}[method],
        random_state=np.random.default_rng(77),
    )
    result = bootstrap_interval(values, statistic, method=method, resamples=4000)
    spread = expected.standard_error
    assert result.low == pytest.approx(expected.confidence_interval.low, abs=0.4 * spread)
    assert result.high == pytest.approx(expected.confidence_interval.high, abs=0.4 * spread)


def test_the_bootstrap_of_a_mean_has_the_spread_that_is_known_of_it():
    """Over all resamples, the mean of n values has the deviation of the values over the root of n."""
    values = scores(4, 300)[0]
    result = bootstrap_interval(values, confidence=0.6826895, resamples=20_000)
    assert (result.high - result.low) / 2 == pytest.approx(values.std() / math.sqrt(300), rel=0.03)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_a_95_percent_interval_covers_the_true_mean_about_95_times_in_100(method):
    rng = np.random.default_rng(8)
    covered = 0
    for seed in range(400):
        found = bootstrap_interval(rng.beta(2, 4, 40), method=method, resamples=400, seed=seed)
        covered += found.low <= 1 / 3 <= found.high
    assert 0.9 < covered / 400 < 0.98


@pytest.mark.parametrize("name", TESTS)
def test_a_test_finds_a_difference_5_times_in_100_where_there_is_none_and_nearly_always_a_large_one(name):
    options = {} if name == "paired_t" else {"resamples": 400}
    rng = np.random.default_rng(13)
    alarms = found = 0
    for seed in range(400):
        baseline, system = rng.beta(2, 2, (2, 30))
        alarms += TESTS[name](baseline, system, seed=seed, **options).p_value < 0.05
        found += TESTS[name](baseline, system + 0.3, seed=seed, **options).p_value < 0.05
    assert 0.02 < alarms / 400 < 0.09
    assert found / 400 > 0.98


@pytest.mark.parametrize("seed", range(3))
def test_the_tests_agree_where_differences_are_normal(seed):
    rng = np.random.default_rng(seed)
    baseline = rng.random(200)
    system = baseline + rng.normal(0.01, 0.1, 200)
    expected = paired_t(baseline, system)
    for test in (bootstrap_test, permutation_test):
        result = test(baseline, system)
        assert result.p_value == pytest.approx(expected.p_value, abs=0.03)
        assert (result.low, result.high) == pytest.approx((expected.low, expected.high), abs=0.002)


def plain_holm(p_values):
    """Closed testing by Bonferroni: the largest p of all sets of hypotheses that hold this one."""
    n = len(p_values)
    sets = [[p for i, p in enumerate(p_values) if chosen >> i & 1] for chosen in range(1, 2**n)]
    return [
        max(
            min(1.0, len(members) * min(members))
            for chosen, members in enumerate(sets, start=1)
            if chosen >> i & 1
        )
        for i in range(n)
    ]


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_holm_s_correction_is_closed_testing_by_bonferroni(n):
    rng = np.random.default_rng(n)
    for draw in (rng.random, lambda size: rng.random(size) ** 4, lambda size: rng.integers(0, 4, size) / 50):
        for _ in range(20):
            p_values = draw(n).tolist()
            assert holm(p_values) == pytest.approx(plain_holm(p_values), rel=1e-12)


WEIGHTS = [None, "linear", "quadratic"]


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("categories", [2, 3, 5, 11])
def test_kappa_is_scikit_learn_s(categories, weights):
    rng = np.random.default_rng(categories)
    for n in [2, 3, 10, 100, 1000]:
        a = rng.integers(0, categories, n)
        b = np.where(rng.random(n) < 0.6, a, rng.integers(0, categories, n))
        for left, right in [(a, b), (b, a), (a, a), (a * 3 - 1, b * 3 - 1)]:
            if len(np.union1d(left, right)) > 1:
                expected = cohen_kappa_score(left, right, weights=weights)
                assert cohen_kappa(left, right, weights=weights) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_kappa_on_a_given_scale_is_scikit_learn_s_with_labels(weights):
    a, b = [0, 0, 4, 3, 1], [0, 1, 4, 4, 0]
    expected = cohen_kappa_score(a, b, weights=weights, labels=range(5))
    assert cohen_kappa(a, b, weights=weights, categories=range(5)) == pytest.approx(expected, abs=1e-12)


def test_kappa_of_one_grade_is_1_where_scikit_learn_has_no_number():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert math.isnan(cohen_kappa_score([1, 1], [1, 1]))
    assert cohen_kappa([1, 1], [1, 1]) == 1.0


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("missing", [0.0, 0.3, 0.7])
def test_alpha_is_the_krippendorff_package_s(level, missing):
    rng = np.random.default_rng(int(missing * 10))
    compared = 0
    for assessors, items, grades in [(2, 2, 2), (2, 30, 4), (3, 50, 5), (7, 20, 3), (20, 200, 11)]:
        for step in (1.0, 0.25):
            truth = rng.integers(0, grades, items)
            noise = rng.integers(-1, 2, (assessors, items))
            ratings = np.clip(truth + noise, -1, grades) * step
            ratings[rng.random(ratings.shape) < missing] = np.nan
            several = ratings[:, (~np.isnan(ratings)).sum(axis=0) > 1]
            if len(np.unique(several[~np.isnan(several)])) > 1:
                expected = krippendorff.alpha(several, level_of_measurement=level)
                assert krippendorff_alpha(ratings, level=level) == pytest.approx(expected, abs=1e-12)
                compared += 1
    assert compared >= 8


def test_alpha_of_one_grade_is_1_where_the_krippendorff_package_refuses():
    with pytest.raises(ValueError, match="more than one value"):
        krippendorff.alpha([[1, 1], [1, 1]], level_of_measurement="nominal")
    assert krippendorff_alpha([[1, 1], [1, 1]]) == 1.0

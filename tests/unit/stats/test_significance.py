"""The four paired tests: worked values, differences without variance, and what they refuse."""

import dataclasses
import math
import sys
import tracemalloc
from itertools import product

import numpy as np
import pytest

from monitor.extras import MissingExtra
from monitor.stats import TESTS, bootstrap_test, paired_t, permutation_test, wilcoxon

SLEEP = (  # Student (1908): hours of sleep gained by ten patients with two drugs
    [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
    [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
)
# Fisher (1935): differences in height of Darwin's 15 pairs of maize, in eighths of an inch
MAIZE = ([0] * 15, [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48])


def numbers_of(result):
    return [value for value in dataclasses.astuple(result) if isinstance(value, float)]


def test_the_t_test_gives_student_s_values():
    result = paired_t(*SLEEP)
    assert result.test == "paired_t"
    assert (result.baseline_mean, result.system_mean) == pytest.approx((0.75, 2.33))
    assert result.difference == pytest.approx(1.58)
    assert result.statistic == pytest.approx(4.0621, abs=5e-5)
    assert result.p_value == pytest.approx(0.002833, abs=5e-7)
    assert (result.low, result.high) == pytest.approx((0.7001142, 2.4598858), abs=5e-8)
    assert result.effect_size == pytest.approx(4.0621277 / math.sqrt(10))
    assert (result.n, result.confidence) == (10, 0.95)


def test_more_confidence_makes_a_wider_interval():
    wide, narrow = paired_t(*SLEEP, confidence=0.99), paired_t(*SLEEP, confidence=0.9)
    assert wide.low < narrow.low < narrow.difference < narrow.high < wide.high


def test_the_wilcoxon_test_gives_the_textbook_value_for_darwin_s_maize():
    result = wilcoxon(*MAIZE)
    assert (result.statistic, result.p_value) == (24.0, 0.041259765625)


def test_the_permutation_test_gives_fisher_s_exact_count_for_darwin_s_maize():
    assert permutation_test(*MAIZE, resamples=2**15).p_value == 2 * 863 / 2**15


def test_the_permutation_test_draws_where_there_are_more_ways_than_resamples():
    drawn = permutation_test(*MAIZE, resamples=2**15 - 1)
    assert drawn.p_value != 2 * 863 / 2**15
    assert drawn.p_value == pytest.approx(2 * 863 / 2**15, abs=0.006)


def test_the_bootstrap_test_gives_the_share_of_all_resamples_for_few_values():
    differences = np.array([0.3, -0.1, 0.4, 0.2])
    means = np.array([np.mean(drawn) for drawn in product(differences, repeat=4)])
    exact = np.mean(np.abs(means - differences.mean()) >= differences.mean() - 1e-12)
    result = bootstrap_test(np.zeros(4), differences, resamples=40_000)
    assert result.p_value == pytest.approx(exact, abs=0.005)
    assert (result.low, result.high) == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.001)
    assert result.statistic == result.difference == pytest.approx(0.2)


def test_the_bootstrap_test_never_says_that_p_is_0():
    rng = np.random.default_rng(0)
    assert bootstrap_test(np.zeros(50), 10 + rng.random(50), resamples=999).p_value == 1 / 1000
    assert permutation_test(np.zeros(50), 10 + rng.random(50), resamples=999).p_value == 1 / 1000


@pytest.mark.parametrize("name", TESTS)
def test_a_system_that_is_its_baseline_has_p_1_and_no_effect(name):
    result = TESTS[name]([0.1, 0.5, 0.9], [0.1, 0.5, 0.9], confidence=0.95, seed=1)
    assert (result.test, result.p_value, result.n) == (name, 1.0, 3)
    assert (result.difference, result.low, result.high, result.statistic, result.effect_size) == (0,) * 5


@pytest.mark.parametrize("name", TESTS)
def test_differences_that_are_0_but_for_rounding_are_0(name):
    result = TESTS[name]([0.3, 0.6, 0.9], [0.1 + 0.2, 0.2 * 3, 0.3 * 3])
    assert (result.p_value, result.difference, result.effect_size) == (1.0, 0.0, 0.0)
    assert math.copysign(1, result.difference) == 1


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("n", [2, 3, 8])
def test_the_same_difference_everywhere_has_no_effect_size_and_the_p_of_n_equal_signs(name, n):
    baseline = np.arange(n) / 10
    result = TESTS[name](baseline, baseline + 0.1)
    assert result.p_value == pytest.approx(2 / 2**n)
    assert result.effect_size is None
    assert result.low == result.difference == result.high == pytest.approx(0.1)
    assert result.statistic is None if name == "paired_t" else result.statistic is not None


def test_the_same_difference_of_many_queries_is_never_beyond_what_was_drawn():
    zeros, ones = np.zeros(2000), np.ones(2000)
    assert paired_t(zeros, ones).p_value == 0.0  # 2 / 2^2000 is no float above 0
    assert bootstrap_test(zeros, ones, resamples=999).p_value == 1 / 1000
    assert permutation_test(zeros, ones, resamples=999).p_value == 1 / 1000


def test_ranks_that_differ_by_rounding_only_are_tied():
    in_tenths = np.array([2, -2, 4, -6, 8, 2, 10])
    baseline = np.array([4, 4, 2, 8, 0, 2, 0])
    exact = wilcoxon(baseline, baseline + in_tenths)
    rounded = wilcoxon(baseline / 10, (baseline + in_tenths) / 10)
    assert (rounded.statistic, rounded.p_value) == (exact.statistic, exact.p_value)


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("scale", [1e289, 1e150, 1e-150, 5e-320])
def test_scores_of_any_size_give_numbers(name, scale):
    plain = TESTS[name](*SLEEP)
    result = TESTS[name](*(np.array(values) * scale for values in SLEEP))
    assert all(map(math.isfinite, numbers_of(result)))
    if scale > 1e-300:  # below, scores themselves are rounded
        assert result.p_value == pytest.approx(plain.p_value)
        assert (result.difference, result.low) == pytest.approx((plain.difference * scale, plain.low * scale))


@pytest.mark.parametrize("name", TESTS)
def test_two_queries_are_enough(name):
    result = TESTS[name]([0.0, 0.5], [0.5, 0.75])
    assert all(map(math.isfinite, numbers_of(result)))
    assert result.p_value >= 0.2 if name != "bootstrap" else result.p_value > 0


@pytest.mark.parametrize("name", ["wilcoxon", "bootstrap", "permutation"])
def test_a_seed_repeats_what_is_drawn_and_another_draws_anew(name):
    rng = np.random.default_rng(5)
    pairs = rng.random(40), rng.random(40)
    first, again, other = (TESTS[name](*pairs, seed=seed) for seed in (3, 3, 4))
    assert first == again
    assert (first.low, first.high) != (other.low, other.high)
    assert (first.low, first.high) == pytest.approx((other.low, other.high), abs=0.01)


@pytest.mark.parametrize("name", ["bootstrap", "permutation"])
def test_resampling_many_queries_keeps_memory_bounded(name):
    rng = np.random.default_rng(0)
    pairs = rng.random(100_000), rng.random(100_000)
    TESTS[name](pairs[0][:20], pairs[1][:20])  # what is imported stays out
    tracemalloc.start()
    TESTS[name](*pairs, resamples=400)  # 320 MB at once
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 150e6


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize(
    ("baseline", "system", "message"),
    [
        ([1, 2, 3], [1, 2], "baseline has 3 values and system 2; give one pair for each query"),
        ([1], [2], "baseline has 1 of the 2 values that are needed at least"),
        ([], [], "baseline has 0 of the 2 values that are needed at least"),
        ([1, math.nan], [1, 2], "baseline[1] is nan; only finite numbers below 1e+290 in size are allowed"),
        ([1, 2], [math.inf, 2], "system[0] is inf; only finite numbers below 1e+290 in size are allowed"),
        ([[1, 2]], [[1, 2]], "baseline must be a flat list of numbers, not an array of shape (1, 2)"),
    ],
)
def test_what_cannot_be_paired_is_refused_in_one_line(name, baseline, system, message):
    with pytest.raises(ValueError) as refused:
        TESTS[name](baseline, system)
    assert str(refused.value) == message


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("confidence", [0, 1, 95, math.nan])
def test_a_confidence_outside_0_to_1_is_refused(name, confidence):
    with pytest.raises(ValueError, match=f"confidence is {confidence}; it must be above 0 and below 1"):
        TESTS[name](*SLEEP, confidence=confidence)


@pytest.mark.parametrize("name", TESTS)
def test_without_scipy_a_test_says_how_to_get_it(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(MissingExtra, match=r'needs scipy: pip install "ranking-monitor\[eval\]"'):
        TESTS[name](*SLEEP)


@pytest.mark.parametrize("test", [wilcoxon, bootstrap_test, permutation_test])
def test_no_resamples_are_refused(test):
    with pytest.raises(ValueError, match="resamples is 0; it must be 1 or more"):
        test(*SLEEP, resamples=0)

"""The bootstrap interval: of any statistic, in bounded memory, and never NaN."""

import math
import tracemalloc

import numpy as np
import pytest

from monitor.stats import bootstrap_interval

VALUES = np.random.default_rng(2).exponential(size=60)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_the_interval_is_around_the_statistic_of_the_whole_sample(method):
    found = bootstrap_interval(VALUES, method=method)
    assert found.estimate == pytest.approx(VALUES.mean())
    assert found.low < found.estimate < found.high


def test_bca_moves_the_interval_of_a_skewed_sample_towards_its_long_tail():
    percentile, bca = (bootstrap_interval(VALUES, method=method) for method in ("percentile", "bca"))
    assert bca.low > percentile.low
    assert bca.high > percentile.high


def test_a_statistic_without_an_axis_gives_the_same_interval_as_one_with_it():
    with_axis = bootstrap_interval(VALUES, np.median, resamples=500)
    without = bootstrap_interval(VALUES, lambda values: float(np.median(values)), resamples=500)
    assert with_axis == without


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_a_statistic_may_need_its_axis(method):
    def spread(values, axis):
        return np.max(values, axis=axis) - np.min(values, axis=axis)

    found = bootstrap_interval(VALUES, spread, resamples=200, method=method)
    assert found == bootstrap_interval(
        VALUES, lambda values: spread(values, -1), resamples=200, method=method
    )
    assert found.estimate == np.ptp(VALUES)


def test_a_statistic_may_be_a_builtin_that_tells_nothing_of_what_it_takes():
    assert bootstrap_interval(VALUES, max, resamples=200) == bootstrap_interval(VALUES, np.max, resamples=200)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_equal_values_have_an_interval_without_width(method):
    assert bootstrap_interval([0.4] * 5, method=method) == (pytest.approx(0.4),) * 3


def test_bca_falls_back_to_percentiles_where_it_is_not_defined():
    """The maximum of no resample is above that of the sample."""
    values = [1.0, 2.0, 3.0, 9.0, 9.0]
    assert bootstrap_interval(values, np.max, method="bca") == bootstrap_interval(values, np.max)


def test_a_seed_repeats_the_interval_and_another_draws_anew():
    assert bootstrap_interval(VALUES, seed=1) == bootstrap_interval(VALUES, seed=1)
    assert bootstrap_interval(VALUES, seed=1) != bootstrap_interval(VALUES, seed=2)


def test_more_confidence_makes_a_wider_interval():
    wide, narrow = (bootstrap_interval(VALUES, confidence=confidence) for confidence in (0.99, 0.8))
    assert wide.low < narrow.low
    assert narrow.high < wide.high


def test_resampling_many_values_keeps_memory_bounded():
    values = np.random.default_rng(0).random(100_000)
    bootstrap_interval(values[:20], resamples=10)
    tracemalloc.start()
    bootstrap_interval(values, resamples=400)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 150e6


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([1], {}, "values has 1 of the 2 values that are needed at least"),
        ([1, math.nan], {}, "values[1] is nan; only finite numbers below 1e+290 in size are allowed"),
        ([1, 2], {"method": "basic"}, 'method is "basic"; it must be "percentile" or "bca"'),
        ([1, 2], {"confidence": 95}, "confidence is 95; it must be above 0 and below 1, as 0.95"),
        ([1, 2], {"resamples": -1}, "resamples is -1; it must be 1 or more"),
        (
            [1, 2],
            {"statistic": lambda _: math.nan},
            "the statistic of the values is nan; it must be a finite number",
        ),
        (
            [1, 2],
            {"statistic": lambda values: 1.0 if values[0] < values[1] else math.inf},
            "the statistic of some resamples is not a finite number; use one that always is",
        ),
    ],
)
def test_what_has_no_interval_is_refused_in_one_line(values, options, message):
    with pytest.raises(ValueError) as refused:
        bootstrap_interval(values, **options)
    assert str(refused.value) == message

"""What holds for statistics of any scores: exchanging sides, other units, and numbers that are numbers."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.stats import TESTS, cohen_kappa, holm, krippendorff_alpha

SCORES = st.floats(0, 1) | st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 1 / 3, 2 / 3, 1.0])
SIZES = st.floats(-1e289, 1e289)


def pairs(values=SCORES):
    return st.lists(st.tuples(values, values), min_size=2, max_size=25).map(
        lambda both: tuple(map(list, zip(*both, strict=True)))
    )


def run(name, baseline, system):
    options = {} if name == "paired_t" else {"resamples": 60}
    if name == "wilcoxon":  # up to 13 pairs with ties take scipy half a second: more of the same
        baseline, system = (side * (14 // len(side) + 1) for side in (baseline, system))
    return TESTS[name](baseline, system, **options)


@pytest.mark.parametrize("name", TESTS)
@settings(max_examples=60, deadline=None)
@given(pair=pairs(SCORES | SIZES))
def test_what_comes_out_is_a_number_and_in_its_bounds(name, pair):
    result = run(name, *pair)
    assert all(math.isfinite(v) for v in dataclasses.astuple(result) if isinstance(v, float))
    assert 0 <= result.p_value <= 1
    assert result.low <= result.high
    if name == "paired_t":
        assert result.low <= result.difference <= result.high


@pytest.mark.parametrize("name", ["paired_t", "wilcoxon", "permutation"])
@settings(max_examples=60, deadline=None)
@given(pair=pairs())
def test_exchanging_system_and_baseline_changes_signs_only(name, pair):
    baseline, system = pair
    one, other = run(name, baseline, system), run(name, system, baseline)
    assert other.difference == -one.difference
    assert other.p_value == pytest.approx(one.p_value)
    assert (other.effect_size is None) == (one.effect_size is None)
    assert (other.effect_size or 0.0) == pytest.approx(-(one.effect_size or 0.0))


@pytest.mark.parametrize("name", TESTS)
@settings(max_examples=40, deadline=None)
@given(pair=pairs(), exponent=st.integers(-900, 900))
def test_the_unit_of_the_scores_does_not_change_p(name, pair, exponent):
    """A power of two, so that the scores themselves are not rounded."""
    small = [[value if value > 1e-30 else 0.0 for value in side] for side in pair]
    scaled = [[math.ldexp(value, exponent) for value in side] for side in small]
    one, other = run(name, *small), run(name, *scaled)
    assert (other.p_value, other.effect_size) == (one.p_value, one.effect_size)
    assert other.difference == math.ldexp(one.difference, exponent)


@settings(max_examples=60, deadline=None)
@given(p_values=st.lists(st.floats(0, 1), max_size=12))
def test_holm_s_correction_lowers_no_p_and_keeps_their_order(p_values):
    adjusted = holm(p_values)
    assert all(p <= q <= 1 for p, q in zip(p_values, adjusted, strict=True))
    order = np.argsort(p_values, kind="stable")
    assert (np.diff(np.array(adjusted)[order]) >= 0).all()


@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
@settings(max_examples=60, deadline=None)
@given(pair=pairs(st.integers(0, 4)))
def test_kappa_is_the_same_for_both_orders_of_assessors_and_any_order_of_items(pair, weights):
    a, b = pair
    kappa = cohen_kappa(a, b, weights=weights)
    assert -1 - 1e-9 <= kappa <= 1
    assert cohen_kappa(b, a, weights=weights) == pytest.approx(kappa)
    assert cohen_kappa(a[::-1], b[::-1], weights=weights) == pytest.approx(kappa)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@settings(max_examples=60, deadline=None)
@given(
    ratings=st.integers(2, 5).flatmap(
        lambda assessors: st.lists(
            st.lists(st.sampled_from([0.0, 1.0, 2.5, math.nan]), min_size=assessors, max_size=assessors),
            min_size=1,
            max_size=12,
        )
    )
)
def test_alpha_is_at_most_1_and_the_same_for_any_order_of_assessors_and_items(ratings, level):
    table = np.array([[0.0] * len(ratings[0]), *ratings]).T
    alpha = krippendorff_alpha(table, level=level)
    assert alpha <= 1
    assert krippendorff_alpha(table[::-1, ::-1], level=level) == pytest.approx(alpha)

"""Cohen's kappa and Krippendorff's alpha: textbook values, degenerate ratings and refusals."""

import math

import numpy as np
import pytest

from monitor.stats import alpha_of_items, cohen_kappa, krippendorff_alpha

NAN = math.nan
CANONICAL = [  # Krippendorff (2011), "Computing Krippendorff's alpha-reliability", section D
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]
LEVELS = ["nominal", "ordinal", "interval"]
WEIGHTS = [None, "linear", "quadratic"]


def test_kappa_of_fifty_proposals_that_two_readers_judged_is_0_4():
    """20 times both said yes, 15 times both no, 5 and 10 times one of them."""
    assert cohen_kappa([1] * 25 + [0] * 25, [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15) == pytest.approx(0.4)


def test_weights_count_steps_of_the_scale():
    a, b = [1, 1, 2, 3, 3], [1, 2, 2, 3, 1]
    assert cohen_kappa(a, b) == pytest.approx(1 - (2 / 5) / (17 / 25))
    assert cohen_kappa(a, b, weights="linear") == pytest.approx(1 - (3 / 5) / (23 / 25))
    assert cohen_kappa(a, b, weights="quadratic") == pytest.approx(1 - (5 / 5) / (35 / 25))


def test_a_step_that_nobody_took_widens_the_scale_where_it_is_named():
    a, b = [0, 0, 1, 3, 3], [0, 1, 1, 3, 0]
    closed = cohen_kappa(a, b, weights="linear")
    assert closed == pytest.approx(cohen_kappa([0, 0, 1, 2, 2], [0, 1, 1, 2, 0], weights="linear"))
    assert cohen_kappa(a, b, weights="linear", categories=[3, 2, 1, 0]) != pytest.approx(closed)
    assert cohen_kappa(a, b, categories=[0, 1, 2, 3]) == pytest.approx(cohen_kappa(a, b))


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(
    ("a", "b", "kappa"),
    [
        ([2, 2, 2], [2, 2, 2], 1.0),
        ([2], [2], 1.0),
        ([1], [2], 0.0),
        ([1, 1, 1], [2, 2, 2], 0.0),
        ([1, 1, 1], [1, 2, 1], 0.0),
        ([0.5, 1.5], [0.5, 1.5], 1.0),
        ([0, 1], [1, 0], -1.0),
    ],
    ids=[
        "one grade",
        "one item",
        "one item, apart",
        "a grade each",
        "one never varies",
        "fractions",
        "opposite",
    ],
)
def test_kappa_is_a_number_where_grades_hardly_vary(a, b, kappa, weights):
    assert cohen_kappa(a, b, weights=weights) == pytest.approx(kappa)


@pytest.mark.parametrize("weights", WEIGHTS)
def test_kappa_of_grades_that_all_differ_needs_no_table_of_them(weights):
    """A table of 200,000 x 200,000 categories would take 320 GB."""
    rng = np.random.default_rng(0)
    a, b = rng.random(100_000), rng.random(100_000)
    assert cohen_kappa(a, b, weights=weights) == pytest.approx(0, abs=0.02)
    assert cohen_kappa(a, a, weights=weights) == 1.0


@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        ([1, 2], [1], {}, "a has 2 grades and b 1; give both for each item"),
        ([], [], {}, "a and b are empty; kappa needs an item that both graded"),
        ([1, NAN], [1, 2], {}, "a[1] is nan; only finite numbers below 1e+290 in size are allowed"),
        ([1], [1], {"weights": "cubic"}, 'weights is "cubic"; it must be None, "linear" or "quadratic"'),
        ([1, 4], [1, 2], {"categories": [1, 2, 3]}, "grade 4 is not among the categories"),
    ],
)
def test_what_has_no_kappa_is_refused_in_one_line(a, b, options, message):
    with pytest.raises(ValueError) as refused:
        cohen_kappa(a, b, **options)
    assert str(refused.value) == message


@pytest.mark.parametrize(("level", "alpha"), list(zip(LEVELS, [0.743, 0.815, 0.849], strict=True)))
def test_alpha_gives_krippendorff_s_values_for_his_example(level, alpha):
    assert krippendorff_alpha(CANONICAL, level=level) == pytest.approx(alpha, abs=0.0005)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    ("ratings", "alpha"),
    [
        ([[3, 3], [3, 3]], 1.0),
        ([[3], [3]], 1.0),
        ([[1, 2], [1, 2]], 1.0),
        ([[1], [2]], 0.0),
        ([[3, 1], [3, NAN]], 1.0),
    ],
    ids=["one grade", "one item", "two grades", "one item, apart", "the other grade is nobody else's"],
)
def test_alpha_is_a_number_where_ratings_hardly_vary(ratings, alpha, level):
    assert krippendorff_alpha(ratings, level=level) == pytest.approx(alpha)


@pytest.mark.parametrize("level", LEVELS)
def test_an_item_that_one_assessor_rated_changes_nothing(level):
    more = np.column_stack([CANONICAL, [9, NAN, NAN, NAN], [NAN, NAN, 1, NAN], [NAN] * 4])
    assert krippendorff_alpha(more, level=level) == pytest.approx(krippendorff_alpha(CANONICAL, level=level))


def test_the_interval_alpha_of_far_and_close_grades_does_not_lose_digits():
    far = np.array(CANONICAL) + 1e9
    assert krippendorff_alpha(far, level="interval") == pytest.approx(
        krippendorff_alpha(CANONICAL, level="interval"), rel=1e-9
    )
    assert krippendorff_alpha(np.array(CANONICAL) * 1e289, level="interval") == pytest.approx(
        0.849, abs=0.0005
    )


def test_ratings_told_one_by_one_are_those_of_the_table():
    table = np.array(CANONICAL)
    assessors, items = np.nonzero(~np.isnan(table))
    for level in LEVELS:
        one_by_one = alpha_of_items(items[::-1] * 7, table[assessors, items][::-1], level=level)
        assert one_by_one == pytest.approx(krippendorff_alpha(table, level=level))


@pytest.mark.parametrize(
    ("ratings", "options", "message"),
    [
        ([1, 2], {}, "ratings must be a table of assessors x items, not of shape (2,)"),
        ([[1, 2]], {}, "no item has two ratings; alpha needs items that several assessors rated"),
        ([[1, NAN], [NAN, 2]], {}, "no item has two ratings; alpha needs items that several assessors rated"),
        ([[], []], {}, "no item has two ratings; alpha needs items that several assessors rated"),
        (
            [[1], [math.inf]],
            {},
            "grades[1] is inf; only finite numbers below 1e+290 in size are allowed",
        ),
        (
            [[1], [2]],
            {"level": "ratio"},
            'level is "ratio"; it must be "nominal", "ordinal" or "interval"',
        ),
    ],
)
def test_what_has_no_alpha_is_refused_in_one_line(ratings, options, message):
    with pytest.raises(ValueError) as refused:
        krippendorff_alpha(ratings, **options)
    assert str(refused.value) == message

"""A panel of assessors: which judgments count, and what every two of them have in common."""

import pytest

from monitor.stats import cohen_kappa, krippendorff_alpha
from monitor.stats.assessors import Overall, Pair, Panel, alpha_in_words, kappa_in_words

NAN = float("nan")


def panel(**grades):
    """Each assessor's grades of d0, d1, ...; None where there is none."""
    return Panel.of(
        (name, f"d{i}", grade)
        for name, given in grades.items()
        for i, grade in enumerate(given)
        if grade is not None
    )


def test_pairs_are_of_the_items_that_both_graded_and_in_order_of_names():
    found = list(panel(cleo=[0, 1, 2, 2], ann=[0, 1, 1, None], bob=[None, 2, 1, 2]).pairs())
    assert [(pair.first, pair.second, pair.items) for pair in found] == [
        ("ann", "bob", 2),
        ("ann", "cleo", 3),
        ("bob", "cleo", 3),
    ]
    ann_cleo = found[1]
    assert ann_cleo.equal == pytest.approx(2 / 3)
    assert ann_cleo.kappa == pytest.approx(cohen_kappa([0, 1, 1], [0, 1, 2]))
    assert ann_cleo.kappa_quadratic == pytest.approx(cohen_kappa([0, 1, 1], [0, 1, 2], weights="quadratic"))


def test_the_scale_of_weights_is_the_panel_s_so_that_pairs_compare():
    alone = next(panel(ann=[0, 0, 2, 2, 3], bob=[0, 2, 2, 3, 3]).pairs())
    beside = next(panel(ann=[0, 0, 2, 2, 3], bob=[0, 2, 2, 3, 3], cleo=[1, 1, 1, 1, 1]).pairs())
    assert beside.kappa == alone.kappa
    assert beside.kappa_quadratic == pytest.approx(
        cohen_kappa([0, 0, 2, 2, 3], [0, 2, 2, 3, 3], weights="quadratic", categories=[0, 1, 2, 3])
    )
    assert beside.kappa_quadratic != pytest.approx(alone.kappa_quadratic)


def test_assessors_without_a_common_item_have_no_agreement_to_tell():
    assert list(panel(ann=[1, None], bob=[None, 1]).pairs()) == [Pair("ann", "bob", 0)]
    assert Pair("ann", "bob", 0)[3:7] == (None,) * 4
    assert panel(ann=[1, None], bob=[None, 1]).overall() is None


def test_the_overall_agreement_is_krippendorff_s_alpha_of_the_table():
    grades = {"ann": [0, 1, 2, None, 3], "bob": [0, 2, 2, 1, None], "cleo": [None, 1, 2, None, None]}
    table = [[NAN if grade is None else grade for grade in given] for given in grades.values()]
    assert panel(**grades).overall() == Overall(
        3,
        *(
            pytest.approx(krippendorff_alpha(table, level=level))
            for level in ("nominal", "ordinal", "interval")
        ),
    )


def test_the_last_judgment_counts_and_none_withdraws_it():
    judgments = [
        ("ann", "d1", 2.0),
        ("bob", "d1", 0.0),
        ("bob", "d1", 2.0),
        ("ann", "d2", 1.0),
        ("bob", "d2", 1.0),
        ("bob", "d2", None),
        ("cleo", "d1", 1.0),
        ("cleo", "d1", None),
        ("dan", "d1", None),
    ]
    found = Panel.of(judgments)
    assert {name: list(graded.grades) for name, graded in found.graded.items()} == {"ann": [2, 1], "bob": [2]}
    (pair,) = found.pairs()
    assert (pair.items, pair.equal) == (1, 1.0)
    (again,) = Panel.of([*judgments, ("bob", "d2", 0.0)]).pairs()
    assert (again.items, again.equal) == (2, 0.5)


def test_one_grade_throughout_is_told_apart_from_agreement():
    (same,), (other,) = panel(ann=[1, 1], bob=[1, 1]).pairs(), panel(ann=[1, 2], bob=[1, 2]).pairs()
    assert (same.kappa, same.one_grade) == (1.0, True)
    assert (other.kappa, other.one_grade) == (1.0, False)
    assert panel(ann=[1, 1, None], bob=[1, 1, 0]).overall() == Overall(2, 1.0, 1.0, 1.0, one_grade=True)


@pytest.mark.parametrize(
    ("kappa", "word"),
    [
        (1.0, "almost perfect"),
        (0.81, "almost perfect"),
        (0.8, "substantial"),
        (0.6, "moderate"),
        (0.4, "fair"),
        (0.2, "slight"),
        (0.0, "slight"),
        (-0.01, "poor"),
    ],
)
def test_landis_and_koch_s_bands_have_their_upper_ends(kappa, word):
    assert kappa_in_words(kappa) == word


@pytest.mark.parametrize(
    ("alpha", "words"),
    [(1.0, "reliable"), (0.8, "reliable"), (0.799, "tentative"), (0.667, "tentative"), (-1, "not reliable")],
)
def test_krippendorff_s_limits_are_reached_at_them(alpha, words):
    assert alpha_in_words(alpha) == words

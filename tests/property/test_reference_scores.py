"""The reference itself: judgments and scores, worked out by hand.

Unless a test says otherwise attribution is 10 s, lateness 2 s, and the maturities are 4 s and 20 s.
"""

from math import log2

import pytest

from tests.property.reference_metrics import sums, up_to
from tests.property.timelines import click, impression, judgment, run, series

NDCG_4, NDCG_20 = series("vector_ndcg_avg", 3, 4), series("vector_ndcg_avg", 3, 20)


def test_a_judgment_counts_at_the_maturities_that_it_is_not_too_late_for() -> None:
    """At 104 only b is judged; at 114 a too; at 120 a is withdrawn; at 130 nothing is left."""
    found = run(
        impression(100),
        judgment(104, "b", 1),
        judgment(104.5, "a", 3),
        impression(110, "j"),
        judgment(115, "a", None),
        judgment(121, "b", None),
    )
    assert found.observed[NDCG_4] == [pytest.approx(1 / log2(3)), 1]
    assert found.observed[NDCG_20] == [pytest.approx(1 / log2(3))]
    assert found.judged == {(4, "judged"): 2, (20, "judged"): 1, (20, "unjudged"): 1}
    assert found.observed[series("vector_label_delay_seconds")] == [4, 0]


def test_the_newest_by_arrival_wins_among_those_that_held_at_the_deadline() -> None:
    """Grade 3 of 108 comes, then grade 1 of 102: at 104 that is the only one, and at 120 it is the newest."""
    found = run(
        impression(100), judgment(108, "a", 3), judgment(102, "a", 1), judgment(100, "b", 2), lateness=30
    )
    ideal = 2 + 1 / log2(3)
    assert found.observed[NDCG_4] == [pytest.approx((1 + 2 / log2(3)) / ideal)]
    assert found.observed[NDCG_20] == [pytest.approx((1 + 2 / log2(3)) / ideal)]
    turned = run(
        impression(100), judgment(102, "a", 1), judgment(108, "a", 3), judgment(100, "b", 2), lateness=30
    )
    assert turned.observed[NDCG_4] == [pytest.approx((1 + 2 / log2(3)) / ideal)]
    assert turned.observed[NDCG_20] == [1]


def test_a_judgment_that_comes_when_the_deadline_has_passed_changes_nothing() -> None:
    """The impression at 107 moves the watermark to 105, beyond 104: what holds since 101 came too late."""
    found = run(impression(100), impression(107, "j"), judgment(101, "a", 1))
    assert found.judged == {(4, "judged"): 1, (4, "unjudged"): 1, (20, "judged"): 2}
    assert found.observed[series("vector_label_delay_seconds")] == [1, 0]


def test_the_fates_of_judgments() -> None:
    """Each compared with the newest by arrival before it."""
    found = run(
        judgment(5, "a", None),  # a withdrawal of nothing: duplicate
        judgment(5, "a", 2),  # applied
        judgment(5, "a", 2),  # duplicate
        judgment(6, "a", 2),  # duplicate: no earlier than the one before
        judgment(5.5, "a", 2),  # duplicate: a duplicate is ignored, so it is compared with that of 5
        judgment(4, "a", 2),  # regraded: it holds from an earlier time on
        judgment(6, "a", 2, target="t"),  # regraded: another target
        judgment(6, "a", 1, target="t"),  # regraded
        judgment(6, "a", 1, target="t", assessor="x"),  # applied: somebody else
        judgment(7, "a", None),  # withdrawn
        judgment(7, "a", None),  # duplicate
        judgment(3, "a", 1),  # applied again
    )
    fates = {fate: n for (_, fate), n in found.fates.items()}
    assert fates == {"applied": 3, "regraded": 3, "withdrawn": 1, "duplicate": 5}


@pytest.mark.parametrize(("how", "grade_of_a"), [("mean", 2.0), ("median", 1.5)])
def test_assessors_combine(how: str, grade_of_a: float) -> None:
    """The grades 0, 1, 2 and 5 of a have mean 2 and median 1.5; b has 3. Ranked a, b."""
    found = run(
        impression(100, ranked="ab"),
        *(judgment(100, "a", grade, assessor=f"assessor {grade}") for grade in (5, 0, 1, 2)),
        judgment(100, "b", 3),
        combine=how,
    )
    score = (grade_of_a + 3 / log2(3)) / (3 + grade_of_a / log2(3))
    assert found.observed[NDCG_4] == [pytest.approx(score)]


def test_judged_metrics_of_one_ranking() -> None:
    """Ranked a b c d with grades 0, none, 2, 1; e, not ranked, has 3: three relevant documents in all."""
    metrics = ("ndcg@3", "mrr@3", "recall@3", "precision@10", "ap@4", "success@2", "judged@3", "judged@10")
    expected: dict[str, dict[int, float]] = {
        "vector_ndcg_avg": {3: (2 / log2(4)) / (3 + 2 / log2(3) + 1 / log2(4))},
        "vector_mrr_avg": {3: 1 / 3},
        "vector_recall_avg": {3: 1 / 3},
        "vector_precision_avg": {10: 2 / 10},
        "vector_ap_avg": {4: (1 / 3 + 2 / 4) / 3},
        "vector_success_avg": {2: 0},
        "vector_judged_avg": {3: 2 / 3, 10: 3 / 4},
    }
    grades = {"a": 0, "c": 2, "d": 1, "e": 3}
    stream = [impression(100, ranked="abcd"), *(judgment(100, key, grade) for key, grade in grades.items())]
    found = run(*stream, metrics=metrics)
    for family, values in expected.items():
        for k, value in values.items():
            assert found.observed[series(family, k, 4)] == [pytest.approx(value)], family
    condensed = run(*stream, metrics=metrics, unjudged="condensed")
    assert condensed.observed[series("vector_mrr_avg", 3, 4)] == [1 / 2]
    assert condensed.observed[series("vector_ap_avg", 4, 4)] == [pytest.approx((1 / 2 + 2 / 3) / 3)]
    assert condensed.observed[series("vector_judged_avg", 3, 4)] == [pytest.approx(2 / 3)]


def test_an_empty_ranking_counts() -> None:
    metrics = ("ndcg@3", "judged@3", "precision@3", "ctr@3", "click_mrr@3", "abandonment", "satisfied")
    found = run(impression(0, ranked=""), judgment(0, "a", 1), click(0, position=1), metrics=metrics)
    assert found.fates["click", "unmatched"] == 1
    for metric, k, maturity, score in (
        ("ndcg", 3, 4, 0),
        ("judged", 3, 4, 0),
        ("precision", 3, 4, 0),
        ("ctr", 3, None, 0),
        ("click_mrr", 3, None, 0),
        ("abandonment", None, None, 1),
        ("satisfied", None, None, 0),
        ("empty", None, None, 1),
    ):
        assert found.observed[series(f"vector_{metric}_avg", k, maturity)] == [score], metric
    assert found.shown == {}
    assert series("vector_click_depth") not in found.observed
    assert series("vector_dwell_seconds") not in found.observed


def test_sums_and_cumulative_buckets() -> None:
    assert sums([0, 0.5, 1]) == (3, 1.5, 1.25)
    assert [up_to(bound, [0, 0.1, 1]) for bound in (0.0, 0.1, 0.9, 1.0)] == [1, 2, 2, 3]

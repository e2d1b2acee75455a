"""Comparing: which queries count, what is told of each system, and which mistakes are named."""

import dataclasses

import numpy as np
import pytest
from scipy import stats

from monitor.evaluation.comparing.compare import (
    ComparisonError,
    can_be_compared,
    compare,
    compare_all,
    shared_queries,
    summarise,
)
from monitor.evaluation.comparing.comparison import Mover
from monitor.evaluation.latency import Latency
from monitor.mistakes import Mistake
from monitor.stats import TESTS
from tests.unit.evaluation.comparing.compared import evaluation, systems

NAN = float("nan")


def test_the_difference_and_its_p_value_are_scipy_s():
    old, new = evaluation("old", [0.2, 0.4, 0.6, 0.1]), evaluation("new", [0.3, 0.9, 0.8, 0.1])
    (found,) = compare([old, new], "ndcg@10").comparisons
    expected = stats.ttest_rel(new.scores["ndcg@10"], old.scores["ndcg@10"])
    assert found.result.difference == pytest.approx(0.2)
    assert found.result.p_value == pytest.approx(expected.pvalue)
    assert (found.result.low, found.result.high) == pytest.approx(expected.confidence_interval(0.95))


def test_the_interval_of_a_mean_is_student_s():
    scores = [0.2, 0.4, 0.6, 0.1]
    report = compare([evaluation("old", scores), evaluation("new", [1, 1, 1, 1])], "ndcg@10", confidence=0.9)
    old, new = report.systems
    expected = stats.ttest_1samp(scores, 0).confidence_interval(0.9)
    assert (old.mean, old.low, old.high) == pytest.approx((0.325, *expected))
    assert (new.mean, new.low, new.high) == (1.0, 1.0, 1.0)


def test_the_interval_of_a_mean_ends_at_the_bounds_of_the_measure():
    report = compare([evaluation("low", [0, 0, 0.4]), evaluation("high", [1, 1, 0.6])], "ndcg@10")
    assert [system.low for system in report.systems] == [0.0, pytest.approx(0.2929, abs=1e-3)]
    assert [system.high for system in report.systems] == [pytest.approx(0.7071, abs=1e-3), 1.0]


def test_the_first_system_is_the_baseline_unless_another_is_named():
    old, new, newer = systems(3)
    report = compare([old, new, newer], "ndcg@10")
    assert [each.name for each in report.systems] == ["baseline", "system-1", "system-2"]
    report = compare([old, new, newer], "ndcg@10", baseline="system-1")
    assert [each.name for each in report.systems] == ["system-1", "baseline", "system-2"]
    assert [(each.baseline, each.system) for each in report.comparisons] == [
        ("system-1", "baseline"),
        ("system-1", "system-2"),
    ]


def test_scores_apart_by_rounding_tie():
    third = evaluation("third", [0.1 + 0.2, 0.5, 0.5, 0.5])
    (found,) = compare([evaluation("old", [0.3, 0.5 + 2e-9, 0.4, 0.5]), third], "ndcg@10").comparisons
    assert (found.wins, found.ties, found.losses) == (1, 2, 1)


def test_an_undefined_query_is_left_out_of_that_comparison_only_and_counted():
    old = evaluation("old", [0.1, 0.2, 0.3, 0.4])
    gaps = evaluation("gaps", [NAN, 0.4, 0.6, 0.8])
    full = evaluation("full", [0.2, 0.3, 0.4, 0.6])
    report = compare([old, gaps, full], "ndcg@10")
    assert [(each.result.n, each.undefined) for each in report.comparisons] == [(3, 1), (4, 0)]
    assert report.comparisons[0].queries == ["q1", "q2", "q3"]
    assert report.comparisons[0].result.baseline_mean == pytest.approx(0.3)
    assert [(each.queries, each.undefined) for each in report.systems] == [(4, 0), (3, 1), (4, 0)]
    assert report.systems[0].mean == pytest.approx(0.25)


def test_queries_that_one_system_lacks_are_left_out_for_all_and_counted():
    old = evaluation("old", [0.1, 0.2, 0.3], queries=["a", "b", "c"])
    new = evaluation("new", [0.9, 0.8, 0.7], queries=["d", "c", "b"])
    report = compare([old, new], "ndcg@10")
    assert report.queries == 2
    assert [each.left_out for each in report.systems] == [1, 1]
    assert [each.mean for each in report.systems] == pytest.approx([0.25, 0.75])
    (found,) = report.comparisons
    assert found.queries == ["b", "c"]
    assert found.differences == pytest.approx([0.5, 0.5])
    assert shared_queries([new, old])[0] == ["c", "b"]


def test_the_queries_that_moved_most_come_in_order_of_their_move():
    old = evaluation("old", [0.5, 0.5, 0.5, 0.5, 0.5])
    new = evaluation("new", [0.6, 0.9, 0.5, 0.1, 0.4])
    (found,) = compare([old, new], "ndcg@10").comparisons
    up, down = found.movers(2)
    assert up == [Mover("q1", 0.5, 0.9), Mover("q0", 0.5, 0.6)]
    assert down == [Mover("q3", 0.5, 0.1), Mover("q4", 0.5, 0.4)]
    assert [mover.query for mover in found.movers(9)[0]] == ["q1", "q0"], "a tie is no move"
    assert found.movers(0) == ([], [])


def test_holm_corrects_over_all_comparisons_of_all_measures():
    evaluations = systems(3)
    for each in evaluations:
        each.scores["map"] = each.scores["ndcg@10"] ** 2
    reports = compare_all(evaluations, ["ndcg@10", "map"])
    found = [each for report in reports for each in report.comparisons]
    raw = [each.result.p_value for each in found]
    expected = dict(zip(sorted(raw), _step_down(sorted(raw)), strict=True))
    assert [each.p_adjusted for each in found] == pytest.approx([expected[p] for p in raw])
    assert [report.corrected_over for report in reports] == [4, 4]


def _step_down(ordered):
    highest = 0.0
    for i, p in enumerate(ordered):
        highest = max(highest, min(1.0, p * (len(ordered) - i)))
        yield highest


def test_stars_and_verdict_go_by_the_corrected_p():
    (found,) = compare(systems(2), "ndcg@10").comparisons
    told = {
        p: (changed.stars, changed.verdict)
        for p in (0.0005, 0.005, 0.03, 0.07, 0.5)
        for changed in [dataclasses.replace(found, p_adjusted=p)]
    }
    assert told == {
        0.0005: ("***", "better, significant at .001"),
        0.005: ("**", "better, significant at .01"),
        0.03: ("*", "better, significant at .05"),
        0.07: ("ns", "better, marginal"),
        0.5: ("ns", "not significant"),
    }


def test_a_system_that_loses_is_called_worse():
    old, new = systems(2)
    (found,) = compare([new, old], "ndcg@10").comparisons
    assert found.verdict.startswith("worse, significant")


@pytest.mark.parametrize("test", TESTS)
def test_a_system_against_itself_is_no_different_whichever_the_test(test):
    old = evaluation("old", [0.1, 0.5, 0.9])
    (found,) = compare([old, evaluation("new", [0.1, 0.5, 0.9])], "ndcg@10", test=test).comparisons
    result = found.result
    assert (result.difference, result.low, result.high, result.p_value, result.effect_size) == (0, 0, 0, 1, 0)
    assert (found.wins, found.ties, found.losses, found.verdict) == (0, 3, 0, "not significant")


@pytest.mark.parametrize("test", TESTS)
def test_the_seed_decides_what_chance_decides(test):
    first, again = (compare(systems(2), "ndcg@10", test=test, seed=3).comparisons[0].result for _ in range(2))
    assert first == again


def test_the_mean_has_its_band():
    report = compare([evaluation("old", [0.5, 0.5]), evaluation("new", [0.9, 0.95])], "ndcg@10")
    assert [each.band for each in report.systems] == ["good", "excellent"]


def test_latency_is_told_of_the_runs_that_carry_it():
    old = evaluation("old", [0.1, 0.2, 0.3], latency=[0.010, 0.020, 0.030])
    new = evaluation("new", [0.1, 0.2, 0.4], latency=[0.050, NAN, 0.040])
    none = evaluation("none", [0.1, 0.2, 0.4])
    report = compare([old, new, none], "ndcg@10")
    assert report.systems[0].latency is not None
    assert report.systems[0].latency == pytest.approx(Latency(0.02, 0.02, 0.029, 0.0298, 3))
    assert report.systems[1].latency is not None
    assert report.systems[1].latency == pytest.approx(Latency(0.045, 0.045, 0.0495, 0.0499, 2))
    assert report.systems[2].latency is None
    assert report.comparisons[0].latency_difference == pytest.approx((0.04 + 0.01) / 2)
    assert report.comparisons[1].latency_difference is None


def test_latencies_that_never_meet_have_no_difference():
    old = evaluation("old", [0.1, 0.2], latency=[0.01, NAN])
    new = evaluation("new", [0.1, 0.2], latency=[NAN, NAN])
    report = compare([old, new], "ndcg@10")
    assert report.systems[1].latency is None
    assert report.comparisons[0].latency_difference is None


def test_a_system_without_any_value_has_no_mean():
    (found,) = summarise([evaluation("none", [NAN, NAN])], "ndcg@10")
    assert (found.mean, found.low, found.high, found.band, found.undefined) == (None, None, None, None, 2)


def test_a_mean_of_one_query_has_no_interval():
    (found,) = summarise([evaluation("one", [0.5, NAN])], "ndcg@10")
    assert (found.mean, found.low, found.high) == (0.5, None, None)


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (["a"], {}, "a comparison needs two runs or more; 1 is given, give another"),
        (["a", "a"], {}, 'two runs are named "a"; give each its own name'),
        (
            ["bm25", "dense"],
            {"baseline": "bm52"},
            'no run is named "bm52"; did you mean "bm25"? the runs are "bm25", "dense"',
        ),
        (["a", "b"], {"baseline": "zzz"}, 'no run is named "zzz"; the runs are "a", "b"'),
        (
            ["a", "b"],
            {"test": "wilcoxn"},
            'unknown test "wilcoxn"; did you mean "wilcoxon"? the tests are '
            + ", ".join(f'"{name}"' for name in ("paired_t", "wilcoxon", "bootstrap", "permutation")),
        ),
        (
            ["a", "b"],
            {"confidence": 95},
            "confidence 95 is not allowed; give a number between 0 and 1, as 0.95",
        ),
    ],
)
def test_mistakes_are_told_in_one_line(names, options, message):
    with pytest.raises(ComparisonError) as refused:
        compare([evaluation(name, [0.1, 0.2]) for name in names], "ndcg@10", **options)
    assert str(refused.value) == message


def test_a_measure_that_a_system_was_not_evaluated_by_is_named():
    with pytest.raises(ComparisonError) as refused:
        compare([evaluation("old", [0.1, 0.2]), evaluation("new", [0.1, 0.2], measure="map")], "ndcg@10")
    assert str(refused.value) == '"new" was not evaluated by "ndcg@10"; it has "map"'


@pytest.mark.parametrize("base", [Mistake, ValueError])
def test_callers_catch_a_value_error_and_the_command_line_a_mistake(base):
    with pytest.raises(base):
        compare(systems(2), "ndcg@10", confidence=2)


def test_fewer_than_two_queries_in_common_are_refused():
    old = evaluation("old", [0.1, 0.2, NAN], queries=["a", "b", "c"])
    new = evaluation("new", [0.1, 0.2, 0.3], queries=["b", "c", "d"])
    with pytest.raises(ComparisonError) as refused:
        compare([old, new], "ndcg@10")
    assert str(refused.value) == (
        'ndcg@10: "old" and "new" both have a value for 1 of 2 queries in common; a comparison needs two'
    )
    assert not can_be_compared([old, new], "ndcg@10")
    assert can_be_compared([old, old], "ndcg@10")


def test_the_differences_can_be_asked_for_again_and_again():
    (found,) = compare(systems(2), "ndcg@10").comparisons
    before = found.system_scores.copy()
    found.differences[:] = 7.0
    assert np.array_equal(found.system_scores, before)
    assert found.differences == pytest.approx(found.system_scores - found.baseline_scores)

"""The judgment table: read as it stood at any deadline, whatever came after."""

import math
import random
from statistics import mean, median
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.stream import judgments as judgments_module
from monitor.stream.judgments import JudgmentTable

drawn = settings(max_examples=60, deadline=None, derandomize=True, database=None)

Q, OTHER_Q = 100, 200
A, B, C = 1, 2, 3
ANN, BOB, EVE = 51, 52, 53


def table_of(*judgments, combine="mean", limit=1000):
    table = JudgmentTable(combine, limit)
    for judgment in judgments:
        table.apply(*judgment)
    return table


def grades(table, deadline, query=Q):
    found = table.at(query, deadline)
    return None if found is None else dict(zip(found.keys.tolist(), found.grades.tolist(), strict=True))


# As it stood.


def test_a_judgment_holds_from_its_time_on():
    table = table_of((Q, A, ANN, 10.0, 2.0))
    assert grades(table, 9.9) is None
    assert grades(table, 10.0) == {A: 2.0}
    assert grades(table, math.inf) == {A: 2.0}


def test_queries_do_not_mix():
    table = table_of((Q, A, ANN, 10.0, 2.0), (OTHER_Q, B, ANN, 10.0, 1.0))
    assert grades(table, 10.0) == {A: 2.0}
    assert grades(table, 10.0, OTHER_Q) == {B: 1.0}
    assert grades(table, 10.0, 300) is None


def test_a_regrade_counts_from_its_own_time_and_the_first_grade_before():
    table = table_of((Q, A, ANN, 10.0, 2.0), (Q, A, ANN, 30.0, 0.0))
    assert grades(table, 29.9) == {A: 2.0}
    assert grades(table, 30.0) == {A: 0.0}


def test_a_batch_that_is_loaded_later_does_not_change_what_an_older_deadline_sees():
    table = table_of((Q, A, ANN, 10.0, 2.0))
    before = grades(table, 20.0)
    table.apply(Q, A, ANN, 50.0, 0.0)
    table.apply(Q, B, ANN, 50.0, 3.0)
    assert grades(table, 20.0) == before == {A: 2.0}


def test_of_two_for_one_time_the_one_that_came_last_wins():
    assert grades(table_of((Q, A, ANN, 10.0, 2.0), (Q, A, ANN, 10.0, 1.0)), 10.0) == {A: 1.0}


def test_one_that_comes_later_with_an_earlier_time_wins_from_that_time_on():
    table = table_of((Q, A, ANN, 30.0, 2.0), (Q, A, ANN, 10.0, 1.0))
    assert grades(table, 9.9) is None
    assert grades(table, 20.0) == {A: 1.0}
    assert grades(table, 40.0) == {A: 1.0}


def test_a_withdrawn_judgment_counts_until_it_is_withdrawn():
    table = table_of((Q, A, ANN, 10.0, 2.0), (Q, B, ANN, 10.0, 1.0), (Q, A, ANN, 30.0, None))
    assert grades(table, 29.9) == {A: 2.0, B: 1.0}
    assert grades(table, 30.0) == {B: 1.0}


def test_a_query_whose_judgments_are_all_withdrawn_has_none():
    table = table_of((Q, A, ANN, 10.0, 2.0), (Q, A, ANN, 30.0, None))
    assert table.at(Q, 30.0) is None


def test_a_withdrawn_judgment_can_be_given_again():
    table = table_of((Q, A, ANN, 10.0, 2.0), (Q, A, ANN, 20.0, None), (Q, A, ANN, 30.0, 1.0))
    assert [grades(table, deadline) for deadline in (10, 20, 30)] == [{A: 2.0}, None, {A: 1.0}]


# Fates.


@pytest.mark.parametrize(
    ("before", "judgment", "fate"),
    [
        ([], (10.0, 2.0), "applied"),
        ([], (10.0, None), "duplicate"),
        ([(10.0, 2.0)], (10.0, 2.0), "duplicate"),
        ([(10.0, 2.0)], (20.0, 2.0), "duplicate"),
        ([(10.0, 2.0)], (5.0, 2.0), "regraded"),
        ([(10.0, 2.0)], (20.0, 1.0), "regraded"),
        ([(10.0, 2.0)], (10.0, 2.0, 9), "regraded"),
        ([(10.0, 2.0)], (20.0, None), "withdrawn"),
        ([(10.0, 2.0), (20.0, None)], (30.0, None), "duplicate"),
        ([(10.0, 2.0), (20.0, None)], (30.0, 2.0), "applied"),
        ([(10.0, 2.0), (20.0, 1.0)], (30.0, 2.0), "regraded"),
    ],
)
def test_the_fate_compares_with_the_newest_that_came_before(before, judgment, fate):
    table = table_of(*((Q, A, ANN, *old) for old in before))
    assert table.apply(Q, A, ANN, *judgment) == fate


def test_another_assessor_another_judgment():
    table = table_of((Q, A, ANN, 10.0, 2.0))
    assert table.apply(Q, A, BOB, 10.0, 2.0) == "applied"


# Several assessors.


@pytest.mark.parametrize(("combine", "grade"), [("mean", 2.0), ("median", 1.0)])
def test_the_grades_of_several_assessors_become_one(combine, grade):
    table = table_of(
        (Q, A, ANN, 10.0, 0.0), (Q, A, BOB, 10.0, 1.0), (Q, A, EVE, 10.0, 5.0), (Q, B, ANN, 10.0, 3.0),
        combine=combine,
    )  # fmt: skip
    assert grades(table, 10.0) == {A: grade, B: 3.0}


def test_only_those_who_had_judged_by_the_deadline_are_combined():
    table = table_of((Q, A, ANN, 10.0, 0.0), (Q, A, BOB, 20.0, 1.0), (Q, A, ANN, 30.0, None))
    assert [grades(table, deadline) for deadline in (10, 20, 30)] == [{A: 0.0}, {A: 0.5}, {A: 1.0}]


# What the metrics need.


def test_the_ideal_is_every_grade_highest_first():
    table = table_of((Q, A, ANN, 10.0, 1.0), (Q, B, ANN, 10.0, 3.0), (Q, C, ANN, 10.0, 0.0))
    found = table.at(Q, 10.0)
    assert found.ideal.tolist() == [3.0, 1.0, 0.0]
    assert found.relevant == 2


def test_the_first_time_is_the_earliest_among_the_grades_that_count():
    table = table_of((Q, A, ANN, 10.0, 1.0), (Q, B, ANN, 20.0, 1.0), (Q, A, ANN, 30.0, None))
    assert table.at(Q, 25.0).first_ts == 10.0
    assert table.at(Q, 30.0).first_ts == 20.0


def test_identities_are_the_targets_where_told_and_the_keys_elsewhere():
    table = table_of(
        (Q, A, ANN, 10.0, 1.0, 77),
        (Q, B, ANN, 10.0, 2.0, 77),
        (Q, C, ANN, 10.0, 1.0),
        (Q, 4, ANN, 10.0, 0.0, 78),
    )
    found = table.at(Q, 10.0)
    assert dict(zip(found.keys.tolist(), found.targets.tolist(), strict=True)) == {A: 77, B: 77, C: C, 4: 78}
    assert found.relevant_targets == 2


def test_without_any_target_their_number_is_not_told():
    assert table_of((Q, A, ANN, 10.0, 1.0)).at(Q, 10.0).relevant_targets == -1


# The bound.


def test_over_the_bound_the_query_that_was_judged_longest_ago_is_forgotten_whole():
    table = table_of(
        (Q, A, ANN, 10.0, 1.0),
        (OTHER_Q, A, ANN, 10.0, 1.0),
        (OTHER_Q, B, ANN, 10.0, 1.0),
        (300, A, ANN, 10.0, 1.0),
        limit=3,
    )
    assert table.evict() == 1
    assert table.at(Q, 10.0) is None
    assert grades(table, 10.0, OTHER_Q) == {A: 1.0, B: 1.0}
    assert table.size == 3


def test_judging_a_query_again_makes_it_the_newest():
    table = table_of((Q, A, ANN, 10.0, 1.0), (OTHER_Q, A, ANN, 10.0, 1.0), (Q, B, ANN, 10.0, 1.0), limit=2)
    assert table.evict() == 1
    assert table.at(OTHER_Q, 10.0) is None
    assert grades(table, 10.0) == {A: 1.0, B: 1.0}


def test_over_the_bound_the_history_of_a_query_goes_and_what_holds_stays():
    table = table_of((Q, A, ANN, 10.0, 1.0), (Q, B, ANN, 10.0, 1.0), (Q, A, ANN, 20.0, 2.0), limit=2)
    assert table.evict() == 0
    assert (table.size, table.live) == (2, 2)
    assert grades(table, 30.0) == {A: 2.0, B: 1.0}


def test_at_the_bound_nothing_is_forgotten():
    table = table_of((Q, A, ANN, 10.0, 1.0), (Q, B, ANN, 10.0, 1.0), limit=2)
    assert table.evict() == 0


def test_old_versions_that_nobody_can_ask_for_take_no_room():
    table = JudgmentTable("mean", 1000)
    for ts in range(1000):
        table.horizon = float(ts)
        table.apply(Q, A, ANN, float(ts), float(ts % 3))
    assert table.size < 10
    assert grades(table, 999.0) == {A: 0.0}


# Against a brute force: all judgments in a list, read anew for each deadline.


class Given(NamedTuple):
    query: int
    key: int
    assessor: int
    ts: float
    grade: float | None
    horizon: float


class BruteForce:
    def __init__(self):
        self.taken = []

    def apply(self, judgment):
        earlier = [old for old in self.taken if old[:3] == judgment[:3]]
        before = earlier[-1] if earlier else None
        graded = before is not None and before.grade is not None
        if judgment.grade is None:
            fate = "withdrawn" if graded else "duplicate"
        elif not graded:
            fate = "applied"
        elif before.grade == judgment.grade and before.ts <= judgment.ts:
            fate = "duplicate"
        else:
            fate = "regraded"
        if fate != "duplicate":
            self.taken.append(judgment)
        return fate

    def at(self, query, deadline, combine):
        newest = {
            (old.key, old.assessor): old.grade
            for old in self.taken
            if old.query == query and old.ts <= deadline
        }
        by_key = {}
        for (key, _), grade in newest.items():
            if grade is not None:
                by_key.setdefault(key, []).append(grade)
        return {key: combine(found) for key, found in by_key.items()} or None


given_judgments = st.builds(
    Given,
    query=st.sampled_from([Q, OTHER_Q]),
    key=st.sampled_from([A, B]),
    assessor=st.sampled_from([ANN, BOB, EVE]),
    ts=st.integers(0, 20).map(float),
    grade=st.sampled_from([None, 0.0, 1.0, 2.0]),
    horizon=st.sampled_from([0.0, 0.0, 1.0, 3.0]),
)


@drawn
@given(st.lists(given_judgments, max_size=60), st.sampled_from(["mean", "median"]))
def test_whatever_is_compacted_a_deadline_from_the_horizon_on_sees_all_it_saw_before(judgments, combine):
    table, brute = JudgmentTable(combine, 10_000), BruteForce()
    middle = {"mean": mean, "median": median}[combine]
    horizon = 0.0
    for judgment in judgments:
        horizon = min(20.0, horizon + judgment.horizon)  # time passes
        table.horizon = horizon
        assert table.apply(*judgment[:5]) == brute.apply(judgment)
        for query in (Q, OTHER_Q):
            for deadline in (horizon, (horizon + 20) / 2, 20.0):
                assert grades(table, deadline, query) == brute.at(query, deadline, middle)


@drawn
@given(st.lists(given_judgments, min_size=1, max_size=30), st.lists(st.integers(-1, 21), min_size=1))
def test_a_deadline_sees_the_same_in_whatever_order_deadlines_are_asked_for(judgments, deadlines):
    table = table_of(*(judgment[:5] for judgment in judgments))
    asked = [grades(table, float(deadline)) for deadline in deadlines]
    anew = [
        grades(table_of(*(judgment[:5] for judgment in judgments)), float(deadline)) for deadline in deadlines
    ]
    assert asked == anew


# Many judgments of one query: these are read by a timeline.


def crowd(seed, assessors, size, keys=(A, B)):
    """Judgments of one query by many assessors: regraded, withdrawn, given again, in no order of time."""
    draw = random.Random(seed)
    return [
        Given(
            Q,
            draw.choice(keys),
            draw.randrange(assessors),
            float(draw.randrange(200)),
            draw.choice([None, 0.1, 0.7, 1.0, 2.0, 3.3]),
            0.0,
        )
        for _ in range(size)
    ]


@pytest.mark.parametrize("combine", ["mean", "median"])
@pytest.mark.parametrize("assessors", [1, 5, 300, 5000])
@pytest.mark.parametrize("seed", range(3))
def test_many_judgments_of_one_query_are_read_as_a_brute_force_reads_them(combine, assessors, seed):
    judgments = crowd(seed, assessors, 1500, keys=(A, B, C, *range(10, 10 + 5 * seed)))
    table, brute = JudgmentTable(combine, 10_000), BruteForce()
    for judgment in judgments:
        assert table.apply(*judgment[:5]) == brute.apply(judgment)
    middle = {"mean": mean, "median": median}[combine]
    deadlines = np.array([random.Random(seed).uniform(-1, 201) for _ in range(60)])
    found = {}
    for rows, qrels in table.at_deadlines(np.full(60, Q), deadlines):
        found |= dict(zip(rows.tolist(), qrels, strict=True))
    for row, deadline in enumerate(deadlines.tolist()):
        expected = brute.at(Q, deadline, middle)
        assert (row in found) == (expected is not None)
        if expected is not None:
            read = dict(zip(found[row].keys.tolist(), found[row].grades.tolist(), strict=True))
            assert read == pytest.approx(expected, rel=1e-14)
            assert found[row].ideal.tolist() == sorted(found[row].grades.tolist(), reverse=True)
            assert found[row].relevant == sum(grade > 0 for grade in expected.values())


@pytest.mark.parametrize("combine", ["mean", "median"])
def test_one_deadline_after_the_other_reads_the_same_as_each_alone(combine):
    judgments = [
        (*j[:5], draw.choice([0, 0, 7, 8])) for j in crowd(4, 400, 2000) for draw in [random.Random(str(j))]
    ]
    deadlines = np.linspace(-1.0, 201.0, 150)
    table = table_of(*judgments, combine=combine, limit=10_000)
    together = {}
    for rows, qrels in table.at_deadlines(np.full(len(deadlines), Q), deadlines):
        together |= dict(zip(rows.tolist(), qrels, strict=True))
    for row in random.Random(1).sample(range(len(deadlines)), 40):
        # Asked for backwards and forwards, so that nothing of the one before is of use.
        alone = table_of(*judgments, combine=combine, limit=10_000).at(Q, float(deadlines[row]))
        assert (alone is None) == (row not in together)
        if alone is not None:
            assert together[row].grades == pytest.approx(alone.grades, rel=1e-14)
            assert together[row].keys.tolist() == alone.keys.tolist()
            assert together[row].targets.tolist() == alone.targets.tolist()
            assert together[row].relevant_targets == alone.relevant_targets
            assert together[row].first_ts == alone.first_ts


def test_a_large_grade_that_is_withdrawn_leaves_no_rounding_error_behind():
    table = table_of(
        *((Q, A, i, 10.0, 0.1) for i in range(300)), *((Q, A, 1000 + i, 10.0, 1e9) for i in range(300))
    )
    for i in range(300):
        table.apply(Q, A, 1000 + i, 20.0 + i, None)
    [(_, qrels)] = table.at_deadlines(np.full(400, Q), np.arange(400) + 9.5)
    assert qrels[-1].grades.tolist() == [pytest.approx(0.1, rel=1e-15)]


def test_views_too_large_to_be_held_together_come_in_parts(monkeypatch):
    table = table_of(*((Q, key, ANN, float(key), 1.0) for key in range(1, 500)))
    monkeypatch.setattr(judgments_module, "MAX_READ_GRADES", 1000)
    parts = list(table.at_deadlines(np.full(40, Q), np.linspace(100.0, 499.0, 40)))
    assert len(parts) > 1
    assert sorted(row for rows, _ in parts for row in rows.tolist()) == list(range(40))
    assert max(sum(len(q.keys) for q in {id(q): q for q in found}.values()) for _, found in parts) <= 1500


def test_a_judgment_of_a_later_time_leaves_what_was_read_of_earlier_deadlines():
    table = table_of(*((Q, A, i, 10.0, 1.0) for i in range(500)))
    before = table.at(Q, 15.0)
    for i in range(500):
        table.apply(Q, A, i, 20.0, 2.0)
        assert table.at(Q, 19.9) is before
    assert grades(table, 20.0) == {A: 2.0}
    table.apply(Q, A, 0, 12.0, 3.0)
    assert grades(table, 19.9) == {A: pytest.approx((499 * 1.0 + 3.0) / 500)}

"""Scoring: held impressions become columns of values, with the fate of every interaction."""

import math

import numpy as np
import pytest

from monitor.stream.interactions import CLICK, DWELL, OUTCOME
from monitor.stream.judgments import JudgmentTable
from monitor.stream.plan import make_plan
from monitor.stream.score import score
from tests.unit.stream.rows import impression, impressions, side_by_side
from tests.unit.stream.timeline import settings

A, B, C, D = 11, 12, 13, 14
NOTHING = math.nan
TOLD = (NOTHING, NOTHING)
QUERY, OTHER_QUERY = 7, 8


def stage_after(delay, **changes):
    return next(stage for stage in make_plan(settings(**changes)).stages if stage.delay == delay)


def held(ranked=(A, B, C), ts=100.0, query=QUERY, **more):
    return impression(1, ts, ranked, query, **more)


def table_of(*judgments):
    table = JudgmentTable("mean", 1000)
    for judgment in judgments:
        table.apply(*judgment)
    return table


def values(stage, rows, table=None):
    """Family -> one value for each impression, of the first column of that family."""
    scored = score(stage, impressions(*rows), table or table_of())
    families = [column.family for column in stage.columns]
    return {family: scored.values[:, families.index(family)].tolist() for family in families}


# When it is shown.


def test_results_emptiness_and_latency_are_known_at_once():
    found = values(stage_after(0), [held(latency=0.25), held(ranked=())])
    assert found["vector_results"] == [3, 0]
    assert found["vector_empty_avg"] == [0, 1]
    np.testing.assert_equal(found["vector_search_latency_seconds"], [0.25, NOTHING])


def test_diversity_is_known_at_once_where_there_are_embeddings():
    stage = stage_after(0, metrics=["ild@10"])
    vectors = np.array([[1, 0], [0, 1]], dtype=np.float32)
    found = values(stage, [held(ranked=(A, B), embeddings=vectors), held()])
    np.testing.assert_equal(found["vector_ild_avg"], [1.0, NOTHING])


def test_time_and_labels_stay_with_their_impressions():
    shown = impressions(held(ts=5.0, label_set=2), held(ts=7.0, label_set=1))
    scored = score(stage_after(0), shown, table_of())
    assert scored.impressions.ts.tolist() == [5.0, 7.0]
    assert scored.impressions.label_sets.tolist() == [2, 1]
    assert scored.impressions.lengths.tolist() == [3, 3]


# What was done.


def clicks(*interactions, ranked=(A, B, C), **more):
    """Score one impression with interactions: a kind, a reference, whether it is a position, ts, payload."""
    told = {interaction[:4]: interaction[4] for interaction in interactions}
    stage = stage_after(10, metrics=["ctr@1", "click_mrr@10", "abandonment", "satisfied"])
    scored = score(stage, held(ranked=ranked, **more), table_of(), side_by_side([0], [told]))
    families = [column.family for column in stage.columns]
    return scored, {family: scored.values[0, i] for i, family in enumerate(families)}


def click_on(reference, *, position=False, ts=101.0, seconds=NOTHING):
    return (CLICK, reference, position, ts, (seconds, NOTHING))


def stayed_with(reference, seconds, *, ts=101.0):
    return (DWELL, reference, False, ts, (seconds, NOTHING))


def ended(ts, success=NOTHING, scroll=NOTHING):
    return (OUTCOME, 0, False, ts, (success, scroll))


def test_no_interaction_is_an_answer_too():
    scored, found = clicks()
    assert found["vector_abandonment_avg"] == 1
    assert found["vector_ctr_avg"] == 0
    assert math.isnan(found["vector_dwell_seconds"])
    assert not scored.fates


def test_an_empty_ranking_is_abandoned_and_not_clicked():
    _, found = clicks(ranked=())
    assert found["vector_abandonment_avg"] == 1
    assert found["vector_ctr_avg"] == 0


@pytest.mark.parametrize("click", [click_on(B), click_on(2, position=True)], ids=["key", "position"])
def test_a_click_is_placed_on_its_rank(click):
    scored, found = clicks(click)
    assert scored.clicks.tolist() == [[False, True, False]]
    assert found["vector_click_mrr_avg"] == 0.5
    assert scored.fates == {("click", "joined"): 1}


@pytest.mark.parametrize("click", [click_on(D), click_on(4, position=True)], ids=["key", "position"])
def test_a_click_on_what_was_not_shown_is_unmatched_and_no_click(click):
    scored, found = clicks(click)
    assert scored.fates == {("click", "unmatched"): 1}
    assert found["vector_abandonment_avg"] == 1


def test_each_interaction_is_placed_in_the_ranking_of_its_own_impression():
    shown = impressions(held(ranked=(A, B, C)), held(ranked=(C,)), held(ranked=(B, C)))
    known = [
        {(CLICK, C, False, 101.0): TOLD},
        {(CLICK, 2, True, 101.0): TOLD, (CLICK, C, False, 102.0): TOLD},
    ]
    scored = score(stage_after(10), shown, table_of(), side_by_side([2, 1], known))
    assert scored.clicks.tolist() == [[False, False, False], [True, False, False], [False, True, False]]
    assert scored.fates == {("click", "joined"): 2, ("click", "unmatched"): 1}


def test_many_interactions_are_placed_in_parts(monkeypatch):
    monkeypatch.setattr("monitor.stream.score.MAX_PLACED", 2)
    shown = impressions(held(ranked=(A, B, C)), held(ranked=(C, B), shown=np.array([C, C, B])))
    known = [
        {(CLICK, key, False, 101.0): TOLD for key in (A, C, D)},
        {(CLICK, position, True, 101.0): TOLD for position in (1, 2, 3, 4)},
    ]
    scored = score(stage_after(10), shown, table_of(), side_by_side([0, 1], known))
    assert scored.clicks.tolist() == [[True, False, True], [True, True, False]]
    assert scored.fates == {("click", "joined"): 5, ("click", "unmatched"): 2}


def test_a_position_counts_in_the_ranking_as_sent_where_a_key_stood_twice():
    scored, _ = clicks(click_on(4, position=True), shown=np.array([A, B, A, C]))
    assert scored.clicks.tolist() == [[False, False, True]]


def test_of_several_dwells_with_a_result_the_longest_counts():
    _, found = clicks(stayed_with(A, 5.0), stayed_with(A, 40.0, ts=102.0), stayed_with(A, 12.0, ts=103.0))
    assert found["vector_dwell_seconds"] == 40.0


def test_the_dwell_of_a_click_counts_like_a_dwell():
    scored, found = clicks(click_on(A, seconds=31.0), stayed_with(A, 5.0))
    assert found["vector_dwell_seconds"] == 31.0
    assert found["vector_satisfied_avg"] == 1
    assert scored.fates == {("click", "joined"): 1, ("dwell", "joined"): 1}


def test_a_dwell_is_no_click():
    _, found = clicks(stayed_with(A, 60.0))
    assert found["vector_abandonment_avg"] == 1


def test_the_outcome_with_the_latest_time_wins_whenever_it_came():
    scored, found = clicks(ended(103.0, success=0.0), ended(102.0, success=1.0))
    assert found["vector_outcome_success_avg"] == 0
    assert scored.fates == {("outcome", "joined"): 2}


def test_what_the_last_outcome_leaves_open_an_earlier_one_tells():
    _, found = clicks(ended(102.0, success=1.0, scroll=4.0), ended(103.0, scroll=9.0))
    assert found["vector_outcome_success_avg"] == 1
    assert found["vector_scroll_depth"] == 9


def test_an_outcome_is_joined_whatever_was_shown():
    scored, _ = clicks(ended(102.0, success=1.0), ranked=())
    assert scored.fates == {("outcome", "joined"): 1}


# What was judged.


def test_an_impression_is_judged_by_what_its_query_was_judged_at_its_own_deadline():
    table = table_of((QUERY, A, 1, 121.0, 1.0))
    stage = stage_after(20, metrics=["precision@1"])
    scored = score(stage, impressions(held(ts=100.0), held(ts=101.0)), table)
    assert scored.judged.tolist() == [False, True]
    np.testing.assert_equal(scored.values[:, 0], [NOTHING, 1.0])


def test_an_impression_of_a_query_without_judgments_is_not_observed():
    scored = score(stage_after(20), held(), table_of())
    assert scored.judged.tolist() == [False]
    assert np.isnan(scored.values).all()


def test_each_impression_is_judged_by_its_own_query():
    table = table_of((QUERY, A, 1, 0.0, 1.0), (OTHER_QUERY, B, 1, 0.0, 1.0))
    stage = stage_after(20, metrics=["mrr@10"])
    found = values(stage, [held(), held(query=OTHER_QUERY), held(ranked=(C, D), query=OTHER_QUERY)], table)
    assert found["vector_mrr_avg"] == [1.0, 0.5, 0.0]


@pytest.mark.parametrize("metrics", [["mrr@2"], ["mrr"], ["mrr@2", "ndcg@1"]])
def test_how_deep_other_metrics_look_changes_nothing(metrics):
    table = table_of((QUERY, C, 1, 0.0, 1.0))
    found = values(stage_after(20, metrics=metrics), [held()], table)
    assert found["vector_mrr_avg"] == [0.0 if metrics[0] == "mrr@2" else pytest.approx(1 / 3)]


def test_condensing_takes_the_unjudged_out_before_the_cut():
    table = table_of((QUERY, C, 1, 0.0, 1.0))
    stage = stage_after(20, metrics=["mrr@1"], judgments={"maturities": [20], "unjudged": "condensed"})
    assert values(stage, [held()], table)["vector_mrr_avg"] == [1.0]


def test_the_ideal_knows_documents_that_were_not_shown():
    table = table_of((QUERY, A, 1, 0.0, 1.0), (QUERY, D, 1, 0.0, 1.0))
    stage = stage_after(20, metrics=["recall@10"])
    assert values(stage, [held()], table)["vector_recall_avg"] == [0.5]


def test_documents_of_one_identity_are_found_once():
    table = table_of((QUERY, A, 1, 0.0, 1.0, 99), (QUERY, B, 1, 0.0, 1.0, 99), (QUERY, D, 1, 0.0, 1.0, 98))
    stage = stage_after(20, metrics=["dedup_recall@10"])
    assert values(stage, [held()], table)["vector_dedup_recall_avg"] == [0.5]


@pytest.mark.parametrize(("judged_at", "delay"), [(115.0, 15.0), (100.0, 0.0), (60.0, 0.0)])
def test_the_label_delay_is_the_time_until_the_first_judgment_and_never_negative(judged_at, delay):
    table = table_of((QUERY, A, 1, judged_at, 1.0))
    assert values(stage_after(20), [held()], table)["vector_label_delay_seconds"] == [delay]


def test_the_label_delay_is_told_once_for_each_impression():
    table = table_of((QUERY, A, 1, 105.0, 1.0))
    shown = held()
    assert values(stage_after(20), [shown], table)["vector_label_delay_seconds"] == [5.0]
    np.testing.assert_equal(values(stage_after(100), [shown], table)["vector_label_delay_seconds"], [NOTHING])


def test_a_stage_may_decide_about_clicks_and_judgments_at_once():
    stage = stage_after(10, judgments={"maturities": [10]}, metrics=["ndcg@10", "ctr@10"])
    told = {(CLICK, A, False, 101.0): (NOTHING, NOTHING)}
    scored = score(stage, held(), table_of((QUERY, A, 1, 0.0, 1.0)), side_by_side([0], [told]))
    families = [column.family for column in stage.columns]
    assert scored.values[0, families.index("vector_ctr_avg")] == 1
    assert scored.values[0, families.index("vector_ndcg_avg")] == 1

"""The engine: what becomes of each record, one behaviour a test, most with the timeline drawn.

In the drawings time runs to the right, `I` is an impression, `c` a click, `j` a judgment, and `|` a deadline.
Without lateness the watermark is the time of the newest record; a deadline has passed when it lies before it.
"""

import logging

import pytest

from monitor.stream.records import Role
from tests.unit.stream.timeline import (
    EVENTS,
    HOUR,
    SPLIT,
    Timeline,
    click,
    dwell,
    impression,
    judgment,
    outcome,
    tick,
)

# Deadlines: an impression is decided once for each delay, with what is known then.


def test_what_is_shown_is_observed_when_its_time_has_passed():
    """
    0        1
    I|       tick
    """
    line = Timeline()
    line.bring(impression("i", 0, latency_seconds=0.5))
    assert line.observed("vector_results") == []
    line.bring(tick(1))
    assert line.observed("vector_results") == [(1, 3.0)]
    assert line.observed("vector_search_latency_seconds") == [(1, 0.5)]


def test_clicks_are_decided_when_the_attribution_has_passed():
    """
    0    4         10        11
    I    c          |clicks  tick
    """
    line = Timeline()
    line.bring(impression("i", 0), click("i", 4, "b"), tick(10))
    assert line.observed("vector_ctr_avg") == []
    line.bring(tick(11))
    assert line.observed("vector_ctr_avg") == [(1, 1.0)]
    assert line.fates("click") == {"joined": 1}


def test_a_judgment_is_missing_from_the_maturity_before_it_and_counted_in_the_one_after():
    """
    0          20          40          100
    I          |20s        j           |100s
    """
    line = Timeline()
    line.bring(impression("i", 0), judgment("a", 40, 1))
    assert line.observed("vector_ndcg_avg", maturity="20s") == []
    line.bring(tick(101))
    assert line.observed("vector_ndcg_avg", maturity="100s") == [(1, 1.0)]
    assert line.snapshot.judged == {
        ("20s", "judged"): 0,
        ("20s", "unjudged"): 1,
        ("100s", "judged"): 1,
        ("100s", "unjudged"): 0,
    }


def test_a_deadline_sees_the_judgments_of_its_own_time_however_far_the_watermark_leaps():
    """
    0          20          40                  500
    I j=1      |20s        j=0 of the same     tick: both are decided in one step
    """
    line = Timeline(judgments={"maturities": [20, 100]}, metrics=["precision@1"])
    line.bring(impression("i", 0), judgment("a", 5, 1), judgment("a", 40, 0), tick(500))
    assert line.observed("vector_precision_avg", maturity="20s") == [(1, 1.0)]
    assert line.observed("vector_precision_avg", maturity="100s") == [(1, 0.0)]


def test_nothing_is_observed_twice():
    line = Timeline()
    line.bring(impression("i", 0), judgment("a", 1, 1), click("i", 2))
    for at in (50, 150, 500):
        line.bring(tick(at))
    assert line.observed("vector_results") == [(1, 3.0)]
    assert line.observed("vector_ctr_avg") == [(1, 1.0)]
    assert line.observed("vector_ndcg_avg", maturity="20s") == [(1, 1.0)]
    assert line.fates("impression") == {"settled": 1}


def test_an_impression_is_held_until_its_last_deadline_has_passed():
    line = Timeline()
    line.bring(impression("i", 0), tick(100))
    assert (line.snapshot.open_impressions, line.fates("impression")) == (1, {})
    line.bring(tick(100.5))
    assert (line.snapshot.open_impressions, line.fates("impression")) == (0, {"settled": 1})


def test_the_end_of_a_file_decides_everything():
    line = Timeline()
    line.bring(impression("i", 0), click("i", 1), click("nobody", 1), judgment("a", 1, 1))
    line.finish()
    assert line.fates("impression") == {"settled": 1}
    assert line.fates("click") == {"joined": 1, "unmatched": 1}
    assert line.observed("vector_ndcg_avg", maturity="100s") == [(1, 1.0)]
    line.assert_books_balance()


def test_the_label_delay_is_observed_once_from_the_first_judgment():
    line = Timeline()
    line.bring(impression("i", 0), judgment("a", 12, 1), judgment("b", 15, 1), tick(500))
    assert line.observed("vector_label_delay_seconds") == [(1, 12.0)]


def test_the_delay_of_a_decision_is_measured_by_the_clock():
    line = Timeline()
    line.bring(impression("i", 0), tick(1), now=HOUR + 31)
    line.bring(impression("j", 35), tick(36), now=HOUR + 37)
    delays = line.snapshot.delays
    assert delays.sums["0s"] == 33.0
    assert delays.buckets["0s"].sum() == 2


# Lateness.


def test_disorder_within_the_lateness_is_no_disorder():
    """
    0    10        watermark of 60 s behind the newest: -50
    j2   j1
    """
    line = Timeline(lateness_seconds=60)
    line.bring(impression("second", 10), impression("first", -50), tick(200))
    assert line.fates("impression") == {"settled": 2}


def test_an_impression_older_than_the_watermark_is_late_and_not_observed():
    """
    8    9         10
         I late    tick
    """
    line = Timeline()
    line.bring(tick(10), impression("late", 9.5), impression("on time", 10), tick(500))
    assert line.fates("impression") == {"late": 1, "settled": 1}
    assert line.observed("vector_results") == [(1, 3.0)]


def test_the_watermark_moves_with_every_record_not_with_every_chunk():
    one_by_one, at_once = Timeline(), Timeline()
    events = [tick(10), impression("late", 5), tick(30), click("x", 12), impression("late too", 20), tick(31)]
    for event in events:
        one_by_one.bring(event)
    at_once.bring(*events)
    assert at_once.snapshot.fates == one_by_one.snapshot.fates
    assert at_once.fates("impression") == {"late": 2}


def test_rejected_records_do_not_move_time():
    line = Timeline()
    line.bring(impression("i", 0), b'{"type": "click", "impression_id": "i", "ts": %d}' % (HOUR + 500))
    assert line.snapshot.watermarks == {0: HOUR}


# Joining.


def test_a_click_that_comes_before_its_impression_is_joined():
    line = Timeline(lateness_seconds=60)
    line.bring(click("i", 4), impression("i", 0), tick(200))
    assert line.fates("click") == {"joined": 1}
    assert line.observed("vector_ctr_avg") == [(1, 1.0)]


def test_a_click_beyond_the_attribution_is_unmatched():
    """
    0         10        12
    I          |clicks  c
    """
    line = Timeline(lateness_seconds=60)
    line.bring(impression("i", 0), click("i", 12), tick(200))
    assert line.fates("click") == {"unmatched": 1}
    assert line.observed("vector_ctr_avg") == [(1, 0.0)]


def test_a_click_that_comes_after_the_click_deadline_is_unmatched():
    line = Timeline()
    line.bring(impression("i", 0), tick(11), click("i", 5), tick(200))
    assert line.fates("click") == {"unmatched": 1}


def test_a_click_on_what_was_not_shown_is_unmatched_at_the_click_deadline():
    line = Timeline()
    line.bring(impression("i", 0), click("i", 5, "z"), click("i", 6, "b"))
    assert line.snapshot.pending_interactions == 2
    line.bring(tick(11))
    assert line.fates("click") == {"joined": 1, "unmatched": 1}
    assert line.snapshot.pending_interactions == 0


def test_a_click_without_an_impression_is_unmatched_when_its_time_has_passed():
    line = Timeline()
    line.bring(click("nobody", 5), tick(15))
    assert line.snapshot.pending_interactions == 1
    line.bring(tick(15.5))
    assert line.fates("click") == {"unmatched": 1}


def test_dwell_and_outcome_join_like_clicks():
    line = Timeline()
    line.bring(
        impression("i", 0),
        dwell("i", 1, 45.0),
        outcome("i", 2, outcome="successful", max_scroll_position=7),
        tick(200),
    )
    assert line.fates("dwell") == line.fates("outcome") == {"joined": 1}
    assert line.observed("vector_dwell_seconds") == [(1, 45.0)]
    assert line.observed("vector_outcome_success_avg") == [(1, 1.0)]
    assert line.observed("vector_scroll_depth") == [(1, 7.0)]


def test_of_key_and_position_the_key_wins():
    line = Timeline()
    line.bring(impression("i", 0), click("i", 1, "c", position=1), tick(200))
    assert line.snapshot.positions_clicked.sum(axis=0).tolist()[:3] == [0, 0, 1]


def test_positions_shown_and_clicked_are_counted():
    line = Timeline()
    line.bring(impression("i", 0, "ab"), impression("j", 0, "abc"), click("j", 1, "c"), tick(200))
    assert line.snapshot.positions_shown.sum(axis=0).tolist()[:4] == [2, 2, 1, 0]
    assert line.snapshot.positions_clicked.sum(axis=0).tolist()[:4] == [0, 0, 1, 0]


def test_a_key_that_stands_twice_counts_at_its_first_rank_and_is_counted():
    line = Timeline()
    line.bring(impression("i", 0, "abac"), tick(1))
    assert line.observed("vector_results") == [(1, 3.0)]
    assert line.snapshot.duplicate_keys == 1


# Duplicates.


def test_the_same_impression_while_the_first_is_held_is_a_duplicate():
    line = Timeline()
    line.bring(impression("i", 0), impression("i", 0), tick(99), impression("i", 99), tick(500))
    assert line.fates("impression") == {"settled": 1, "duplicate": 2}


def test_the_same_id_after_the_last_deadline_is_another_impression():
    line = Timeline()
    line.bring(impression("i", 0), tick(101), impression("i", 101), tick(500))
    assert line.fates("impression") == {"settled": 2}


def test_the_same_id_within_one_chunk_is_another_impression_once_the_first_is_settled():
    line = Timeline()
    line.bring(impression("i", 0))
    line.bring(tick(150), impression("i", 150))
    assert line.fates("impression") == {"settled": 1}
    assert line.snapshot.open_impressions == 1


def test_the_same_click_is_a_duplicate_and_another_time_or_key_is_not():
    line = Timeline()
    line.bring(impression("i", 0), click("i", 1), click("i", 1), click("i", 2), click("i", 2, "b"), tick(200))
    assert line.fates("click") == {"joined": 3, "duplicate": 1}


# Judgments.


@pytest.mark.parametrize(
    ("judgments", "fates"),
    [
        ([judgment("a", 0, 1)], {"applied": 1}),
        ([judgment("a", 0, 1), judgment("a", 1, 1)], {"applied": 1, "duplicate": 1}),
        ([judgment("a", 0, 1), judgment("a", 1, 2)], {"applied": 1, "regraded": 1}),
        ([judgment("a", 0, 1), judgment("a", 1, None)], {"applied": 1, "withdrawn": 1}),
        ([judgment("a", 0, 1), judgment("a", 1, 1, assessor="ann")], {"applied": 2}),
    ],
)
def test_a_judgment_among_the_events_gets_its_fate_at_once(judgments, fates):
    line = Timeline()
    line.bring(*judgments)
    assert line.fates("judgment") == fates
    line.assert_books_balance()


def test_a_tombstone_withdraws_the_judgment_that_its_key_names():
    line = Timeline()
    line.bring(impression("i", 0), judgment("a", 0, 1))
    line.tombstone(b'["q","a",""]', 1)
    line.bring(tick(200))
    assert line.fates("judgment") == {"applied": 2, "withdrawn": 1}
    assert line.snapshot.judged["20s", "unjudged"] == 1


def test_a_topic_of_judgments_is_a_table_and_does_not_move_time():
    line = Timeline({**SPLIT, "grades": Role.JUDGMENTS})
    line.bring(impression("i", 0), topic="shown")
    line.bring(click("i", 1), topic="done")
    line.bring(judgment("a", 300, 0), judgment("a", 2, 1), topic="grades", partition=5)
    assert line.snapshot.watermarks == {0: HOUR}
    line.bring(impression("j", 200), topic="shown")
    line.bring(click("j", 201), topic="done")
    assert line.observed("vector_ndcg_avg", maturity="20s") == [(1, 1.0)]
    assert line.snapshot.judgments == 1


def test_a_judgment_after_its_time_does_not_change_what_was_decided_whatever_the_chunk():
    """
    0       20      30       10
    I       |20s    tick     j comes too late for the first maturity
    """
    apart, together = Timeline(), Timeline()
    events = [impression("i", 0), tick(30), judgment("a", 10, 1), tick(200)]
    for event in events:
        apart.bring(event)
    together.bring(*events)
    for line in (apart, together):
        assert line.snapshot.judged["20s", "unjudged"] == 1
        assert line.observed("vector_ndcg_avg", maturity="100s") == [(1, 1.0)]


# Topics.


def test_interactions_in_a_topic_of_their_own_meet_the_impressions_of_their_partition():
    line = Timeline(SPLIT, partitions=2)
    line.bring(impression("i", 0), topic="shown", partition=1)
    line.bring(click("i", 1), topic="done", partition=1)
    line.finish()
    assert line.fates("click") == {"joined": 1}


def test_interactions_in_another_partition_do_not_meet_their_impression():
    line = Timeline(SPLIT, partitions=2)
    line.bring(impression("i", 0), topic="shown", partition=1)
    line.bring(click("i", 1), topic="done", partition=0)
    line.finish()
    assert line.fates("click") == {"unmatched": 1}


@pytest.mark.parametrize("topic", ["shown", "done"])
def test_a_judgment_in_a_topic_for_other_events_is_rejected(topic):
    line = Timeline(SPLIT)
    line.bring(judgment("a", 0, 1), topic=topic)
    assert line.rejected() == {"wrong_topic": 1}
    assert line.snapshot.judgments == 0
    line.assert_books_balance()


@pytest.mark.parametrize("event", [impression("i", 0), click("i", 0), outcome("i", 0)])
def test_anything_else_in_a_topic_of_judgments_is_rejected(event):
    line = Timeline({**SPLIT, "grades": Role.JUDGMENTS})
    line.bring(event, topic="grades")
    assert line.rejected() == {"wrong_topic": 1}
    line.assert_books_balance()


@pytest.mark.parametrize(
    ("event", "topic"), [(click("i", 0), "shown"), (outcome("i", 0), "shown"), (impression("i", 0), "done")]
)
def test_impressions_and_interactions_in_each_other_s_topic_are_taken_all_the_same(event, topic):
    line = Timeline(SPLIT)
    line.bring(event, topic=topic)
    assert line.rejected() == {}
    line.assert_books_balance()


def test_records_are_counted_by_topic():
    line = Timeline(SPLIT)
    line.bring(impression("i", 0), b"nonsense", topic="shown")
    line.bring(click("i", 0), topic="done")
    assert line.snapshot.records == {"shown": 2, "done": 1}
    assert line.rejected() == {"not_json": 1}


def test_a_record_ahead_of_its_kafka_timestamp_is_rejected_whatever_the_clock_says():
    line = Timeline()
    line.bring(impression("i", 601), impression("j", 600), timestamp=0)
    assert line.rejected() == {"future_ts": 1}


def test_a_record_without_a_timestamp_is_compared_with_the_clock():
    line = Timeline()
    line.bring(impression("i", 601), impression("j", 600), now=HOUR)
    assert line.rejected() == {"future_ts": 1}


# Labels.


def test_impressions_are_observed_under_their_labels():
    line = Timeline(labels=["variant"])
    line.bring(impression("i", 0, "a", labels={"variant": "x"}), impression("j", 0, "ab"), tick(1))
    assert line.snapshot.label_sets == [("x",), ("unknown",)]
    assert line.observed("vector_results") == [(1, 1.0), (1, 2.0)]


def test_the_value_after_the_fiftieth_goes_to_other_and_is_counted():
    line = Timeline(labels=["variant"])
    line.bring(*(impression(f"i{i}", 0, "a", labels={"variant": f"v{i}"}) for i in range(52)), tick(1))
    assert line.snapshot.label_overflow == {"variant": 2}
    assert len(line.snapshot.label_sets) == 51
    assert line.observed("vector_results")[-1] == (2, 2.0)


# Books, snapshots and logs.


def test_the_books_balance_at_every_moment():
    line = Timeline(lateness_seconds=5)
    for event in (
        impression("i", 0),
        click("i", 1),
        click("i", 1),
        click("nobody", 2),
        b"nonsense",
        impression("i", 3),
        judgment("a", 4, 1),
        dwell("i", 6, 3.0),
        tick(40),
        impression("late", 2),
        outcome("i", 8),
        tick(120),
    ):
        line.bring(event)
        line.assert_books_balance()
    line.finish()
    line.assert_books_balance()
    assert (line.snapshot.open_impressions, line.snapshot.pending_interactions) == (0, 0)


def test_a_snapshot_does_not_change_when_the_engine_goes_on():
    line = Timeline()
    line.bring(impression("i", 0), tick(1))
    before = line.snapshot
    kept = before.cells.sums.copy(), dict(before.fates), before.positions_shown.copy()
    line.bring(impression("j", 2), click("j", 3), tick(500))
    assert before.cells.sums.tolist() == kept[0].tolist()
    assert before.fates == kept[1]
    assert before.positions_shown.tolist() == kept[2].tolist()


def test_a_snapshot_has_the_newest_time_of_each_partition_and_the_watermark_of_each_task():
    line = Timeline(SPLIT, lateness_seconds=5)
    line.bring(impression("i", 10), impression("j", 4), topic="shown")
    line.bring(click("i", 30), topic="done")
    assert line.snapshot.newest == {("shown", 0): HOUR + 10, ("done", 0): HOUR + 30}
    assert line.snapshot.watermarks == {0: HOUR + 5}


def test_at_debug_the_scoring_can_be_followed_without_any_id_key_or_query(caplog):
    line = Timeline(EVENTS, labels=["variant"])
    with caplog.at_level(logging.DEBUG, logger="monitor"):
        line.bring(
            impression(
                "secret-impression",
                0,
                ["secret-key"],
                query="secret query",
                session_id="secret-session",
                labels={"variant": "secret-label"},
            ),
            click("secret-impression", 1, "secret-key"),
            judgment("secret-key", 1, 1, query="secret query", assessor="secret-assessor"),
            tick(500),
        )
    assert len(caplog.messages) == 4
    assert "decided after 20s: 1 results; ndcg@10=1" in caplog.text
    assert "secret" not in caplog.text


def test_above_debug_nothing_is_logged(caplog):
    line = Timeline()
    with caplog.at_level(logging.INFO, logger="monitor"):
        line.bring(impression("i", 0), b"nonsense", tick(500))
    assert caplog.messages == []

"""What a restart finds changed: the configuration, what was late, what overflowed."""

import pytest

from monitor.stream.labels import MAX_VALUES
from monitor.stream.records import Chunk, Start
from tests.unit.stream.timeline import HOUR, NOW, SPLIT, Timeline, click, impression, judgment, tick

ZERO = ("events", 0)


def restarted(first, **changes):
    """Another engine, with another configuration, that reads the same log again from the checkpoint."""
    offset, metadata = first.engine.checkpoints()[ZERO]
    second = Timeline(begin=False, **changes)
    start = Start(offset, metadata, fresh=False, from_beginning=False, end=len(first.log))
    second.engine.assign({ZERO: start}, NOW)
    for topic, partition, record in first.log[offset:]:
        second.engine.ingest(Chunk(topic, partition, [record]), NOW)
    second.log = list(first.log)
    second._ends[ZERO] = len(first.log)
    return second


def half_way(**settings):
    """Two impressions with clicks; time stands at 15: decided for clicks is the first of them."""
    line = Timeline(**settings)
    line.bring(judgment("a", -5, 1), impression("i", 0), click("i", 1), impression("j", 14), click("j", 15))
    return line


def all_of(kind, *lines):
    total = {}
    for line in lines:
        for fate, number in line.fates(kind).items():
            total[fate] = total.get(fate, 0) + number
    return total


@pytest.mark.parametrize("attribution", [5, 10, 30])
def test_with_another_attribution_every_interaction_is_still_counted_once(attribution):
    first = half_way()
    second = restarted(first, attribution_seconds=attribution)
    second.bring(tick(500))
    assert first.fates("click") == {"joined": 1}
    assert all_of("click", first, second) == {"joined": 2}
    assert all_of("impression", first, second) == {"settled": 2}
    assert first.observed("vector_ctr_avg") == second.observed("vector_ctr_avg") == [(1, 1.0)]


@pytest.mark.parametrize(
    "changes",
    [
        {"attribution_seconds": 5},
        {"attribution_seconds": 30},
        {"attribution_seconds": 150},
        {"judgments": {"maturities": [20]}},
        {"judgments": {"maturities": [20, 1000]}},
        {"judgments": {"maturities": [50]}},
        {"attribution_seconds": 30, "judgments": {"maturities": [20, 500]}},
    ],
    ids=str,
)
@pytest.mark.parametrize("at", [15, 25, 101, 160])
@pytest.mark.parametrize("more", [None, 26, 110])
def test_a_second_restart_after_a_change_counts_once_too(changes, at, more):
    """The third begins from what the second has stored, soon after it began or some time later."""
    first = half_way()
    if at > 15:
        first.bring(tick(at))
    second = restarted(first, **changes)
    if more:
        second.bring(tick(at + more))
    third = restarted(second, **changes)
    third.bring(tick(5000))
    assert all_of("click", first, second, third) == {"joined": 2}
    assert all_of("impression", first, second, third) == {"settled": 2}
    clicked = [line.observed("vector_ctr_avg") for line in (first, second, third)]
    assert sum(count for found in clicked for count, _ in found) == 2
    kept = {20, 100} & set(second.config.judgments.maturities)
    for maturity in (f"{seconds:g}s" if seconds != 100 else "100s" for seconds in kept):
        judged = [line.observed("vector_ndcg_avg", maturity=maturity) for line in (first, second, third)]
        assert sum(count for found in judged for count, _ in found) == 2


def test_a_maturity_that_is_new_is_counted_once_over_two_restarts_in_the_middle_of_reading_again():
    first = half_way()
    first.bring(tick(40))
    second = restarted(first, judgments={"maturities": [20, 50]})
    third = restarted(second, judgments={"maturities": [20, 50]})
    third.bring(tick(500))
    found = [line.observed("vector_ndcg_avg", maturity="50s") for line in (second, third)]
    assert sum(count for one in found for count, _ in one) == 2


@pytest.mark.parametrize("maturities", [[20], [100], [20, 100, 300], [50]])
def test_with_other_maturities_every_impression_is_still_settled_once(maturities):
    first = half_way()
    first.bring(tick(101))  # the first one is settled
    assert first.fates("impression") == {"settled": 1}
    second = restarted(first, judgments={"maturities": maturities})
    second.bring(tick(1000))
    assert all_of("impression", first, second) == {"settled": 2}
    assert all_of("click", first, second) == {"joined": 2}


def test_a_maturity_that_was_there_goes_on_and_one_that_is_new_begins_with_what_the_log_still_has():
    first = half_way()
    first.bring(tick(30))  # 20 s have passed for the first one
    second = restarted(first, judgments={"maturities": [20, 200]})
    second.bring(tick(1000))
    assert first.observed("vector_ndcg_avg", maturity="20s")[0][0] == 1
    assert second.observed("vector_ndcg_avg", maturity="20s")[0][0] == 1
    assert second.observed("vector_ndcg_avg", maturity="200s")[0][0] == 2


def test_a_metric_that_is_new_begins_with_the_deadlines_that_are_still_to_come():
    first = half_way()
    second = restarted(first, metrics=["ndcg@10", "ctr@10", "click_mrr@3", "abandonment"])
    second.bring(tick(500))
    assert second.observed("vector_click_mrr_avg") == [(1, 1.0)]


def test_labels_that_are_new_hold_for_what_is_counted_from_now_on():
    first = half_way()
    second = restarted(first, labels=["variant"])
    second.bring(impression("k", 30, labels={"variant": "x"}), tick(500))
    names = [second.engine.labels.values[row] for row in range(len(second.snapshot.label_sets))]
    assert names == [("unknown",), ("x",)]
    assert [count for count, _ in second.observed("vector_ctr_avg")] == [1, 1]


def test_windows_of_another_size_are_partial_until_they_are_covered():
    first = half_way()
    second = restarted(first, windows=[30])
    second.bring(impression("k", 61), tick(500))
    assert second.windows("vector_results")[60] == (1, 3.0)


def late_by_the_clock():
    """Event time went on with the clock of an idle partition, and then came an impression of before."""
    line = Timeline()
    line.bring(impression("i", 0))
    line.idle(ZERO, now=50)
    line.bring(impression("late", 5), click("late", 6))
    assert line.fates("impression") == {"late": 1}
    return line


def test_what_was_late_is_late_when_it_is_read_again():
    first = late_by_the_clock()
    second = restarted(first)
    second.bring(tick(500))
    assert all_of("impression", first, second) == {"late": 1, "settled": 1}
    assert second.observed("vector_results") == []


def test_what_was_late_stays_late_over_several_restarts():
    first = late_by_the_clock()
    third = restarted(restarted(first))
    third.bring(tick(500))
    assert third.fates("impression") == {"settled": 1}


def test_a_late_judgment_before_the_first_impression_is_taken_in_where_anything_was_late():
    second = restarted(late_by_the_clock())
    second.bring(click("z", 480), judgment("a", 20, 1), impression("b", 481), tick(900))
    assert second.fates("impression") == {"settled": 2}
    assert second.fates("click") == {"unmatched": 1}


def test_labels_that_overflowed_are_not_counted_again():
    first = Timeline(labels=["variant"])
    for i in range(MAX_VALUES + 3):
        first.bring(impression(f"i{i}", 0, labels={"variant": f"v{i}"}))
    assert first.snapshot.label_overflow == {"variant": 3}
    second = restarted(first, labels=["variant"])
    second.bring(tick(500))
    assert second.snapshot.label_overflow == {"variant": 0}


def test_a_log_that_ends_before_what_was_counted_is_another_and_is_counted():
    first = half_way()
    _, metadata = first.engine.checkpoints()[ZERO]
    second = Timeline(begin=False)
    second.engine.assign({ZERO: Start(0, metadata, fresh=False, from_beginning=True, end=2)}, HOUR + 20)
    second.bring(tick(16), tick(17), tick(18))
    assert sum(second.snapshot.records.values()) == 1  # the two that are left were counted
    assert second.engine.to_replay == 0


def test_a_replay_ends_though_aborted_records_lie_just_below_what_was_counted():
    first = half_way()
    end = len(first.log) + 100
    first.engine.reach({ZERO: end, ("events", 7): 3})
    offset, metadata = first.engine.checkpoints()[ZERO]
    second = Timeline(begin=False)
    second.engine.assign({ZERO: Start(offset, metadata, fresh=False, from_beginning=False, end=end)}, NOW)
    for topic, partition, record in first.log[offset:]:
        second.engine.ingest(Chunk(topic, partition, [record]), NOW)
    assert second.engine.to_replay == 100
    second.engine.reach({ZERO: end})
    assert second.engine.to_replay == 0
    second._ends[ZERO] = end
    second.bring(tick(500))
    assert sum(second.snapshot.records.values()) == 1
    assert all_of("click", first, second) == {"joined": 2}
    assert all_of("impression", first, second) == {"settled": 2}


@pytest.mark.parametrize("end", [0, 2])
def test_a_topic_that_was_made_anew_is_counted_whole(end):
    """Nothing is stored of it any more, but the other topic of the task still tells of the old one."""
    first = Timeline(SPLIT)
    first.bring(*(impression(f"i{n}", n) for n in range(20)), topic="shown")
    first.bring(click("i0", 1), topic="done")
    _, metadata = first.engine.checkpoints()["done", 0]
    second = Timeline(SPLIT, begin=False)
    starts = {
        ("shown", 0): Start(0, "", fresh=False, from_beginning=True, end=end),
        ("done", 0): Start(0, metadata, fresh=False, from_beginning=False, end=1),
    }
    second.engine.assign(starts, NOW)
    second.bring(*(impression(f"new{n}", 30 + n) for n in range(10)), topic="shown")
    assert second.snapshot.records == {"shown": 10, "done": 0}


def test_a_log_that_begins_anew_while_it_is_read_is_counted():
    first = half_way()
    second = restarted(first)
    before = sum(second.snapshot.records.values())
    for event in (tick(20), tick(21)):
        second._ends[ZERO] = 0 if event == tick(20) else 1
        second.bring(event)
    assert sum(second.snapshot.records.values()) == before + 2

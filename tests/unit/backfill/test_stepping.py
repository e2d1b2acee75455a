"""Stepping: what was decided when, by a clock that stops at every step."""

import pytest

from monitor.backfill.grid import Grid
from monitor.backfill.stepping import Stepper
from tests.unit.backfill.steps import batch, samples, spans, steps
from tests.unit.stream.timeline import HOUR, click, impression, judgment, settings

# Deadlines after 0, 10, 20 and 100 seconds; and what is late by more than 30 seconds is late.
CONFIG = settings(lateness_seconds=30)


def first_count(taken, name: str, **labels: str) -> int:
    """When a series has its first increase."""
    found = samples(spans(CONFIG, taken), name, **labels)
    return min(at for at, value in found.items() if value > 0)


@pytest.mark.parametrize(
    ("shown_at", "counted_at"),
    [
        (29.0, 60),
        (30.0, 60),  # 30 + 30 is a time of the grid
        (30.001, 120),
        (90.0, 120),
    ],
)
def test_an_impression_is_counted_at_the_first_step_not_before_its_time_and_the_lateness(
    shown_at, counted_at
):
    taken = steps(CONFIG, batch(impression("i", shown_at)))
    assert first_count(taken, "vector_results_count") == counted_at


@pytest.mark.parametrize(
    ("name", "labels", "delay"),
    [
        ("vector_results_count", {}, 0),
        ("vector_ctr_avg_count", {}, 10),
        ("vector_position_shown_total", {"position": "1"}, 10),
        ("ranking_monitor_events_total", {"type": "click", "fate": "joined"}, 10),
        ("vector_ndcg_avg_count", {"maturity": "20s"}, 20),
        ("vector_ndcg_squares_total", {"maturity": "20s"}, 20),
        ("ranking_monitor_judged_total", {"maturity": "20s", "fate": "judged"}, 20),
        ("vector_ndcg_avg_count", {"maturity": "100s"}, 100),
        ("ranking_monitor_events_total", {"type": "impression", "fate": "settled"}, 100),
        ("ranking_monitor_decision_delay_seconds_count", {"delay": "100s"}, 100),
    ],
)
def test_each_series_counts_an_impression_after_its_own_delay(name, labels, delay):
    taken = steps(CONFIG, batch(judgment("a", -5, 1), impression("i", 4), click("i", 6)), step=2)
    assert first_count(taken, name, **labels) == 4 + delay + 30


def test_what_is_counted_on_arrival_is_counted_at_the_time_of_the_event():
    found = spans(CONFIG, steps(CONFIG, batch(impression("i", 2), judgment("a", 5, 1)), step=2))
    applied = samples(found, "ranking_monitor_events_total", type="judgment", fate="applied")
    assert [applied[at] for at in (0, 2, 4, 6)] == [0, 0, 0, 1]
    records = samples(found, "ranking_monitor_records_total", topic="search-events")
    assert [records[at] for at in (0, 2, 4, 6)] == [0, 1, 1, 2]


def test_what_is_rejected_counts_when_it_comes_and_moves_no_clock():
    far = b'{"type": "click", "ts": %d}' % (HOUR + 50_000)
    taken = steps(CONFIG, batch(b"no event", impression("i", 4), far, impression("j", 130)))
    found = spans(CONFIG, taken)
    assert samples(found, "ranking_monitor_rejected_total", reason="not_json")[60] == 1
    missing = samples(found, "ranking_monitor_rejected_total", reason="missing_field")
    assert (missing[0], missing[60]) == (0, 1)
    assert samples(found, "ranking_monitor_events_total", type="impression", fate="late")[120] == 0


def test_nothing_but_rejected_records_is_no_step():
    assert steps(CONFIG, batch(b"no event", b"{}")) == []


def test_rejected_records_of_a_batch_before_the_first_event_are_counted_with_it():
    taken = steps(CONFIG, batch(b"no event"), batch(impression("i", 4)))
    found = samples(spans(CONFIG, taken), "ranking_monitor_rejected_total", reason="not_json")
    assert (found[0], found[60]) == (0, 1)


def test_a_silence_of_hours_has_all_its_steps():
    taken = steps(CONFIG, batch(impression("i", 10), impression("j", 7200)))
    assert [step.at - HOUR for step in taken] == list(range(0, 7200 + 100 + 30 + 60, 60))
    found = samples(spans(CONFIG, taken), "vector_results_count")
    assert {found[at] for at in range(60, 7200, 60)} == {1.0}


def test_old_judgments_begin_nothing_and_are_used():
    old = [judgment("a", -3e7, 1), judgment("b", -2e7, 0)]
    for batches in ([batch(*old, impression("i", 4))], [batch(*old), batch(impression("i", 4))]):
        taken = steps(CONFIG, *batches)
        assert taken[0].at == HOUR
        found = spans(CONFIG, taken)
        applied = samples(found, "ranking_monitor_events_total", type="judgment", fate="applied")
        assert (applied[0], applied[60]) == (0, 2)
        assert samples(found, "vector_ndcg_avg_count", maturity="20s")[60] == 1


def test_steps_begin_no_earlier_than_event_time_is_by_a_judgment():
    taken = steps(CONFIG, batch(judgment("a", 200, 1)), batch(impression("i", 175)))
    assert taken[0].at == HOUR + 180
    assert samples(spans(CONFIG, taken), "vector_results_count") == {180: 0, 240: 1, 300: 1, 360: 1}


def test_judgments_before_the_samples_begin_are_taken_off_also_where_impressions_come_much_later():
    events = [judgment("a", -3e7, 1), impression("i", 5000), judgment("b", 5001, 1), impression("j", 5070)]
    taken = steps(CONFIG, batch(*events), since=600)
    found = spans(CONFIG, taken, since=600)
    applied = samples(found, "ranking_monitor_events_total", type="judgment", fate="applied")
    assert [applied.get(at) for at in (540, 4980, 5040, 5100)] == [None, 0, 1, 1]
    assert samples(found, "vector_ndcg_avg_count", maturity="20s")[5100] == 1


def test_a_single_event_of_1970_does_not_cost_steps_for_each_minute_since():
    shown = {**impression("i", 0), "ts": 1000.0}
    taken = steps(CONFIG, batch(shown, impression("j", 10), impression("k", 50)))
    assert len(taken) < 2000
    found = samples(spans(CONFIG, taken), "vector_results_count")
    assert [found.get(at) for at in (-60, 0, 60, 120)] == [None, 1, 2, 3]


def test_it_ends_when_all_is_decided_or_with_the_grid():
    shown = batch(impression("i", 0))
    assert steps(CONFIG, shown)[-1].at == HOUR + 180  # 0 + 100 + 30
    assert steps(CONFIG, shown, until=119)[-1].at == HOUR + 60


def traffic(count: int):
    """Impressions every 7 seconds with a click and a judgment each, and one that is out of order by 40 s."""
    return [
        event
        for i in range(count)
        for event in (
            *(impression(f"i{i}", 7 * i, query=f"q{i % 3}"), click(f"i{i}", 7 * i + 3)),
            *(judgment("a", 7 * i + 1, i % 4, query=f"q{i % 3}"), impression(f"late{i}", 7 * i - 40)),
        )
    ]


def assert_same(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        for series, same in zip(one.series, other.series, strict=True):
            assert (series.name, series.labels) == (same.name, same.labels)
            assert series.times.tolist() == same.times.tolist()
            assert series.values.tolist() == pytest.approx(same.values.tolist())


def test_how_events_are_cut_into_batches_changes_nothing():
    events = traffic(40)
    whole = spans(CONFIG, steps(CONFIG, batch(*events)))
    assert_same(spans(CONFIG, steps(CONFIG, *(batch(event) for event in events))), whole)
    assert samples(whole, "ranking_monitor_events_total", type="impression", fate="late")[300] > 0


def test_what_is_left_out_long_before_the_samples_begin_changes_nothing():
    events, since = traffic(200), 600
    whole = spans(CONFIG, steps(CONFIG, batch(*events)), since)
    needed_from = Stepper(CONFIG, Grid.ending(HOUR, 60), HOUR + since).needed_from
    assert needed_from > HOUR + 300
    needed = [event for event in events if event["type"] == "judgment" or event["ts"] >= needed_from]
    short = steps(CONFIG, batch(*needed), since=since)
    assert short[1].at >= needed_from
    assert_same(spans(CONFIG, short, since), whole)

"""The engine and event time: idle partitions, stuck ones, several tasks, and windows that wait."""

import json
import random

import pytest

from monitor.stream.checkpoint import decode
from monitor.stream.records import Chunk, Role, Start
from tests.unit.stream.timeline import (
    HOUR,
    NOW,
    SPLIT,
    Record,
    Timeline,
    click,
    impression,
    judgment,
    tick,
)

ZERO, ONE = ("events", 0), ("events", 1)
SHOWN, DONE = ("shown", 0), ("done", 0)


# Idleness.


def test_an_idle_partition_moves_on_with_the_clock():
    """
    0          clock: 101
    I          nothing more comes, and every deadline passes
    """
    line = Timeline()
    line.bring(impression("i", 0))
    line.idle(ZERO, now=101)
    assert line.fates("impression") == {"settled": 1}
    assert line.snapshot.watermarks == {0: HOUR + 101}


def test_the_clock_of_an_idle_partition_is_less_the_lateness_too():
    line = Timeline(lateness_seconds=60)
    line.bring(impression("i", 0))
    line.idle(ZERO, now=160)
    assert line.fates("impression") == {}
    line.idle(ZERO, now=160.5)
    assert line.fates("impression") == {"settled": 1}


def test_a_stuck_partition_stays_where_it_is():
    line = Timeline()
    line.bring(impression("i", 0))
    line.engine.advance(NOW)
    assert line.snapshot.watermarks == {0: HOUR}
    assert line.snapshot.open_impressions == 1


def test_an_idle_topic_does_not_hold_the_other_topic_of_its_task_back():
    """
    Shown  I(0)            I(50)
    done   nothing, idle at 60
    """
    line = Timeline(SPLIT)
    line.bring(impression("i", 0), topic="shown")
    line.bring(impression("j", 50), topic="shown")
    assert line.observed("vector_results") == []
    line.idle(DONE, now=60)
    assert line.observed("vector_results") == [(1, 3.0)]
    assert line.snapshot.watermarks == {0: HOUR + 50}


def test_a_stuck_topic_holds_the_other_topic_of_its_task_back():
    line = Timeline(SPLIT)
    line.bring(click("i", 1), topic="done")
    line.bring(impression("i", 0), topic="shown")
    for at in (50, 500, 5000):
        line.bring(impression(f"j{at}", at), topic="shown")
    assert line.snapshot.watermarks == {0: HOUR + 1}
    assert line.fates("click") == {}


def test_idleness_does_not_make_what_comes_within_the_lateness_late():
    line = Timeline(lateness_seconds=60)
    line.bring(impression("i", 0))
    line.idle(ZERO, now=100)
    line.bring(impression("j", 41), tick(500))
    assert line.fates("impression") == {"settled": 2}


def test_idleness_of_a_partition_that_is_not_ours_changes_nothing():
    line = Timeline()
    line.bring(impression("i", 0))
    line.idle(("events", 7), ("other", 0), now=500)
    assert line.snapshot.watermarks == {0: HOUR}


# Several tasks.


def test_each_task_decides_by_its_own_watermark_where_judgments_have_their_own_topic():
    line = Timeline({**SPLIT, "grades": Role.JUDGMENTS}, partitions=2)
    for partition, at in ((0, 5), (1, 0)):
        line.bring(impression("i", 0), impression("j", at), topic="shown", partition=partition)
        line.bring(click("i", at), topic="done", partition=partition)
    assert line.snapshot.watermarks == {0: HOUR + 5, 1: HOUR}
    assert line.observed("vector_results") == [(1, 3.0)]


def test_where_any_partition_may_bring_judgments_a_task_waits_for_the_slowest_to_decide():
    line = Timeline(partitions=2)
    line.bring(impression("i", 0), tick(5), partition=0)
    line.bring(impression("j", 0), partition=1)
    assert line.snapshot.watermarks == {0: HOUR + 5, 1: HOUR}
    assert line.observed("vector_results") == []
    line.bring(tick(1), partition=1)
    assert line.observed("vector_results") == [(2, 6.0)]


def test_a_judgment_that_a_slower_partition_brings_is_in_time():
    """
    Task 0  I(0)             tick(50)
    task 1           j(10)            tick(50)
    """
    line = Timeline(partitions=2)
    line.bring(impression("i", 0), tick(50), partition=0)
    line.bring(judgment("a", 10, 1), tick(50), partition=1)
    assert line.observed("vector_ndcg_avg", maturity="20s") == [(1, 1.0)]


def test_the_same_id_in_two_tasks_is_two_impressions():
    line = Timeline(partitions=2)
    for partition in (0, 1):
        line.bring(impression("i", 0), partition=partition)
    line.finish()
    assert line.fates("impression") == {"settled": 2}


# Windows.


def test_a_window_has_the_impressions_whose_time_falls_in_it():
    """
    0           59.5  60           120
    [ I(0)      I   ) [ I         ) tick
    """
    line = Timeline()
    line.bring(impression("i", 0, "a"), impression("j", 59.5, "ab"), impression("k", 60, "abc"), tick(121))
    assert line.windows("vector_results") == {0: (2, 3.0), 60: (1, 3.0)}


def test_a_window_closes_for_each_metric_after_its_own_delay():
    line = Timeline()
    line.bring(judgment("a", 0, 1), impression("i", 0), click("i", 1))
    closed_at = {}
    for at in range(55, 175, 5):
        line.bring(tick(at + 0.5))
        for window in line.engine.windows():
            closed_at.setdefault(window.stage.delay, at + 0.5)
    assert closed_at == {0: 60.5, 10: 70.5, 20: 80.5, 100: 160.5}


def test_the_window_waits_for_the_slowest_task():
    """
    Task 0  I(0)    tick(500)
    task 1  I(10)   tick(30)       ... tick(61)
    """
    line = Timeline(partitions=2)
    line.bring(impression("i", 0, "a"), tick(500), partition=0)
    line.bring(impression("j", 10, "a"), tick(30), partition=1)
    assert line.windows("vector_results") == {}
    line.bring(tick(61), partition=1)
    assert line.windows("vector_results") == {0: (2, 2.0)}


def test_a_task_that_has_brought_nothing_yet_holds_every_window_back_until_it_is_idle():
    line = Timeline(partitions=2)
    line.bring(impression("i", 0), tick(500), partition=0)
    assert line.windows("vector_results") == {}
    line.idle(ONE, now=61)
    assert line.windows("vector_results") == {0: (1, 3.0)}


def test_a_closed_window_never_changes():
    line = Timeline()
    line.bring(impression("i", 0), tick(61))
    closed = line.windows("vector_results")
    line.bring(impression("late", 30), tick(500))
    assert line.windows("vector_results") == closed == {0: (1, 3.0)}


def test_there_is_no_window_where_nothing_was_shown():
    line = Timeline()
    line.bring(impression("i", 0), impression("j", 180), tick(500))
    assert list(line.windows("vector_results")) == [0, 180]


def test_the_newest_window_is_in_the_snapshot_and_gone_when_an_empty_one_follows():
    line = Timeline()
    line.bring(impression("i", 0), tick(61))
    assert [window.start - HOUR for window in line.snapshot.windows if window.stage.delay == 0] == [0]
    line.bring(tick(121))
    assert [window for window in line.snapshot.windows if window.stage.delay == 0] == []


def partial_windows(line):
    return {window.start - HOUR: window.partial for window in line.engine.windows() if not window.stage.delay}


def begin_in_the_middle(line, now):
    line.engine.assign({ZERO: Start(1000, "", fresh=True, from_beginning=False)}, HOUR + now)


def test_a_window_that_began_before_the_reading_is_partial():
    """
    0           20 first record      60
    [ unread    I                   )[ I       )
    """
    line = Timeline(begin=False)
    begin_in_the_middle(line, now=90)
    line.bring(impression("i", 25), timestamp=20)
    line.bring(impression("j", 65), tick(121), timestamp=121)
    assert partial_windows(line) == {0: True, 60: False}


def test_a_window_is_partial_up_to_where_a_partition_that_brings_nothing_was_assigned():
    """
    0                60      90                120             180
    task 0  [ I     )[ I                      )[ I            )
    task 1  unread, assigned at its end here, and idle from then on
    """
    line = Timeline(begin=False)
    starts = {
        ZERO: Start(0, "", fresh=True, from_beginning=True),
        ONE: Start(1000, "", fresh=True, from_beginning=False),
    }
    line.engine.assign(starts, HOUR + 90)
    line.bring(*(impression(f"i{at}", at) for at in (30, 80, 130)), tick(181))
    line.idle(ONE, now=181)
    assert partial_windows(line) == {0: True, 60: True, 120: False}


def test_read_from_the_beginning_of_the_log_no_window_is_partial():
    line = Timeline()
    line.bring(impression("i", 25), timestamp=20)
    line.bring(tick(61), timestamp=61)
    assert partial_windows(line) == {0: False}


def test_read_from_a_given_time_on_windows_are_whole_from_there_though_a_partition_is_quiet():
    line = Timeline(partitions=2)
    start = Start(10, "", fresh=True, from_beginning=False, since=HOUR + 60)
    line.engine.assign({ZERO: start, ONE: start}, NOW)
    line.bring(impression("i", 30), impression("j", 70), tick(500), partition=0)
    line.idle(ONE, now=500)
    assert [(w.start - HOUR, w.partial) for w in line.engine.windows() if w.stage.delay == 0][:2] == [
        (0, True),
        (60, False),
    ]


# When it is decided.


def take(line, records, *, lazily):
    """Hand events over, in polls of up to seven; `lazily` without deciding in between."""
    for i in range(0, len(records), 7):
        for topic, event in records[i : i + 7]:
            if isinstance(event, float):
                line.engine.idle({(topic, 0): HOUR + event})
            else:
                line.add(event, topic=topic)
        if not lazily:
            line.engine.advance(NOW)


@pytest.mark.parametrize("seed", range(20))
def test_when_something_is_decided_does_not_change_what_is_decided(seed):
    rng = random.Random(seed)
    records = []
    for at in sorted(rng.uniform(0, 300) for _ in range(120)):
        name, key = f"i{rng.randrange(60)}", rng.choice("abc")
        kind = rng.random()
        if kind < 0.4:
            records.append(("shown", impression(name, at + rng.uniform(-8, 0), query=rng.choice("pq"))))
        elif kind < 0.8:
            records.append(("done", click(name, at + rng.uniform(-8, 0), key)))
        elif kind < 0.9:
            records.append(("grades", judgment(key, at, 1, query=rng.choice("pq"))))
        else:
            records.append((rng.choice(("shown", "done")), at))
    roles = {**SPLIT, "grades": Role.JUDGMENTS}
    at_once, later = (Timeline(roles, lateness_seconds=5) for _ in range(2))
    take(at_once, records, lazily=False)
    take(later, records, lazily=True)
    for line in (at_once, later):
        line.finish()
        line.assert_books_balance()
    one, other = at_once.snapshot, later.snapshot
    assert (one.fates, one.judged) == (other.fates, other.judged)
    assert one.cells.buckets.tolist() == other.cells.buckets.tolist()
    assert one.positions_clicked.tolist() == other.positions_clicked.tolist()


def test_how_far_was_counted_is_told_when_all_that_is_due_was_decided():
    """
    Shown  I(0)     I(50)
    done            c(50)   c(5) of nobody: unmatched as it comes, so what is due until then must count too
    """
    line = Timeline(SPLIT)
    line.add(impression("i", 0), topic="shown")
    line.add(impression("j", 50), topic="shown")
    line.add(click("j", 50), topic="done")
    line.add(click("gone", 5), topic="done")
    assert line.fates("click") == {"unmatched": 1}
    stored = decode(line.engine.checkpoints()[DONE][1])
    assert (stored.positions["done"], stored.watermark) == (2, HOUR + 50)


# What comes together is taken in as if each had come alone.

TOGETHER = [
    impression("i", 0),
    click("i", 1),
    tick(150),
    click("i", 2),  # after its time: no impression that can still come would be near
    impression("i", 151),  # the deadlines of the first have passed: another one
    click("i", 152),
    judgment("a", 140, 1),  # late: the second is not decided yet, but what has passed is
    impression("i", 153),
    click("j", 153),
    impression("j", 154),
]


@pytest.mark.parametrize("cut", range(1, len(TOGETHER)))
def test_what_becomes_of_records_does_not_depend_on_which_come_together(cut):
    line = Timeline()
    line.add(*TOGETHER[:cut])
    line.bring(*TOGETHER[cut:])
    line.finish()
    assert line.fates("impression") == {"settled": 3, "duplicate": 1}
    assert line.fates("click") == {"joined": 3, "unmatched": 1}
    assert line.observed("vector_ctr_avg") == [(3, 3.0)]
    line.assert_books_balance()


def test_a_click_that_comes_again_after_its_time_is_no_duplicate_whichever_records_come_together():
    events = [impression("i", 0), click("i", 8), click("j", 12), click("i", 8)]
    together, apart = Timeline(), Timeline()
    together.bring(*events)
    for event in events:
        apart.bring(event)
    for line in (together, apart):
        line.finish()
        assert line.fates("click") == {"joined": 1, "unmatched": 2}


def test_records_that_tell_no_time_leave_that_of_the_others_as_it_is():
    told = [(impression("i", 0), 0), (impression("j", 90_000), int(HOUR * 1000))]
    records = [
        Record(json.dumps(event).encode(), offset, timestamp=stamp)
        for offset, (event, stamp) in enumerate(told)
    ]
    line = Timeline()
    line.engine.ingest(Chunk("events", 0, records), NOW)
    assert line.rejected() == {"future_ts": 1}

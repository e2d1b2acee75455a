"""Clicks that come later than the lateness, and restarts: each click has one fate."""

import json
from collections import Counter

import pytest

from monitor.stream.records import CREATE_TIME, Chunk, Start
from tests.unit.stream.timeline import HOUR, NOW, SPLIT, Record, Timeline, click, impression

SETTINGS = {"attribution_seconds": 10, "lateness_seconds": 5}
LAST_DEADLINES = {"after the last click": [20, 100], "before it": [3]}


def log_of(*events):
    """Records of a topic, each written when its `ts` says."""
    return [
        Record(json.dumps(event).encode(), offset, None, int(event["ts"] * 1000), CREATE_TIME)
        for offset, event in enumerate(events)
    ]


def feed(line, topic, *records, **more):
    for record in records:
        line.engine.ingest(Chunk(topic, 0, [record], **more), NOW)
        line.engine.advance(NOW)


def resumed(first, maturities):
    second = Timeline(SPLIT, begin=False, **SETTINGS, judgments={"maturities": maturities})
    commits = first.engine.checkpoints()
    second.engine.assign(
        {tp: Start(*at, fresh=False, from_beginning=False) for tp, at in commits.items()}, NOW
    )
    return second


def clicks(*lines):
    found = Counter()
    for line in lines:
        found.update(line.fates("click"))
    return dict(found)


@pytest.mark.parametrize("maturities", LAST_DEADLINES.values(), ids=LAST_DEADLINES)
def test_a_click_after_the_deadline_of_its_impression_is_unmatched_at_once(maturities):
    line = Timeline(SPLIT, **SETTINGS, judgments={"maturities": maturities})
    feed(line, "shown", *log_of(impression("i", 0), impression("j", 16)))
    feed(line, "done", *log_of(click("nobody", 16), click("i", 8)))
    assert line.fates("click") == {"unmatched": 1}
    assert line.snapshot.pending_interactions == 1


@pytest.mark.parametrize("maturities", LAST_DEADLINES.values(), ids=LAST_DEADLINES)
def test_a_click_that_came_after_the_deadline_of_its_impression_is_not_lost_with_a_restart(maturities):
    """
    SHOWN   I(0)  16             W has passed 10, the deadline of I, when the click of 8 comes.
    DONE          16  C(8)       Read again before the 16 of SHOWN, it comes when W has not.
    """
    shown, done = log_of(impression("i", 0), impression("j", 16)), log_of(click("x", 16), click("i", 8))
    first = Timeline(SPLIT, **SETTINGS, judgments={"maturities": maturities})
    feed(first, "shown", *shown)
    feed(first, "done", *done)
    second = resumed(first, maturities)
    feed(second, "shown", shown[0])
    feed(second, "done", *done)
    feed(second, "shown", shown[1])
    second.finish()
    assert clicks(first, second) == {"unmatched": 2}


@pytest.mark.parametrize("maturities", LAST_DEADLINES.values(), ids=LAST_DEADLINES)
def test_a_click_that_was_joined_is_not_counted_again_as_unmatched(maturities):
    """
    SHOWN   I(0)          16     W is -5 when the click of 8 comes, and passes 10 later.
    DONE        16  C(8)         Read again after the 16 of SHOWN, it comes when W has passed 10.
    """
    shown, done = log_of(impression("i", 0), impression("j", 16)), log_of(click("x", 16), click("i", 8))
    first = Timeline(SPLIT, **SETTINGS, judgments={"maturities": maturities})
    feed(first, "shown", shown[0])
    feed(first, "done", *done)
    feed(first, "shown", shown[1])
    assert first.fates("click") == {"joined": 1}
    second = resumed(first, maturities)
    feed(second, "shown", *shown)
    feed(second, "done", *done)
    second.finish()
    assert clicks(first, second) == {"joined": 1, "unmatched": 1}


def test_a_click_that_was_joined_is_not_counted_again_though_most_producers_times_are_ahead():
    """Live, the clock bounds event time. Read again, the median of wrong times does, and it runs faster."""
    first = Timeline(**SETTINGS)
    log = log_of(
        impression("i", 0),
        *(impression(f"ahead{n}", 300 + n / 100) for n in range(40)),
        click("i", 2),
        impression("j", 16.5),
    )
    clocks = [0.0] * 41 + [2.0, 16.5]
    for record, clock in zip(log, clocks, strict=True):
        first.engine.ingest(Chunk("events", 0, [record]), HOUR + clock)
        first.engine.advance(HOUR + clock)
    assert first.fates("click") == {"joined": 1}
    second = Timeline(begin=False, **SETTINGS)
    [(partition, commit)] = first.engine.checkpoints().items()
    second.engine.assign({partition: Start(*commit, fresh=False, from_beginning=False)}, NOW)
    second.engine.ingest(Chunk("events", 0, log[commit[0] :], catching_up=True, at_end=True), NOW)
    second.finish()
    assert clicks(first, second) == {"joined": 1}

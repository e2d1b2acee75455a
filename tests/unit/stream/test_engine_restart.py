"""Restart and rebalance: a second engine takes over from the checkpoints of the first."""

import json
from collections import Counter
from itertools import groupby

import pytest

from monitor.stream.checkpoint import Checkpoint, encode
from monitor.stream.records import Chunk, Role, Start
from tests.unit.stream.timeline import (
    EVENTS,
    HOUR,
    NOW,
    SPLIT,
    Record,
    Timeline,
    click,
    dwell,
    impression,
    judgment,
    outcome,
    tick,
)

ZERO, ONE = ("events", 0), ("events", 1)
GRADES = {"grades": Role.JUDGMENTS}


def day(lateness):
    """A busy stretch with every fate, out of order by less than the lateness, as (ts, event)."""
    events = []
    for i in range(28):
        at, name = i * 11.0, f"i{i}"
        events.append((at, impression(name, at, "abcd", query=f"q{i % 3}", labels={"variant": "xy"[i % 2]})))
        events.append((at + 2, click(name, at + 2, "abcz"[i % 4])))
        if i % 4 == 0:
            events += [(at + 2, click(name, at + 2, "a"))] * 2
            events.append((at + 4, dwell(name, at + 4, 20.0 + i)))
        if i % 5 == 0:
            events.append((at + 1, impression(name, at + 1)))
            events.append((at + 5, outcome(name, at + 5, outcome="successful")))
        if i % 6 == 0:
            events.append((at + 3, b"nonsense"))
            events.append((at + 3, click(f"nobody{i}", at + 3)))
        if i % 3 == 0:
            events.append((at + 6, judgment("abcd"[i % 4], at + 6, i % 3, query=f"q{i % 3}")))
    order = sorted(range(len(events)), key=lambda n: events[n][0] + (n * 7 % 5) / 5 * lateness)
    return [events[n] for n in order]


def topic_of(event, roles):
    if set(roles) >= {"shown", "done"}:
        if isinstance(event, dict) and event["type"] == "judgment":
            return "grades"
        return "shown" if isinstance(event, dict) and event["type"] == "impression" else "done"
    return "events"


def partition_of(event, partitions):
    if isinstance(event, dict) and event["type"] == "judgment":
        return 0
    name = event["impression_id"] if isinstance(event, dict) else ""
    return sum(name.encode()) % partitions


def run(roles, partitions, chunk=1):
    """The whole stretch without an interruption."""
    line = Timeline(roles, partitions, labels=["variant"], lateness_seconds=8)
    placed = [(topic_of(e, roles), partition_of(e, partitions), e) for _, e in day(8)]
    for (topic, partition), group in groupby(placed, key=lambda one: one[:2]):
        found = [event for _, _, event in group]
        for i in range(0, len(found), chunk):
            line.bring(*found[i : i + chunk], topic=topic, partition=partition)
    return line


def record(event, offset):
    return Record(json.dumps(event).encode(), offset)


def feed(line, arrivals):
    """Hand records over as they came, one at a time."""
    for topic, partition, record in arrivals:
        line.engine.ingest(Chunk(topic, partition, [record]), NOW)
        line.engine.advance(NOW)


def resumed(line, checkpoints, arrivals):
    """Another engine that is assigned with the checkpoints and reads again from there.

    Judgments of a topic of their own are read whole, to the end, before anything else.
    """
    second = Timeline(line.roles, begin=False, labels=["variant"], lateness_seconds=8)
    tables = [a for a in arrivals if line.roles[a.topic] is Role.JUDGMENTS]
    feed(second, tables)
    starts = {tp: Start(*at, fresh=False, from_beginning=False) for tp, at in checkpoints.items()}
    second.engine.assign(starts, NOW)
    feed(
        second,
        [a for a in arrivals if a not in tables and a.record.offset >= starts[a.topic, a.partition].offset],
    )
    return second


def counted(snapshot):
    """Everything that Prometheus adds up over restarts, as one flat mapping; judgment tables begin anew."""
    found = Counter({("fate", *key): n for key, n in snapshot.fates.items() if key[0] != "judgment"})
    found.update({("judged", *key): n for key, n in snapshot.judged.items()})
    found.update({("rejected", reason): n for reason, n in snapshot.rejected.items()})
    found.update({("records", topic): n for topic, n in snapshot.records.items() if topic != "grades"})
    found["duplicate keys",] = snapshot.duplicate_keys
    for row, values in enumerate(snapshot.label_sets):
        for i, column in enumerate(snapshot.columns):
            name = (values, column.family, column.labels)
            found["count", *name] += int(snapshot.cells.counts[row, i])
            found["sum", *name] += round(float(snapshot.cells.sums[row, i]) * 2**20)
        for position in range(4):
            found["shown", values, position] += int(snapshot.positions_shown[row, position])
            found["clicked", values, position] += int(snapshot.positions_clicked[row, position])
    return +found


def windows_of(line):
    """Size, start and delay -> what is in each closed window, by the values of its labels."""
    return {
        (window.size, window.start, window.stage.delay): {
            (line.engine.labels.values[row], column.family, column.labels): (
                int(window.cells.counts[row, i]),
                pytest.approx(float(window.cells.sums[row, i])),
            )
            for row in range(len(window.cells.sums))
            for i, column in enumerate(window.stage.columns)
            if window.cells.counts[row, i]
        }
        for window in line.engine.windows()
    }


LAYOUTS = {
    "one topic": (EVENTS, 1),
    "one topic, two tasks": (EVENTS, 2),
    "split topics": ({**SPLIT, **GRADES}, 1),
    "split topics, two tasks": ({**SPLIT, **GRADES}, 2),
}


@pytest.mark.parametrize(("roles", "partitions"), LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("cut", [0.05, 0.4, 0.8, 1.0])
def test_after_a_restart_nothing_is_counted_twice_and_nothing_is_lost(roles, partitions, cut):
    whole = run(roles, partitions)
    read = int(len(whole.log) * cut)
    first = Timeline(roles, partitions, labels=["variant"], lateness_seconds=8)
    feed(first, whole.log[:read])
    second = resumed(first, first.engine.checkpoints(), whole.log)
    expected = counted(whole.finish().snapshot)
    assert expected["fate", "click", "unmatched"] > 5
    assert counted(first.snapshot) + counted(second.finish().snapshot) == expected


@pytest.mark.parametrize(("roles", "partitions"), LAYOUTS.values(), ids=LAYOUTS)
@pytest.mark.parametrize("cut", [0.52, 0.8])
def test_the_windows_of_a_restarted_run_are_those_of_an_uninterrupted_one(roles, partitions, cut):
    whole = run(roles, partitions)
    first = Timeline(roles, partitions, labels=["variant"], lateness_seconds=8)
    feed(first, whole.log[: int(len(whole.log) * cut)])
    second = resumed(first, first.engine.checkpoints(), whole.log)
    closed_before, closed_after = windows_of(first), windows_of(second.finish())
    assert closed_before
    assert closed_after
    assert closed_before | closed_after == windows_of(whole.finish())
    assert not closed_before.keys() & closed_after.keys()
    assert not any(window.partial for window in second.engine.windows())


def test_partitions_may_be_read_again_one_after_the_other():
    roles = {**SPLIT, **GRADES}
    whole = run(roles, 2)
    first = Timeline(roles, 2, labels=["variant"], lateness_seconds=8)
    half = len(whole.log) // 2
    feed(first, whole.log[:half])
    again = sorted(whole.log[:half], key=lambda arrival: arrival[:2]) + whole.log[half:]
    second = resumed(first, first.engine.checkpoints(), again)
    assert counted(first.snapshot) + counted(second.finish().snapshot) == counted(whole.finish().snapshot)
    assert windows_of(first) | windows_of(second) == windows_of(whole)


def test_chunks_of_any_size_leave_checkpoints_that_count_once():
    whole, coarse = run(EVENTS, 1), run(EVENTS, 1, chunk=17)
    second = resumed(coarse, coarse.engine.checkpoints(), whole.log)
    assert counted(coarse.snapshot) + counted(second.finish().snapshot) == counted(whole.finish().snapshot)


def test_a_second_restart_while_it_still_reads_again_counts_once_too():
    """The third begins from the checkpoints of a second that has not yet caught up with the first."""
    whole = run(EVENTS, 1)
    first = Timeline(labels=["variant"], lateness_seconds=8)
    feed(first, whole.log[: len(whole.log) // 2])
    second = resumed(first, first.engine.checkpoints(), whole.log[: len(whole.log) // 3])
    third = resumed(second, second.engine.checkpoints(), whole.log)
    parts = [counted(line.snapshot) for line in (first, second, third.finish())]
    assert parts[0] + parts[1] + parts[2] == counted(whole.finish().snapshot)


def test_what_comes_after_a_restart_is_late_by_the_event_time_before_it():
    """Before the restart the clock of an idle partition had moved event time to 50; no record says so."""
    line = Timeline(begin=False)
    said = encode(Checkpoint(positions={"events": 1}, watermark=HOUR + 50))
    line.engine.assign({ZERO: Start(1, said, fresh=False, from_beginning=False)}, NOW)
    line.engine.ingest(
        Chunk("events", 0, [record(impression("late", 49), 1), record(impression("i", 50), 2)]), NOW
    )
    line.finish()
    assert line.fates("impression") == {"late": 1, "settled": 1}


# Where it reads again from.


def stored(line, partition=ZERO):
    return line.engine.checkpoints()[partition]


def test_the_offset_to_come_back_to_is_that_of_the_oldest_record_still_needed():
    """
    0       60      110                 161
    I(0)    I(60)   window and deadlines of the first have passed at 160
    """
    line = Timeline()
    line.bring(impression("i", 0))
    line.bring(impression("j", 60))
    line.bring(impression("k", 160))
    assert stored(line)[0] == 0
    line.bring(impression("l", 161))
    assert stored(line)[0] == 1


def test_an_impression_is_needed_for_as_long_as_its_interactions_may_be_waited_for():
    """
    0       9                  19          Read again without the impression, the click would wait for it
    I       C joined           | until 19  in vain, and end a second time.
    """
    settings = {"attribution_seconds": 10, "judgments": {"maturities": [5]}, "windows": []}
    line = Timeline(**settings)
    line.bring(impression("i", 0))
    line.bring(click("i", 9))
    line.bring(tick(18))
    assert line.fates("click") == {"joined": 1}
    assert stored(line)[0] == 0


def test_what_is_needed_is_known_to_a_thousand_records():
    line = Timeline()
    line.bring(*(impression(f"i{n}", n / 100) for n in range(2500)), impression("far", 5000))
    line.bring(impression("further", 5001))
    assert stored(line)[0] == 2000


def test_when_nothing_is_needed_any_more_it_is_the_next_offset():
    line = Timeline()
    line.bring(impression("i", 0))
    line.idle(ZERO, now=500)
    assert stored(line)[0] == 1


def test_judgments_among_the_events_keep_the_log_from_the_first_of_them():
    line = Timeline()
    line.bring(impression("i", 0))
    line.bring(judgment("a", 1, 1))
    line.bring(impression("j", 5000))
    line.idle(ZERO, now=9000)
    assert stored(line)[0] == 1


def test_a_window_waits_for_the_slowest_task_and_so_do_the_records_in_it():
    line = Timeline(partitions=2)
    line.bring(impression("i", 0))
    line.bring(impression("far ahead", 5000))
    line.bring(impression("slow", 10), partition=1)
    assert stored(line)[0] == 0


# What was stored is not to be trusted.


def test_where_nothing_was_stored_everything_is_counted_from_the_offset_on():
    line = Timeline(begin=False)
    line.engine.assign({ZERO: Start(0, "", fresh=False, from_beginning=False, end=3)}, NOW)
    line.bring(impression("i", 0), click("i", 1), tick(500))
    assert line.fates("impression") == {"settled": 1}
    assert sum(line.snapshot.records.values()) == 3


@pytest.mark.parametrize("metadata", ["damaged", '{"v":9,"p":{"events":1},"s":1.0}'])
def test_where_it_cannot_be_read_how_far_was_counted_nothing_is_counted_again_and_it_is_said(
    metadata, caplog
):
    line = Timeline(begin=False)
    line.engine.assign({ZERO: Start(0, metadata, fresh=False, from_beginning=False, end=3)}, HOUR + 2)
    assert "partition 0: how far it was counted cannot be read: it is " in caplog.text
    line.bring(impression("i", 0), click("i", 1), tick(1), now=HOUR + 2)
    assert sum(line.snapshot.records.values()) == 0
    line.bring(impression("j", 3), click("j", 4), tick(500))
    assert sum(line.snapshot.records.values()) == 3
    # Shown before, but decided for clicks only now, as far as anybody knows.
    assert line.fates("impression") == {"settled": 2}
    assert line.fates("click") == {"joined": 2}


def test_where_the_partitions_of_a_task_disagree_the_lower_counts():
    line = Timeline(SPLIT, begin=False)
    said = {
        "shown": Checkpoint(positions={"shown": 2, "done": 1}, watermark=HOUR + 50),
        "done": Checkpoint(positions={"shown": 1, "done": 1}, watermark=HOUR + 5),
    }
    line.engine.assign(
        {(topic, 0): Start(0, encode(c), fresh=False, from_beginning=False) for topic, c in said.items()}, NOW
    )
    line.bring(click("i", 0), topic="done")
    line.bring(impression("i", 0), impression("j", 20), impression("k", 30), topic="shown")
    assert line.snapshot.records == {"shown": 2, "done": 0}


# Rebalance: tasks come and go within one process.


def assigned(line, kept=(), **positions):
    """Assign partitions of `events` by number, each at an offset and without metadata."""
    starts = {
        ("events", int(number[1:])): Start(offset, "", fresh=False, from_beginning=False, kept=number in kept)
        for number, offset in positions.items()
    }
    line.engine.assign(starts, NOW)


def test_a_task_that_goes_on_keeps_what_it_holds():
    line = Timeline()
    line.bring(impression("i", 0))
    assigned(line, kept=["p0"], p0=1, p1=0)
    assert line.snapshot.open_impressions == 1
    line.finish()
    assert line.fates("impression") == {"settled": 1}


def test_a_task_that_was_taken_away_is_dropped_with_what_it_holds():
    line = Timeline(partitions=2)
    line.bring(impression("i", 0), click("i", 1), partition=1)
    assigned(line, kept=["p0"], p0=0)
    assert (line.snapshot.open_impressions, line.snapshot.pending_interactions) == (0, 0)
    assert line.snapshot.watermarks.keys() == {0}


def test_a_task_that_was_taken_away_no_longer_holds_windows_back():
    line = Timeline(partitions=2)
    line.bring(impression("i", 0), tick(61), partition=0)
    line.bring(impression("j", 5), partition=1)
    assigned(line, kept=["p0"], p0=2)
    line.engine.advance(NOW)
    assert line.windows("vector_results") == {0: (1, 3.0)}


def test_a_task_that_comes_back_is_not_counted_again_where_scrapes_see_all_at_once():
    line = Timeline(commit="interval")
    line.bring(impression("i", 0), click("i", 1), tick(15))
    before = counted(line.snapshot)
    log = list(line.log)
    assigned(line, p1=0)
    assert counted(line.snapshot) == before
    assigned(line, p0=0)
    feed(line, log)
    assert counted(line.snapshot) == before
    line.finish()
    assert line.fates("impression") == {"settled": 1}
    assert line.fates("click") == {"joined": 1}


def test_what_no_scrape_has_shown_of_a_task_goes_with_it_and_is_counted_when_it_comes_back():
    line = Timeline()
    line.bring(impression("i", 0), click("i", 1), tick(15))
    before = counted(line.snapshot)
    log = list(line.log)
    assigned(line, p1=0)
    assert counted(line.snapshot) == Counter()
    assigned(line, p0=0)
    feed(line, log)
    assert counted(line.snapshot) == before


def test_a_topic_that_was_deleted_and_created_is_counted_though_scrapes_have_shown_the_old_one():
    line = Timeline(commit="interval")
    line.bring(impression("i", 0), click("i", 1), tick(15))
    shown = line.snapshot.records["events"]
    assigned(line, p1=0)
    line.engine.assign({ZERO: Start(0, "", fresh=True, from_beginning=True, end=5)}, NOW)
    assert line.engine.to_replay == 0
    second = Timeline()
    second.bring(impression("j", 20), tick(40))
    feed(line, second.log)
    assert line.snapshot.records["events"] == shown + 2

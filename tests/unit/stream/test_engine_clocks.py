"""The engine and clocks that are wrong: they cost nobody else anything."""

import json
import math

import pytest

from monitor.stream.checkpoint import Checkpoint, decode, encode
from monitor.stream.records import APPEND_TIME, CREATE_TIME, Chunk, Role, Start
from tests.unit.stream.timeline import HOUR, NOW, Record, Timeline, click, impression, judgment, tick

ZERO = ("events", 0)
YEAR = 365 * 86_400
TYPES = {"CreateTime": CREATE_TIME, "LogAppendTime": APPEND_TIME}


class Log:
    """The log of one partition, written second by second."""

    def __init__(self, timestamp_type: int) -> None:
        self.records: list[Record] = []
        self.timestamp_type = timestamp_type

    def write(self, event, at: float, lead: float = 0.0) -> None:
        """Write an event at a time of the broker's clock; the sender's is ahead by `lead`."""
        event = {**event, "ts": event["ts"] + lead} if isinstance(event, dict) else event
        stamp = HOUR + at + (lead if self.timestamp_type == CREATE_TIME else 0)
        value = event if isinstance(event, bytes) else json.dumps(event).encode()
        self.records.append(Record(value, len(self.records), None, int(stamp * 1000), self.timestamp_type))


def traffic(timestamp_type: int, *leads: float, seconds: int = 300, senders: int = 10) -> Log:
    """An impression a second from ten senders; the first ones are ahead by so much."""
    log = Log(timestamp_type)
    for second in range(seconds):
        sender = second % senders
        lead = leads[sender] if sender < len(leads) else 0.0
        log.write(impression(f"i{second}-{sender}", second), second, lead)
    return log


def live(line: Timeline, log: Log, first: int = 0) -> None:
    """Read each record in the second in which it was written."""
    for second, record in enumerate(log.records[first:], start=first):
        line.engine.ingest(Chunk("events", 0, [record]), HOUR + second + 0.5)
        line.engine.advance(HOUR + second + 0.5)


def caught_up(line: Timeline, log: Log, *, now: float = NOW, first: int = 0, chunk: int = 40) -> None:
    """Read the whole log long after it was written."""
    for i in range(first, len(log.records), chunk):
        records = log.records[i : i + chunk]
        line.engine.ingest(
            Chunk("events", 0, records, catching_up=True, at_end=records[-1] is log.records[-1]), now
        )
        line.engine.advance(now)


def honest(line: Timeline) -> int:
    """Impressions that are neither late nor rejected nor from the sender that is ahead."""
    fates = line.fates("impression")
    return fates.get("settled", 0) + line.snapshot.open_impressions


# A sender ahead.


@pytest.mark.parametrize("timestamp_type", TYPES.values(), ids=TYPES)
@pytest.mark.parametrize("lead", [300.0, 590.0, YEAR])
@pytest.mark.parametrize("read", [live, caught_up])
def test_one_sender_of_ten_that_is_ahead_costs_the_others_nothing(timestamp_type, lead, read):
    line = Timeline(lateness_seconds=5)
    read(line, traffic(timestamp_type, lead))
    assert line.fates("impression").get("late", 0) == 0
    rejected = line.rejected().get("future_ts", 0)
    assert honest(line) == 300 - rejected
    assert rejected in (0, 30)


@pytest.mark.parametrize("timestamp_type", TYPES.values(), ids=TYPES)
@pytest.mark.parametrize("read", [live, caught_up])
def test_a_single_event_ahead_does_not_make_the_next_minutes_late(timestamp_type, read):
    line = Timeline(lateness_seconds=5)
    log = traffic(timestamp_type, seconds=60)
    log.write(impression("ahead", 60), 60, lead=590)
    for second in range(61, 120):
        log.write(impression(f"i{second}", second), second)
    read(line, log)
    assert line.fates("impression").get("late", 0) == 0


@pytest.mark.parametrize("read", [live, caught_up])
def test_what_really_is_late_still_is(read):
    line = Timeline(lateness_seconds=5)
    log = traffic(APPEND_TIME, seconds=60)
    log.write(impression("late", 20), 60)
    read(line, log)
    assert line.fates("impression")["late"] == 1


def test_event_time_never_passes_the_clock_of_the_poll():
    line = Timeline()
    line.bring(impression("i", 590), now=HOUR)
    assert line.snapshot.watermarks == {0: HOUR}


def test_a_backlog_of_create_times_moves_with_most_of_its_records():
    line = Timeline(lateness_seconds=0)
    log = traffic(CREATE_TIME, 300.0)
    line.engine.ingest(Chunk("events", 0, log.records, catching_up=True), NOW)
    assert HOUR + 280 <= line.snapshot.watermarks[0] <= HOUR + 300


def test_at_the_end_of_a_small_backlog_event_time_is_that_of_its_newest_record():
    line = Timeline(lateness_seconds=0)
    caught_up(line, traffic(CREATE_TIME, seconds=5))
    assert line.snapshot.watermarks == {0: HOUR + 4}


def test_judgments_move_event_time_by_the_same_rule():
    """A partition that brings only judgments holds nobody back, and takes nobody ahead."""
    line = Timeline(partitions=2, lateness_seconds=0)
    line.bring(impression("i", 10), partition=0, now=HOUR + 20)
    line.bring(judgment("a", 15, 1), judgment("b", 300, 1), partition=1, now=HOUR + 20)
    assert line.snapshot.watermarks == {0: HOUR + 10, 1: HOUR + 20}


# What is too far ahead.


def test_a_ts_too_far_ahead_of_the_record_timestamp_is_rejected_whatever_the_clock_says():
    line = Timeline(ahead_seconds=60)
    log = Log(APPEND_TIME)
    log.write(impression("i", 161), 100)
    log.write(impression("j", 160), 100)
    line.engine.ingest(Chunk("events", 0, log.records), HOUR + 5000)
    assert line.rejected() == {"future_ts": 1}


def test_a_create_time_as_far_ahead_as_its_ts_is_caught_by_the_clock():
    line = Timeline()
    log = Log(CREATE_TIME)
    log.write(impression("i", 100), 100, lead=YEAR)
    line.engine.ingest(Chunk("events", 0, log.records), HOUR + 100)
    assert line.rejected() == {"future_ts": 1}


def test_an_append_time_is_never_compared_with_our_own_clock():
    """It is our clock that is an hour behind."""
    line = Timeline()
    log = Log(APPEND_TIME)
    log.write(impression("i", 3600), 3600)
    line.engine.ingest(Chunk("events", 0, log.records), HOUR)
    assert line.rejected() == {}


def test_a_ts_far_ahead_does_not_pin_the_committed_offset():
    line = Timeline()
    log = Log(CREATE_TIME)
    log.write(impression("ahead", 0), 0, lead=YEAR)
    for second in range(1, 400):
        log.write(impression(f"i{second}", second), second)
    live(line, log)
    offset, _ = line.engine.checkpoints()[ZERO]
    assert offset > 100


# After a restart.


def restarted(first: Timeline, **changes) -> tuple[Timeline, int]:
    """Another engine with what the first has committed, and the offset to read again from."""
    offset, metadata = first.engine.checkpoints()[ZERO]
    second = Timeline(begin=False, **changes)
    second.engine.assign({ZERO: Start(offset, metadata, fresh=False, from_beginning=False)}, NOW)
    return second, offset


@pytest.mark.parametrize("timestamp_type", TYPES.values(), ids=TYPES)
@pytest.mark.parametrize("lead", [300.0, YEAR])
@pytest.mark.parametrize("cut", [40, 150, 299])
def test_after_a_restart_with_a_sender_ahead_each_impression_counts_once(timestamp_type, lead, cut):
    log = traffic(timestamp_type, lead)
    first = Timeline(lateness_seconds=5)
    live(first, _head(log, cut))
    second, offset = restarted(first, lateness_seconds=5)
    caught_up(second, log, first=offset, chunk=17)
    second.finish()
    total = {
        key: first.snapshot.fates[key] + second.snapshot.fates[key]
        for key in first.snapshot.fates
        if key[0] == "impression"
    }
    rejected = first.rejected().get("future_ts", 0) + second.rejected().get("future_ts", 0)
    assert total["impression", "late"] == 0
    assert total["impression", "settled"] + rejected == 300


def _head(log: Log, count: int) -> Log:
    head = Log(log.timestamp_type)
    head.records = log.records[:count]
    return head


def test_what_the_clock_rejected_is_rejected_when_it_is_read_again_a_year_later():
    log = Log(CREATE_TIME)
    log.write(impression("i", 0), 0)
    log.write(impression("ahead", 1), 1, lead=YEAR)
    first = Timeline()
    live(first, log)
    _, metadata = first.engine.checkpoints()[ZERO]
    assert decode(metadata).ahead == {"events": [1]}
    second = Timeline(begin=False)
    second.engine.assign({ZERO: Start(0, metadata, fresh=False, from_beginning=False)}, HOUR + 2 * YEAR)
    caught_up(second, log, now=HOUR + 2 * YEAR)
    assert second.snapshot.open_impressions == 1
    second.finish()
    assert second.fates("impression") == {"settled": 1}
    assert second.rejected() == {}


def test_more_records_far_ahead_than_a_checkpoint_can_list_are_rejected_again_and_pin_nothing():
    log = Log(CREATE_TIME)
    for number in range(150):
        log.write(impression(f"ahead{number}", 0), 0, lead=YEAR)
    log.write(impression("i", 1), 1)
    first = Timeline()
    first.engine.ingest(Chunk("events", 0, log.records), HOUR + 1)
    first.engine.advance(HOUR + 1)
    second, offset = restarted(first)
    assert offset == 0
    for second_of_day in range(2, 1000):
        log.write(impression(f"i{second_of_day}", second_of_day), second_of_day)
    caught_up(second, log)
    assert second.engine.checkpoints()[ZERO][0] > 150
    second.finish()
    assert second.fates("impression") == {"settled": 999}


def test_impressions_that_are_evicted_while_they_are_read_again_are_counted_by_their_own_deadline():
    said = Checkpoint(positions={"events": 8}, watermark=HOUR + 130)
    line = Timeline(begin=False, limits={"open": 1})
    line.engine.assign({ZERO: Start(0, encode(said), fresh=False, from_beginning=False)}, NOW)
    line.bring(tick(140))
    for at in (129, 20, 128):
        line.bring(impression(f"i{at}", at))
    line.bring(tick(140), tick(140), tick(140), tick(140), tick(500))
    # That of 20 was settled before 130; the others were not, and are counted once.
    fates = line.fates("impression")
    assert fates.get("settled", 0) + fates.get("evicted", 0) == 2


def test_what_is_read_again_is_late_only_if_the_checkpoint_says_so():
    """The log is read again in another order, and by another rule: who was late has been decided."""
    said = Checkpoint(positions={"events": 3}, watermark=HOUR + 30, late={"events": [1]})
    line = Timeline(begin=False)
    line.engine.assign({ZERO: Start(0, encode(said), fresh=False, from_beginning=False)}, NOW)
    log = Log(APPEND_TIME)
    for name, ts, at in (("first", 50, 50), ("was late", 20, 51), ("in time", 25, 52)):
        log.write(impression(name, ts), at)
    caught_up(line, log)
    assert line.snapshot.open_impressions == 2
    assert line.snapshot.watermarks == {0: HOUR + 50}
    assert decode(line.engine.checkpoints()[ZERO][1]).late == {"events": [1]}


def test_while_it_reads_again_event_time_does_not_pass_what_was_decided():
    said = Checkpoint(positions={"events": 99}, watermark=HOUR + 30)
    line = Timeline(begin=False, lateness_seconds=7)
    line.engine.assign({ZERO: Start(0, encode(said), fresh=False, from_beginning=False)}, NOW)
    line.bring(impression("i", 10), tick(500))
    assert line.snapshot.watermarks == {0: HOUR + 30}


def test_an_impression_older_than_what_was_decided_keeps_its_order_when_it_is_read_again():
    said = Checkpoint(positions={"events": 8}, watermark=HOUR + 30)
    line = Timeline(begin=False)
    line.engine.assign({ZERO: Start(0, encode(said), fresh=False, from_beginning=False)}, NOW)
    line.bring(tick(40))
    for at in (29, 28, 27):
        line.bring(impression(f"i{at}", at), click(f"i{at}", at))
    line.bring(tick(38), tick(39))
    # The clicks of i28 and i27 are decided now, those of i29 have to wait.
    assert line.observed("vector_ctr_avg") == [(2, 2.0)]
    line.bring(tick(200))
    assert line.observed("vector_ctr_avg") == [(3, 3.0)]
    assert line.fates("impression") == {"settled": 3}


@pytest.mark.parametrize("ahead", [3600.0, 86_400.0, YEAR])
def test_a_commit_of_0_1_that_is_ahead_is_taken_back_to_the_clock_and_it_is_said(ahead, caplog):
    said = Checkpoint(positions={"events": 5}, watermark=NOW + ahead, apart={"clicks": NOW + ahead + 9})
    line = Timeline(begin=False, lateness_seconds=5)
    line.engine.assign({ZERO: Start(5, encode(said), fresh=False, from_beginning=False)}, NOW)
    assert "ahead of the clock" in caplog.text
    log = Log(APPEND_TIME)
    log.records = [None] * 5
    since = NOW - HOUR
    log.write(impression("i", since), since)
    log.write(click("i", since + 1), since + 1)
    log.write(impression("j", since + 200), since + 200)
    line.engine.ingest(Chunk("events", 0, log.records[5:]), NOW + 200)
    line.finish()
    assert line.fates("impression") == {"settled": 2}
    assert line.fates("click") == {"joined": 1}


# Readings of clocks.


def test_the_lead_is_that_of_the_sender_furthest_ahead_of_the_log():
    line = Timeline()
    live(line, traffic(APPEND_TIME, 20.0, 300.0, seconds=20))
    assert line.snapshot.leads == {"events": 300.0}


def test_the_lead_of_create_times_is_measured_against_our_clock():
    line = Timeline()
    live(line, traffic(CREATE_TIME, 20.0, YEAR, seconds=20))
    assert line.snapshot.leads == {"events": pytest.approx(YEAR - 0.5)}


def test_a_lead_is_forgotten_after_some_minutes():
    line = Timeline()
    live(line, traffic(APPEND_TIME, 300.0, seconds=1))
    log = traffic(APPEND_TIME, seconds=1)
    line.engine.ingest(Chunk("events", 0, [log.records[0]._replace(offset=1)]), HOUR + 100)
    assert line.snapshot.leads == {"events": 300.0}
    for now in (400, 800):
        line.engine.ingest(Chunk("events", 0, [log.records[0]._replace(offset=now)]), HOUR + now)
        line.snapshot  # noqa: B018 - a scrape looks at it
    assert line.snapshot.leads == {"events": 0.0}


@pytest.mark.parametrize("skew", [-40.0, 25.0])
def test_the_skew_of_our_clock_is_known_from_what_the_broker_has_just_written(skew):
    line = Timeline()
    log = traffic(APPEND_TIME, seconds=10)
    for second, record in enumerate(log.records):
        line.engine.ingest(Chunk("events", 0, [record]), HOUR + second + skew + (second % 3) * 0.4)
    assert line.snapshot.clock_skews == {"events": pytest.approx(skew)}


def test_a_backlog_and_create_times_say_nothing_about_our_clock():
    line = Timeline()
    caught_up(line, traffic(APPEND_TIME, seconds=10))
    assert line.snapshot.clock_skews == {}
    line = Timeline()
    live(line, traffic(CREATE_TIME, seconds=10))
    assert line.snapshot.clock_skews == {}


def test_how_late_a_late_impression_is_says_which_lateness_would_have_kept_it():
    line = Timeline(lateness_seconds=5)
    line.bring(impression("i", 100), impression("late", 60), impression("later", 30))
    late = line.snapshot.late
    assert (late.buckets.sum(), late.sum) == (2, 110.0)
    kept = Timeline(lateness_seconds=70)
    kept.bring(impression("i", 100), impression("late", 60), impression("later", 30))
    assert kept.snapshot.late.buckets.sum() == 0


def test_what_was_late_before_a_restart_is_not_observed_again():
    first = Timeline()
    first.bring(impression("i", 100), impression("late", 60))
    second, offset = restarted(first)
    assert offset == 0
    for arrival in first.log:
        second.engine.ingest(Chunk("events", 0, [arrival.record]), NOW)
    assert second.snapshot.late.buckets.sum() == 0
    assert math.isclose(first.snapshot.late.sum, 40.0)


def test_judgments_of_a_topic_of_their_own_are_rejected_by_the_same_bound():
    line = Timeline({"events": Role.EVENTS, "grades": Role.JUDGMENTS}, ahead_seconds=60)
    line.bring(judgment("a", 161, 1), judgment("b", 160, 1), topic="grades", timestamp=100)
    assert line.rejected() == {"future_ts": 1}

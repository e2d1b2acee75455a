"""A topic whose timestamp type is changed: each record is treated by its own type, whatever comes with it."""

import random

import pytest

from monitor.stream.records import APPEND_TIME, CREATE_TIME, Chunk
from tests.unit.stream.test_engine_clocks import Log, caught_up
from tests.unit.stream.timeline import HOUR, NOW, Timeline, impression


def changing(*types: int, seconds: int = 60, seed: int = 1) -> Log:
    """An impression a second, some of them late or ahead; the topic's type changes after so many."""
    chosen = random.Random(seed)
    log = Log(types[0])
    for number, kind in enumerate(types):
        log.timestamp_type = kind
        for second in range(number * seconds, (number + 1) * seconds):
            lead = chosen.choice([0.0, 0.0, 0.0, 300.0, 700.0])
            late = chosen.choice([0, 0, 0, 30])
            log.write(impression(f"i{second}", second - late), second, lead)
    return log


def became(line: Timeline) -> dict[str, object]:
    snapshot = line.snapshot
    late = snapshot.late
    return {
        "fates": line.fates("impression"),
        "rejected": line.rejected(),
        "watermarks": snapshot.watermarks,
        "late": (late.buckets.tolist(), late.sum),
        "leads": snapshot.leads,
        "skews": snapshot.clock_skews,
    }


ORDERS = {
    "to the broker's clock": (CREATE_TIME, APPEND_TIME),
    "to the producers' clocks": (APPEND_TIME, CREATE_TIME),
    "there and back": (CREATE_TIME, APPEND_TIME, CREATE_TIME, APPEND_TIME),
}


@pytest.mark.parametrize("types", ORDERS.values(), ids=ORDERS)
@pytest.mark.parametrize("chunk", [7, 40, 1000])
@pytest.mark.parametrize("now", [NOW, HOUR + 50], ids=["long after", "by a clock that is behind"])
def test_in_a_backlog_it_does_not_matter_which_records_come_together(types, chunk, now):
    log = changing(*types)
    one_by_one, together = Timeline(lateness_seconds=5), Timeline(lateness_seconds=5)
    caught_up(one_by_one, log, chunk=1, now=now)
    caught_up(together, log, chunk=chunk, now=now)
    assert became(together) == became(one_by_one)


@pytest.mark.parametrize("types", ORDERS.values(), ids=ORDERS)
def test_live_it_does_not_matter_which_records_come_together(types):
    log = changing(*types)
    one_by_one, together = Timeline(lateness_seconds=5), Timeline(lateness_seconds=5)
    now = HOUR + len(log.records)
    for record in log.records:
        one_by_one.engine.ingest(Chunk("events", 0, [record]), now)
    together.engine.ingest(Chunk("events", 0, log.records), now)
    assert became(together.finish()) == became(one_by_one.finish())


def test_the_first_broker_time_moves_event_time_though_producer_times_come_with_it():
    line = Timeline(lateness_seconds=0)
    log = Log(CREATE_TIME)
    for second in range(31):
        log.write(impression(f"i{second}", second), second)
    log.timestamp_type = APPEND_TIME
    log.write(impression("next", 200), 200)
    line.engine.ingest(Chunk("events", 0, log.records, catching_up=True), NOW)
    assert line.snapshot.watermarks == {0: HOUR + 200}

"""Streams that once told the engine and the rules apart, each in the polls in which it came.

Attribution is 5 s, the maturity 3 s, the lateness 0.
"""

from collections.abc import Sequence

import pytest

from tests.property.agreement import assert_equal
from tests.property.engine_run import Run
from tests.property.reference import Reference
from tests.property.reference_model import Settings
from tests.property.reference_wire import Idle, Sent
from tests.property.timelines import TOPIC, Value, click, impression, judgment, settings


def tick(ts: float) -> Value:
    """Something that moves time and nothing else."""
    return click(ts, "nobody", position=1)


def at(partition: int, *values: Value) -> list[Sent]:
    return [Sent(TOPIC, partition, value) for value in values]


STREAMS = {
    "a judgment that comes after its time, in the chunk in which the deadline passes": [
        at(1, tick(110)) + at(0, impression(100), tick(110), judgment(101, "a", 1)),
    ],
    "a judgment in one partition, when the deadline of another has passed in the same poll": [
        at(1, impression(100), tick(110)) + at(0, tick(110), judgment(101, "a", 1)),
    ],
    "a judgment for a task that waited for another, which comes to the deadline in the same poll": [
        at(1, impression(100), tick(110)),
        at(0, tick(110)) + at(1, judgment(101, "a", 1)),
    ],
    "an id that comes again while its first impression waits for another task's judgments": [
        at(1, impression(100), tick(130), impression(131)),
        at(0, judgment(101, "a", 1)),
    ],
    "two chunks of one partition in a poll: the second knows how far the first has come": [
        at(0, tick(100)),
        at(1, impression(100), tick(110)) + at(0, tick(101)) + at(1, impression(110)),
    ],
    "a judgment that is sent again keeps the time of the first": [
        at(0, impression(100), judgment(101, "a", 1), judgment(102, "a", 1), judgment(101.5, "a", 1)),
    ],
}


@pytest.mark.parametrize("polls", STREAMS.values(), ids=STREAMS)
def test_the_engine_counts_what_the_rules_say(polls: list[list[Sent]]) -> None:
    agree(settings(attribution=5, maturities=(3,), lateness=0, partitions=2), polls)


def test_an_idle_partition_with_events_ahead_of_the_clock_does_not_go_back() -> None:
    topics = (("shown", "impressions"), ("done", "interactions"))
    polls: list[list[Sent | Idle]] = [
        [Sent("shown", 0, impression(100)), Idle("shown", 0, 50), Sent("done", 0, tick(110))],
        [Sent("shown", 0, impression(99, "late"))],
    ]
    agree(settings(attribution=5, maturities=(3,), lateness=0, topics=topics), polls)


def agree(chosen: Settings, polls: Sequence[Sequence[Sent | Idle]]) -> None:
    run = Run(chosen)
    for poll in polls:
        run.take(poll)
    records = [sent for poll in polls for sent in poll]
    assert_equal(run.finish(), Reference(chosen, records, decided_after=run.decided_after))

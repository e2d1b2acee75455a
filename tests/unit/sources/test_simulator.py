"""The simulator as a source: paced by a clock, offsets without gaps, ready at once."""

import itertools

import pytest

from monitor.simulate.scenarios import SCENARIOS
from monitor.simulate.stream import Simulation
from monitor.sources.base import Source, SourceStatus
from monitor.sources.simulator import SimulatorSource
from monitor.stream.records import Role, Start

START = 1_767_225_600.0


class Clock:
    def __init__(self):
        self.seconds = 1000.0

    def __call__(self):
        return self.seconds


def simulation():
    return Simulation(SCENARIOS["steady"], seed=2, queries_per_second=5, start=START)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
async def source(clock):
    source: Source = SimulatorSource(simulation(), speed=60.0, clock=clock, poll_seconds=0)
    await source.start()
    yield source
    await source.stop()


async def test_the_first_poll_assigns_the_one_partition_and_no_later_one_does(source):
    assert source.roles == {"search-events": Role.EVENTS}
    assert (await source.poll()).assigned == {
        ("search-events", 0): Start(0, "", fresh=True, from_beginning=True)
    }
    assert (await source.poll()).assigned is None


async def test_what_is_due_comes_once_in_order_and_complete(source, clock):
    records = []
    for _ in range(20):
        poll = await source.poll()
        assert poll.now == pytest.approx(START + (clock.seconds - 1000) * 60)
        for chunk in poll.chunks:
            assert (chunk.topic, chunk.partition) == ("search-events", 0)
            assert all(record.timestamp <= poll.now * 1000 for record in chunk.records)
            records += chunk.records
        assert not poll.idle
        assert not poll.finished
        clock.seconds += 0.5
    expected = list(itertools.takewhile(lambda event: event.ts <= poll.now, simulation().events()))
    assert [record.offset for record in records] == list(range(len(expected)))
    assert [(record.key, record.value) for record in records] == [(e.key, e.value) for e in expected]
    assert [record.timestamp for record in records] == [round(event.ts * 1000) for event in expected]


async def test_a_poll_with_nothing_due_is_empty(source):
    await source.poll()
    assert not (await source.poll()).chunks


async def test_a_clock_that_jumps_is_caught_up_with_in_portions(source, clock):
    clock.seconds += 600
    sizes = [sum(len(chunk.records) for chunk in (await source.poll()).chunks) for _ in range(3)]
    assert sizes == [10_000, 10_000, 10_000]


async def test_it_is_always_ready_and_takes_every_commit(source):
    assert source.status() == SourceStatus(ready=True)
    assert await source.commit({("search-events", 0): (5, "")})


def test_a_speed_that_stands_still_is_refused():
    with pytest.raises(ValueError, match="speed is 0; it must be above 0"):
        SimulatorSource(simulation(), speed=0)

"""Pacing: nothing before its time, nothing lost."""

from monitor.simulate.pace import Pacer
from monitor.simulate.wire import SimulatedEvent

EVENTS = [SimulatedEvent(100.0 + number, "impression", b"", b"") for number in range(10)]


class Clock:
    def __init__(self):
        self.seconds = 5.0

    def __call__(self):
        return self.seconds


def test_events_are_due_when_event_time_comes_to_them():
    clock = Clock()
    pacer = Pacer(iter(EVENTS), start=100.0, speed=2.0, clock=clock)
    assert pacer.due(99) == EVENTS[:1]
    assert pacer.due(99) == []
    clock.seconds += 1.5
    assert pacer.now() == 103.0
    assert pacer.due(2) == EVENTS[1:3]
    assert pacer.due(2) == EVENTS[3:4]
    clock.seconds += 60
    assert not pacer.finished
    assert pacer.due(99) == EVENTS[4:]
    assert pacer.finished


def test_speed_zero_is_as_fast_as_possible():
    assert Pacer(iter(EVENTS), start=100.0, speed=0.0, clock=Clock()).due(99) == EVENTS


def test_polling_for_a_long_time_with_nothing_due_is_harmless():
    clock = Clock()
    pacer = Pacer(iter(EVENTS), start=0.0, speed=1.0, clock=clock)
    assert not any(pacer.due(99) for _ in range(50_000))
    clock.seconds += 200
    assert pacer.due(99) == EVENTS

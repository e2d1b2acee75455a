"""The pump: what came is handed over at once, and what is due is decided together."""

import pytest

from monitor import pump as module
from monitor.pump import Pump
from monitor.sources.base import Poll
from monitor.stream.records import Chunk
from tests.unit.stream.timeline import NOW, Timeline, impression, tick


class Clock:
    """Stands still until it is told."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(module, "time", made)
    return made


class Scene:
    """An engine that a pump feeds from the log of another one."""

    def __init__(self, lateness_seconds: float = 60.0) -> None:
        self.line, self.log = Timeline(), Timeline()
        self.pump = Pump(self.line.engine, lateness_seconds)
        self.read = 0

    def feed(self, *events: dict[str, object], finished: bool = False) -> None:
        if events:
            self.log.add(*events)
        records = [arrival.record for arrival in self.log.log[self.read :]]
        self.read += len(records)
        chunks = [Chunk("events", 0, records)] if records else []
        self.pump.feed(Poll(NOW, chunks, finished=finished))

    @property
    def settled(self) -> int:
        return self.line.fates("impression").get("settled", 0)


def test_what_is_due_is_decided_at_the_first_poll_and_then_when_some_time_has_passed(clock: Clock) -> None:
    scene = Scene()
    scene.feed(impression("i", 0), tick(500))
    assert scene.settled == 1
    scene.feed(impression("j", 500), tick(1000))
    clock.now += 5.9
    scene.feed()
    assert scene.settled == 1
    clock.now += 0.2
    scene.feed()
    assert scene.settled == 2


def test_or_when_many_records_have_come(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    assert clock
    monkeypatch.setattr(module, "DECIDE_RECORDS", 3)
    scene = Scene()
    scene.feed(tick(1))
    scene.feed(impression("i", 2), tick(500))
    assert scene.settled == 0
    scene.feed(tick(501))
    assert scene.settled == 1


def test_fewer_records_are_enough_when_there_is_nothing_more_to_read(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert clock
    monkeypatch.setattr(module, "WORTH_DECIDING", 2)
    scene = Scene()
    scene.feed(tick(1))
    scene.feed(impression("i", 2), tick(500))
    assert scene.settled == 0
    scene.feed()
    assert scene.settled == 1


@pytest.mark.parametrize(("lateness", "seconds"), [(0.0, 0.2), (20.0, 2.0), (60.0, 6.0), (3600.0, 6.0)])
def test_it_waits_for_a_little_of_what_is_waited_for_late_events_anyway(
    clock: Clock, lateness: float, seconds: float
) -> None:
    scene = Scene(lateness)
    scene.feed(tick(1))
    scene.feed(impression("i", 2), tick(500))
    clock.now += seconds * 0.9
    scene.feed()
    assert scene.settled == 0
    clock.now += seconds * 0.2
    scene.feed()
    assert scene.settled == 1


def test_at_the_end_of_a_file_everything_is_decided(clock: Clock) -> None:
    assert clock
    scene = Scene()
    scene.feed(tick(1))
    scene.feed(impression("i", 2), finished=True)
    assert scene.settled == 1

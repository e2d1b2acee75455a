"""What poll and status say, with readers that only pretend."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest

from monitor.config import KafkaConfig
from monitor.sources.base import SourceError, SourceStatus
from monitor.sources.kafka import KafkaSource, source
from monitor.sources.kafka.ledger import Ledger
from monitor.sources.kafka.waiting import Waiting
from monitor.sources.kafka.watchdog import Watchdog
from monitor.stream.records import Chunk, Start

EVENTS, JUDGMENTS = ("events", 0), ("judgments", 0)


class FakeReader:
    """Brings one record in each round."""

    def __init__(self, topic: str, lag: int = 0) -> None:
        self.topic = topic
        self.ledger = Ledger()
        self.ledger.begin((topic, 0), 0, lag, time.monotonic())
        self.skipped = {(topic, 0): 1}
        self.failures = 0
        self.quiet = 0.0
        self.reason = ""
        self.news: Any = None
        self.held = 0
        self.silent = False
        self.gone = False
        self.joined = False
        self.refusal: SourceError | None = None

    def work(self) -> "asyncio.Task[None]":
        return asyncio.create_task(asyncio.sleep(0))

    def take(self, _: float) -> list[Chunk]:
        if self.refusal:
            raise self.refusal
        return [Chunk(self.topic, 0, [])] if not self.quiet else []

    @property
    def behind(self) -> int:
        return sum(self.ledger.lag().values())

    def comes_first(self, _: float) -> bool:
        return self.behind > 0 or self.silent

    def is_gone(self, _: float) -> bool:
        return self.gone

    def take_news(self) -> Any:
        news, self.news = self.news, None
        return news

    def join(self) -> None:
        self.joined = True

    def hold(self, _: float) -> None:
        self.held += 1

    def quiet_seconds(self, _: float) -> float:
        return self.quiet

    async def commit(self, _: object) -> bool:
        return True

    async def confirm(self) -> bool:
        return True


class FakeSession:
    def __init__(self, probe: Callable[[], Any] | None = None) -> None:
        self.group = FakeReader("events")
        self.judgments: FakeReader | None = FakeReader("judgments")
        self.watchdog = Watchdog(probe or (lambda: asyncio.sleep(0)), stuck_seconds=0.001)
        self.closed = False

    @property
    def readers(self) -> list[FakeReader]:
        return [reader for reader in (self.judgments, self.group) if reader]

    @property
    def reason(self) -> str:
        return self.group.reason

    @property
    def has_fetched(self) -> bool:
        return True

    async def close(self) -> None:
        await self.watchdog.stop()
        self.closed = True


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Sessions, or errors, that connecting will give in turn."""
    given: list[Any] = []

    async def connect(*_: object, waiting: Callable[[Waiting], None], **__: object) -> Any:
        while not given:
            waiting(Waiting("waiting for something", "why"))
            await asyncio.sleep(0.001)
        if isinstance(first := given.pop(0), Exception):
            raise first
        return first

    monkeypatch.setattr(source, "connect", connect)
    monkeypatch.setattr(source, "POLL_SECONDS", 0.01)
    monkeypatch.setattr("monitor.sources.kafka.watchdog.PROBE_SECONDS", 0.0)
    return given


async def started() -> KafkaSource:
    kafka = KafkaSource(KafkaConfig(), 30.0, 3600.0, stuck_seconds=60.0)
    await kafka.start()
    return kafka


def topics(poll: Any) -> list[str]:
    return [chunk.topic for chunk in poll.chunks]


async def test_before_it_is_connected_it_says_what_it_waits_for(sessions: list[Any]) -> None:
    kafka = await started()
    assert kafka.status().reason == "waiting for broker localhost:9092"
    assert topics(await kafka.poll()) == []
    assert kafka.status() == SourceStatus(ready=False, reason="waiting for something")
    assert not await kafka.commit({EVENTS: (1, "")})
    assert not await kafka.confirm()
    sessions.append(FakeSession())
    while not (await kafka.poll()).chunks:
        pass
    assert kafka.status().ready
    assert await kafka.commit({EVENTS: (1, "")})
    assert await kafka.confirm()
    await kafka.stop()
    assert not await kafka.confirm()


async def test_judgments_are_handed_out_before_events(sessions: list[Any]) -> None:
    sessions.append(FakeSession())
    kafka = await started()
    assert topics(await kafka.poll()) == ["judgments", "events"]
    await kafka.stop()


async def test_events_wait_while_judgments_are_left(sessions: list[Any]) -> None:
    session = FakeSession()
    session.judgments = FakeReader("judgments", lag=5)
    sessions.append(session)
    kafka = await started()
    assert topics(await kafka.poll()) == ["judgments"]
    assert (session.group.held > 0, session.group.joined) == (True, False)
    session.judgments.ledger.advance({JUDGMENTS: 5}, {}, 0.0, 0)
    assert topics(await kafka.poll()) == ["judgments", "events"]
    assert session.group.joined
    await kafka.stop()


async def test_events_wait_while_it_is_not_known_whether_there_are_judgments(sessions: list[Any]) -> None:
    session = FakeSession()
    assert session.judgments
    session.judgments.silent = True
    sessions.append(session)
    kafka = await started()
    assert topics(await kafka.poll()) == ["judgments"]
    session.judgments.silent = False
    assert topics(await kafka.poll()) == ["judgments", "events"]
    await kafka.stop()


async def test_without_a_judgments_topic_events_wait_for_nothing(sessions: list[Any]) -> None:
    session = FakeSession()
    session.judgments = None
    sessions.append(session)
    kafka = await started()
    assert topics(await kafka.poll()) == ["events"]
    await kafka.stop()


async def test_an_assignment_is_delivered_once(sessions: list[Any]) -> None:
    session = FakeSession()
    session.group.news = {EVENTS: Start(0, "", fresh=True, from_beginning=True)}
    sessions.append(session)
    kafka = await started()
    assert set((await kafka.poll()).assigned or {}) == {EVENTS}
    assert (await kafka.poll()).assigned is None
    await kafka.stop()


async def test_what_cannot_heal_is_raised_by_every_poll(sessions: list[Any]) -> None:
    sessions.append(SourceError("authentication refused"))
    kafka = await started()
    for _ in range(2):
        with pytest.raises(SourceError, match="authentication refused"):
            await kafka.poll()
    assert kafka.status() == SourceStatus(ready=False, reason="authentication refused")
    await kafka.stop()


async def test_a_refusal_after_the_first_assignment_is_waited_for(
    sessions: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "RETRY_SECONDS", 0.001)
    first, second = FakeSession(), FakeSession()
    first.group.news = second.group.news = {EVENTS: Start(0, "", fresh=True, from_beginning=True)}
    sessions += [first, SourceError("refused"), SourceError("refused"), second]
    kafka = await started()
    await kafka.poll()
    first.group.refusal = SourceError("refused")
    # The judgments of that round were taken: nobody would hand them out again.
    assert topics(await kafka.poll()) == ["judgments"]
    assert kafka.status() == SourceStatus(ready=False, reason="refused", skipped={EVENTS: 1, JUDGMENTS: 1})
    async with asyncio.timeout(5):
        while not kafka.status().ready:
            await kafka.poll()
    assert first.closed
    assert kafka._retry_seconds == pytest.approx(0.004)
    await kafka.stop()


async def test_the_time_between_two_tries_grows_to_half_a_minute(sessions: list[Any]) -> None:
    kafka = await started()
    kafka._assigned = True
    waits = []
    for _ in range(8):
        kafka._refuse(SourceError("refused"))
        waits.append(kafka._retry_seconds)
        assert kafka._connecting
        kafka._connecting.cancel()
    assert waits == [1, 2, 4, 8, 16, 30, 30, 30]
    await kafka.stop()


async def test_a_quiet_client_is_replaced_and_after_two_that_bring_nothing_it_is_stuck(
    sessions: list[Any],
) -> None:
    quiet = [FakeSession() for _ in range(3)]
    for session in quiet:
        session.group.ledger.begin(EVENTS, 0, 9, time.monotonic())
        for reader in session.readers:
            reader.quiet = 100.0
    sessions += quiet
    kafka = await started()
    for _ in range(200):
        assert (await kafka.poll()).assigned is None, "partitions may come back as they were"
        if quiet[1].closed and not sessions:
            break
    assert quiet[0].closed
    assert quiet[1].closed
    await kafka.poll()
    assert kafka.status().stuck
    for reader in quiet[2].readers:
        reader.quiet = 0.0
    await kafka.poll()
    assert not kafka.status().stuck
    assert kafka.status().skipped == {EVENTS: 3, JUDGMENTS: 3}
    await kafka.stop()
    assert quiet[2].closed


async def test_skipped_records_are_told_from_zero_on_and_kept_when_the_broker_is_away(
    sessions: list[Any],
) -> None:
    session = FakeSession()
    session.group.skipped.clear()
    sessions.append(session)
    kafka = await started()
    await kafka.poll()
    assert kafka.status().skipped == {EVENTS: 0, JUDGMENTS: 1}
    session.group.skipped[EVENTS] = 7
    await kafka.poll()
    assert kafka.status().skipped == {EVENTS: 7, JUDGMENTS: 1}
    session.group.failures = source.FAILURES
    await kafka.poll()
    status = kafka.status()
    assert (status.ready, status.skipped) == (False, {EVENTS: 7, JUDGMENTS: 1})
    await kafka.stop()


async def test_a_broker_that_is_away_makes_it_unready_but_not_stuck(sessions: list[Any]) -> None:
    async def nobody() -> None:
        raise Waiting("waiting for broker", "refused")

    session = FakeSession(nobody)
    session.group.quiet = 100.0
    sessions.append(session)
    kafka = await started()
    for _ in range(5):
        await kafka.poll()
    status = kafka.status()
    assert (status.ready, status.reason, status.stuck) == (False, "waiting for broker", False)
    assert not session.closed
    await kafka.stop()


async def test_a_client_that_only_fails_is_replaced(sessions: list[Any]) -> None:
    first, second = FakeSession(), FakeSession()
    first.group.failures = source.FAILURES
    sessions += [first, second]
    kafka = await started()
    await kafka.poll()
    await kafka.poll()
    assert first.closed
    await kafka.stop()


async def test_a_client_whose_judgments_topic_is_gone_is_replaced(sessions: list[Any]) -> None:
    first, second = FakeSession(), FakeSession()
    assert first.judgments is not None
    first.judgments.gone = True
    sessions += [first, second]
    kafka = await started()
    await kafka.poll()
    await kafka.poll()
    assert first.closed
    await kafka.stop()


async def test_stopping_closes_a_session_that_was_just_opened(sessions: list[Any]) -> None:
    session = FakeSession()
    sessions.append(session)
    kafka = await started()
    await asyncio.sleep(0.01)
    await kafka.stop()
    assert session.closed


async def test_stopping_before_the_start_does_nothing() -> None:
    await KafkaSource(KafkaConfig(), 30.0, 3600.0).stop()

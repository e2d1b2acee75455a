"""The Kafka source when the broker goes away and comes back."""

import asyncio
import logging
import time
from collections.abc import Iterator

import pytest

from monitor.stream.records import Start
from tests.conftest import broker_or_skip
from tests.integration.following import Follower, config, following, numbered
from tests.support.kafka import Broker, OwnBroker, Produced

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def own_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnBroker]:
    with broker_or_skip(tmp_path_factory.mktemp("kafka")) as own:
        yield own


@pytest.fixture
def broker(own_kafka: OwnBroker) -> OwnBroker:
    """A broker that these tests stop and start; it runs when a test begins."""
    if not own_kafka._node.alive():
        own_kafka.start()
    return own_kafka


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.message for record in caplog.records if record.levelno >= logging.WARNING]


async def test_a_broker_that_is_down_at_the_start_is_waited_for(
    broker: OwnBroker, caplog: pytest.LogCaptureFixture
) -> None:
    topic = await broker.topic()
    await broker.produce(topic, numbered(3))
    await asyncio.to_thread(broker.stop, kill=True)
    async with following(config(broker, events=[topic])) as follower:
        waiting = f"waiting for broker {broker.bootstrap_servers}"
        assert follower.source.status().reason == waiting
        began = time.monotonic()
        for _ in range(5):
            await follower.poll()
        assert time.monotonic() - began < 2.0
        assert not follower.ready()
        assert not await follower.source.commit({(topic, 0): (1, "")})
        await asyncio.to_thread(broker.start)
        await follower.until(lambda: follower.count() == 3, 20)
    (line,) = set(warnings(caplog))
    assert line.startswith(waiting)
    assert "is it running" in line


async def test_an_outage_is_not_idleness_and_loses_and_doubles_nothing(
    broker: OwnBroker, caplog: pytest.LogCaptureFixture
) -> None:
    topic = await broker.topic(2)
    await broker.produce(topic, [*numbered(20, 0), *numbered(20, 1)])
    async with following(config(broker, events=[topic]), idle_seconds=1.5, stuck_seconds=6.0) as follower:
        await follower.until(lambda: follower.count() == 40)
        assert not follower.last.idle
        await follower.until(lambda: set(follower.last.idle) == {(topic, 0), (topic, 1)})
        await broker.produce(topic, numbered(5, 0, first=20))
        await follower.until(lambda: follower.count() == 45)
        assert set(follower.last.idle) == {(topic, 1)}

        await asyncio.to_thread(broker.stop, kill=True)
        await follower.until(lambda: not follower.last.idle, 5)
        waiting = f"waiting for broker {broker.bootstrap_servers}"
        deadline = time.monotonic() + 4.5
        while time.monotonic() < deadline:
            assert not (await follower.poll()).idle
        assert follower.source.status().reason == waiting
        began = time.monotonic()
        assert not await follower.source.commit({(topic, 0): (5, "")})
        assert time.monotonic() - began < 6.0

        await asyncio.to_thread(broker.start)
        for n in range(4):
            await broker.produce(
                topic, [*numbered(25, 0, first=25 + 25 * n), *numbered(25, 1, first=20 + 25 * n)]
            )
            await follower.poll()
        await follower.until(lambda: follower.count() == 245, 30)
        await follower.until(lambda: len(follower.last.idle) == 2)
        for partition, count in ((0, 125), (1, 120)):
            expected = {offset: b"%d" % offset for offset in range(count)}
            assert follower.values[topic, partition] == expected
        assert await follower.source.commit({(topic, 0): (5, "")})
        assert follower.ready()
    said = [line for line in warnings(caplog) if not line.startswith("offsets were not committed")]
    assert [line.partition(":")[0] for line in said] == [waiting.partition(":")[0]]


async def test_a_client_that_is_stuck_at_a_healthy_broker_is_replaced(
    kafka: Broker, caplog: pytest.LogCaptureFixture
) -> None:
    events, judgments = await kafka.topic(), await kafka.topic(cleanup_policy="compact")
    await kafka.produce(events, numbered(5))
    await kafka.produce(judgments, [record._replace(key=record.value) for record in numbered(5)])
    wanted = config(kafka, events=[events], judgments=[judgments])
    async with following(wanted, stuck_seconds=2.0) as follower:
        await follower.until(lambda: follower.count() == 10)
        assert await follower.source.commit({(events, 0): (3, "seen")})
        session = follower.source._session
        assert session is not None
        session.group.consumer._fetcher._fetch_task.cancel()
        await follower.until(lambda: len(follower.assignments) == 2)
        assert follower.source._session is not session
        assert follower.assigned == {
            (events, 0): Start(5, "seen", fresh=False, from_beginning=False, kept=True, end=5)
        }
        await kafka.produce(events, numbered(2, first=5))
        await kafka.produce(judgments, [Produced(b"new", b"judgment", 0)])
        await follower.until(lambda: follower.count() == 13)
        assert len(follower.order) == 13, "neither events nor judgments are read again"
    assert warnings(caplog) == ["reading makes no progress: connecting anew"]


async def test_stopping_needs_no_broker(broker: OwnBroker) -> None:
    events, judgments = await broker.topic(), await broker.topic()
    async with following(config(broker, events=[events], judgments=[judgments])) as follower:
        await follower.until(follower.ready)
        await asyncio.to_thread(broker.stop, kill=True)
        await settle(follower)
    # The follower has checked that it took less than 5 s.
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    assert not others


async def settle(follower: Follower) -> None:
    for _ in range(5):
        await follower.poll()

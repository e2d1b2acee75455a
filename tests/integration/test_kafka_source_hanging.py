"""The Kafka source when connections stay open and nothing comes through them any more."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiokafka.conn import AIOKafkaConnection

from tests.integration.following import Follower, config, following, numbered
from tests.support.kafka import Broker
from tests.support.tcp_proxy import Proxy, tcp_proxy

pytestmark = pytest.mark.kafka


@pytest.fixture
async def proxy(kafka: Broker, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Proxy]:
    """What the source's clients go through, each time they connect to the broker."""
    port = int(kafka.bootstrap_servers.rpartition(":")[2])
    connect = AIOKafkaConnection.connect

    async def through(connection: Any) -> Any:
        if connection._client_id == "ranking-monitor":
            connection._port = between.port
        return await connect(connection)

    async with tcp_proxy(port) as between:
        monkeypatch.setattr(AIOKafkaConnection, "connect", through)
        yield between
        between.flow()


async def for_seconds(follower: Follower, seconds: float) -> None:
    """Poll on; each poll comes back soon, and none calls a partition idle past the last fetch."""
    began = time.monotonic()
    known: dict[Any, float] = {}
    while (now := time.monotonic()) < began + seconds:
        poll = await follower.poll()
        assert time.monotonic() - now < 1.5
        for place, until in poll.idle.items():
            assert until - known.setdefault(place, until) < 2.0
            assert poll.now - until < 2.0 + time.monotonic() - began


async def test_nothing_is_idle_or_owned_while_connections_hang_and_nothing_is_lost(
    kafka: Broker, proxy: Proxy
) -> None:
    topic = await kafka.topic(2)
    await kafka.produce(topic, [*numbered(10, 0), *numbered(10, 1)])
    async with following(config(kafka, events=[topic]), idle_seconds=1.0, stuck_seconds=12.0) as follower:
        await follower.until(lambda: len(follower.last.idle) == 2)
        assert await follower.source.commit({(topic, 0): (10, "state")})
        proxy.hold()
        await kafka.produce(topic, [*numbered(10, 0, first=10), *numbered(10, 1, first=10)])
        began = time.monotonic()
        assert not await follower.source.confirm()
        assert time.monotonic() - began < 3.0
        await for_seconds(follower, 12.0)
        assert not follower.last.idle
        assert not follower.ready()
        assert not follower.source.status().stuck
        proxy.flow()
        await follower.until(lambda: follower.count() == 40, 60)
        await follower.until(follower.ready, 60)
        assert len(follower.order) == 40, "nothing comes twice"
        await follower.until(lambda: len(follower.last.idle) == 2, 30)
        assert await follower.source.confirm()


async def test_a_connection_that_is_cut_in_the_middle_of_a_fetch_loses_and_doubles_nothing(
    kafka: Broker, proxy: Proxy
) -> None:
    topic = await kafka.topic()
    async with following(config(kafka, events=[topic])) as follower:
        await follower.until(follower.ready)
        cutting = asyncio.create_task(proxy.cut_an_answer_after(20_000))
        await kafka.produce(
            topic, [record._replace(value=b"%500d" % n) for n, record in enumerate(numbered(400))]
        )
        await follower.until(lambda: follower.count() == 400, 60)
        await cutting
        assert len(follower.order) == 400
        await follower.until(follower.ready)
        assert await follower.source.confirm()


async def test_stopping_needs_no_answer_from_connections_that_hang(kafka: Broker, proxy: Proxy) -> None:
    events, judgments = await kafka.topic(), await kafka.topic()
    async with following(config(kafka, events=[events], judgments=[judgments])) as follower:
        await follower.until(follower.ready)
        proxy.hold()
        await for_seconds(follower, 1.0)
    # The follower has checked that it took less than 5 s.


@pytest.mark.parametrize("seconds", [0.3, 6.0], ids=["at once", "after the first look has failed"])
async def test_stopping_while_the_first_connections_hang(kafka: Broker, proxy: Proxy, seconds: float) -> None:
    topic = await kafka.topic()
    proxy.hold()
    async with following(config(kafka, events=[topic])) as follower:
        await for_seconds(follower, seconds)
        assert follower.source.status().reason == f"waiting for broker {kafka.bootstrap_servers}"


async def test_stopping_in_the_middle_of_a_rebalance_that_hangs(kafka: Broker, proxy: Proxy) -> None:
    topic = await kafka.topic()
    async with following(config(kafka, events=[topic])) as follower:
        await follower.until(follower.ready)
        session = follower.source._session
        assert session is not None
        session.group.consumer._coordinator.request_rejoin()
        proxy.hold()
        await for_seconds(follower, 1.0)
        assert not await follower.source.confirm()
        assert not follower.ready()
    await asyncio.sleep(0)

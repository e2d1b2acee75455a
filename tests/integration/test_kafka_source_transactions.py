"""The Kafka source and transactions: aborted records are not read, and open ones are waited for."""

import asyncio
import time
from datetime import UTC, datetime

import pytest

from tests.integration.following import config, following, numbered
from tests.support.kafka import Broker, OwnBroker
from tests.support.kafka.damage import damage, flip_a_byte
from tests.support.kafka.process import Process
from tests.support.kafka.transactions import transactional

pytestmark = pytest.mark.kafka


async def test_aborted_records_are_left_out_and_the_retry_is_read(kafka: Broker) -> None:
    events, judgments = await kafka.topic(), await kafka.topic(cleanup_policy="compact")
    for topic in (events, judgments):
        records = [record._replace(key=record.value) for record in numbered(100)]
        async with transactional(kafka, topic) as producer:
            await producer.abort(records)
            await producer.commit(records)
    async with following(config(kafka, events=[events], judgments=[judgments])) as follower:
        await follower.until(lambda: follower.ready() and follower.count() >= 200)
        for place in [(events, 0), (judgments, 0)]:
            # Behind the 100 that were aborted, and the marker that says so.
            assert follower.values[place] == {101 + n: b"%d" % n for n in range(100)}
        await follower.until(lambda: follower.last.reached == {(events, 0): 202})
        assert not any(follower.source.status().lag.values())


async def test_with_read_uncommitted_aborted_and_open_records_are_read(kafka: Broker) -> None:
    topic = await kafka.topic()
    chosen = config(kafka, events=[topic]).model_copy(update={"isolation_level": "read_uncommitted"})
    async with transactional(kafka, topic) as producer, following(chosen, idle_seconds=2.0) as follower:
        await producer.abort(numbered(10))
        await producer.write(numbered(10, first=10))
        await follower.until(lambda: follower.ready() and follower.count() == 20)
        await follower.until(lambda: follower.last.idle)
        assert not follower.source.status().reason
        await producer.commit()


async def test_an_open_transaction_holds_its_partition_and_is_named(
    kafka: Broker, caplog: pytest.LogCaptureFixture
) -> None:
    topic = await kafka.topic(2)
    held, other = (topic, 0), (topic, 1)
    await kafka.produce(topic, numbered(5) + numbered(5, 1))
    # So little patience that a client which seemed to make no progress would be replaced at once.
    async with (
        transactional(kafka, topic) as producer,
        following(config(kafka, events=[topic]), idle_seconds=2.0, stuck_seconds=6.0) as follower,
    ):
        await follower.until(lambda: set(follower.last.idle) == {held, other})
        session = follower.source._session
        await producer.write(numbered(5, first=5))
        await kafka.produce(topic, numbered(3, first=10))
        await follower.until(lambda: held not in follower.last.idle)
        began = time.monotonic()
        await follower.until(lambda: not follower.ready(), 20)
        assert time.monotonic() - began > 5.0, "a transaction of a few seconds is nothing to tell"
        reason = follower.source.status().reason
        assert reason.startswith(f"{topic}[0]: a transaction has been open since at least "), reason
        while time.monotonic() - began < 20.0:
            poll = await follower.poll()
            assert held not in poll.idle
            assert not follower.source.status().stuck
        assert other in follower.last.idle
        assert follower.source._session is session
        assert follower.source.status().lag == {held: 0, other: 0}
        assert len(follower.values[held]) == 5
        await producer.commit()
        await follower.until(lambda: len(follower.values[held]) == 13)
        await follower.until(follower.ready)
        assert held not in follower.last.idle, "its silence begins when the transaction has ended"
        await follower.until(lambda: held in follower.last.idle)
        assert not follower.source.status().reason
    assert not [line for line in caplog.messages if "no progress" in line]


async def test_a_restart_while_a_transaction_is_open_goes_on_where_it_was(kafka: Broker) -> None:
    topic = await kafka.topic()
    chosen = config(kafka, events=[topic])
    place = (topic, 0)
    async with transactional(kafka, topic) as producer:
        async with following(chosen) as follower:
            await producer.commit(numbered(10))
            await follower.until(lambda: follower.ready() and follower.count() == 10)
            await producer.write(numbered(10, first=10))
            # As a release that read open transactions has stored it.
            assert await follower.source.commit({place: (16, "state")})
        async with following(chosen) as follower:
            await follower.until(lambda: follower.assigned)
            assert follower.assigned is not None
            start = follower.assigned[place]
            assert (start.offset, start.metadata, start.end) == (16, "state", 21)
            await follower.until(follower.ready)
            await producer.commit()
            await follower.until(lambda: follower.count() == 5)
            assert follower.source.status().skipped == {place: 0}


async def test_a_new_group_that_begins_at_a_time_finds_the_open_records_since_then(kafka: Broker) -> None:
    topic = await kafka.topic()
    old, new = 1_700_000_000_000, 1_700_000_100_000
    await kafka.produce(topic, [record._replace(timestamp_ms=old) for record in numbered(5)])
    async with transactional(kafka, topic) as producer:
        await producer.write(record._replace(timestamp_ms=new) for record in numbered(5, first=5))
        since = datetime.fromtimestamp(old / 1000 + 50, UTC)
        async with following(config(kafka, events=[topic], start=since)) as follower:
            await follower.until(lambda: follower.assigned)
            assert follower.assigned is not None
            assert follower.assigned[topic, 0].offset == 5
            await producer.commit()
            await follower.until(lambda: follower.count() == 5)


async def test_an_aborted_transaction_beside_a_damaged_batch_is_left_out(lone_kafka: OwnBroker) -> None:
    broker = lone_kafka
    if not isinstance(broker._node, Process):
        pytest.skip("the files of a broker in a container are out of reach: stop Docker, have java and mvn")
    topic = await broker.topic()
    async with transactional(broker, topic) as one, transactional(broker, topic) as two:
        await one.commit(numbered(10))  # 0 to 9, and a marker at 10
        await one.abort(numbered(10, first=100))  # 11 to 20, and a marker at 21
        await two.commit(numbered(10, first=20))  # 22 to 31: damaged below
        await one.commit(numbered(10, first=30))  # 33 to 42
        await two.write(numbered(10, first=200))  # 44 to 53, aborted around the next
        await one.commit(numbered(10, first=40))  # 54 to 63
        await two.abort()
        await two.commit(numbered(10, first=50))  # 66 to 75
        await one.abort(numbered(10, first=300))  # 77 to 86, a damaged marker at 87
        await one.commit(numbered(10, first=60))  # 88 to 97
    await asyncio.to_thread(broker.stop)
    data = broker._node.folder / "data"
    assert damage(data, topic, 0, 25, flip_a_byte)[2:] == (22, 31)
    assert damage(data, topic, 0, 87, flip_a_byte)[2:] == (87, 87)
    await asyncio.to_thread(broker.start)
    async with following(config(broker, events=[topic])) as follower:
        await follower.until(lambda: follower.ready() and not any(follower.source.status().lag.values()), 60)
        values = [*follower.values[topic, 0].values()]
        assert values == [b"%d" % n for n in (*range(20), *range(30, 70)) if n not in range(10, 20)]
        assert follower.source.status().skipped == {(topic, 0): 11}

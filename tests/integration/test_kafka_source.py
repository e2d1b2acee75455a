"""The Kafka source against a real broker: what poll hands out, where it begins, what is committed."""

import asyncio
import logging
import time
from datetime import UTC, datetime

import pytest
from aiokafka import AIOKafkaProducer
from aiokafka import TopicPartition as Place
from aiokafka.admin import NewPartitions, RecordsToDelete

from monitor.sources.base import SourceError
from monitor.stream.records import Start
from tests.integration.following import config, following, numbered
from tests.support.kafka import Broker, Produced

pytestmark = pytest.mark.kafka


async def test_one_topic_is_read_from_the_earliest(kafka: Broker) -> None:
    topic = await kafka.topic(partitions=2)
    await kafka.produce(topic, [Produced(b"k", b"v", 0, 1_700_000_000_000), *numbered(50, 1)])
    async with following(config(kafka, events=[topic])) as follower:
        assert not follower.ready()
        await follower.until(lambda: follower.count() == 51)
        assert follower.assigned == {
            (topic, 0): Start(0, "", fresh=True, from_beginning=True, end=1),
            (topic, 1): Start(0, "", fresh=True, from_beginning=True, end=50),
        }
        assert list(follower.values[topic, 1].values()) == [b"%d" % n for n in range(50)]
        assert follower.ready()
        assert follower.source.status().reason == ""
        assert follower.source.status().lag == {(topic, 0): 0, (topic, 1): 0}
        assert abs(follower.last.now - time.time()) < 1.0


async def test_a_new_group_that_starts_at_the_latest_commits_that_at_once(kafka: Broker) -> None:
    topic = await kafka.topic()
    await kafka.produce(topic, numbered(7))
    wanted = config(kafka, start="latest", events=[topic])
    async with following(wanted) as follower:
        await follower.until(lambda: follower.assigned is not None)
        assert follower.assigned == {(topic, 0): Start(7, "", fresh=True, from_beginning=False, end=7)}
        assert await kafka.committed(wanted.group_id, topic) == {0: (7, "")}
        await kafka.produce(topic, numbered(3, first=7))
        await follower.until(lambda: follower.count() == 3)
        assert list(follower.values[topic, 0]) == [7, 8, 9]


async def test_a_start_time_begins_at_the_first_record_from_then_on(kafka: Broker) -> None:
    topic = await kafka.topic(partitions=2)
    second = 1_700_000_000
    await kafka.produce(topic, [Produced(None, b"%d" % n, 0, (second + n) * 1000) for n in range(10)])
    start = datetime.fromtimestamp(second + 4, UTC)
    async with following(config(kafka, start=start, events=[topic])) as follower:
        await follower.until(lambda: follower.count() == 6)
        assert follower.assigned is not None
        assert follower.assigned == {
            (topic, 0): Start(4, "", fresh=True, from_beginning=False, since=second + 4, end=10),
            (topic, 1): Start(0, "", fresh=True, from_beginning=True, since=second + 4, end=0),
        }


async def test_a_restart_goes_on_from_the_committed_offset_with_its_metadata(kafka: Broker) -> None:
    topic = await kafka.topic()
    await kafka.produce(topic, numbered(10))
    wanted = config(kafka, events=[topic])
    async with following(wanted) as follower:
        await follower.until(lambda: follower.count() == 10)
        assert await follower.source.commit({(topic, 0): (6, "p=10")})
        assert not await follower.source.commit({(topic, 5): (6, "")})
    assert not await follower.source.commit({(topic, 0): (7, "")})
    async with following(wanted) as follower:
        await follower.until(lambda: follower.count() == 4)
        assert follower.assigned == {(topic, 0): Start(6, "p=10", fresh=False, from_beginning=False, end=10)}


async def test_judgments_come_before_events_and_are_read_whole_by_every_replica(kafka: Broker) -> None:
    impressions, clicks = await kafka.topic(2), await kafka.topic(2)
    judgments = await kafka.topic(3, cleanup_policy="compact")
    await kafka.produce(impressions, [Produced(None, b"event", n % 2) for n in range(20)])
    await kafka.produce(clicks, [Produced(None, b"event", n % 2) for n in range(20)])
    await kafka.produce(judgments, [Produced(b"%d" % n, b"judgment", n % 3) for n in range(12_000)])
    wanted = config(kafka, impressions=[impressions], interactions=[clicks], judgments=[judgments])
    async with following(wanted) as one:
        await one.poll()
        while not one.order:
            await one.poll()
        assert "judgments" in one.source.status().reason
        await one.until(lambda: one.count() == 12_040)
        assert one.order == [b"judgment"] * 12_000 + [b"event"] * 40
        assert one.ready()
        assert {topic for topic, _ in one.assigned or {}} == {impressions, clicks}
        assert set(one.source.status().lag) >= {(judgments, 0), (judgments, 1), (judgments, 2)}
        assert (await one.poll()).idle == {}

        await kafka.produce(judgments, [Produced(b"new", b"late", 1)])
        await one.until(lambda: one.order[-1] == b"late")


async def test_two_members_share_the_partitions_and_hand_over_at_the_committed_offsets(kafka: Broker) -> None:
    impressions, clicks, judgments = await kafka.topic(4), await kafka.topic(4), await kafka.topic(1)
    for topic in (impressions, clicks):
        await kafka.produce(topic, [record for n in range(4) for record in numbered(10, n)])
    wanted = config(kafka, impressions=[impressions], interactions=[clicks], judgments=[judgments])
    async with following(wanted) as one:
        await one.until(lambda: one.count() == 80)
        places = list(one.assigned or {})
        assert await one.source.commit({place: (7, f"at {place[1]}") for place in places})
        async with following(wanted) as two:

            async def both() -> None:
                await asyncio.gather(one.poll(), two.poll())

            while not two.assigned:
                await both()
            while len(one.assigned or {}) == 8:
                await both()
            shared = [{number for _, number in follower.assigned or {}} for follower in (one, two)]
            assert sorted(map(sorted, shared)) == [[0, 1], [2, 3]]
            assert one.assigned
            assert {**one.assigned, **two.assigned} == {
                place: Start(
                    10 if place in one.assigned else 7,
                    f"at {place[1]}",
                    fresh=False,
                    from_beginning=False,
                    kept=place in one.assigned,
                    end=10,
                )
                for place in places
            }
            theirs = next(iter(two.assigned))
            assert not await one.source.commit({theirs: (9, "")})
            assert await two.source.commit({theirs: (8, "theirs")})
            deadline = time.monotonic() + 10
            while two.count() < 12 or not two.ready() or not one.ready():
                await both()
                assert time.monotonic() < deadline
        await one.until(lambda: one.assigned and len(one.assigned) == 8)
        assert one.assigned[theirs] == Start(8, "theirs", fresh=False, from_beginning=False, end=10)
        await one.until(lambda: one.count() == 80)


async def test_a_replica_that_is_given_nothing_is_ready_and_says_so(kafka: Broker) -> None:
    impressions, clicks = await kafka.topic(1), await kafka.topic(1)
    wanted = config(kafka, impressions=[impressions], interactions=[clicks])
    async with following(wanted) as one, following(wanted) as two:
        deadline = time.monotonic() + 15
        while not (one.ready() and two.ready() and (one.assigned == {} or two.assigned == {})):
            await asyncio.gather(one.poll(), two.poll())
            assert time.monotonic() < deadline
        assert sorted(follower.source.status().reason for follower in (one, two)) == [
            "",
            "no partition is left for this replica",
        ]


async def test_part_of_an_events_topic_is_not_enough_without_a_judgments_topic(kafka: Broker) -> None:
    topic = await kafka.topic(2)
    wanted = config(kafka, events=[topic])
    async with following(wanted) as one, following(wanted) as two:
        deadline = time.monotonic() + 15
        while "1 of 2 partitions" not in one.source.status().reason:
            await asyncio.gather(one.poll(), two.poll())
            assert time.monotonic() < deadline
        assert not one.ready()


async def test_unequal_partition_counts_cannot_heal(kafka: Broker) -> None:
    impressions, clicks = await kafka.topic(3), await kafka.topic(2)
    async with following(config(kafka, impressions=[impressions], interactions=[clicks])) as follower:
        message = (
            f"{impressions} has 3 partitions and {clicks} has 2: make them equal \\(docs/producing.md\\)"
        )
        with pytest.raises(SourceError, match=message):
            await follower.until(lambda: False)
        with pytest.raises(SourceError, match=message):
            await follower.poll()
        assert "make them equal" in follower.source.status().reason


async def test_a_missing_topic_heals_when_it_is_created(
    kafka: Broker, caplog: pytest.LogCaptureFixture
) -> None:
    topic = f"{await kafka.topic()}-late"
    async with following(config(kafka, events=[topic])) as follower:
        reason = f'topic "{topic}" does not exist: create it (docs/producing.md)'
        await follower.until(lambda: follower.source.status().reason == reason)
        for _ in range(5):
            await follower.poll()
        assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == [reason]
        await kafka.create_topic(topic)
        await kafka.produce(topic, numbered(3))
        await follower.until(lambda: follower.count() == 3)


async def test_records_that_retention_deleted_are_counted_and_skipped(kafka: Broker) -> None:
    topic = await kafka.topic(2)
    await kafka.produce(topic, [*numbered(10, 0), *numbered(10, 1)])
    wanted = config(kafka, events=[topic])
    async with following(wanted) as follower:
        await follower.until(lambda: follower.count() == 20)
        assert await follower.source.commit({(topic, 0): (2, "kept"), (topic, 1): (10, "")})
    await delete_before(kafka, topic, 0, 6)
    async with following(wanted) as follower:
        await follower.until(lambda: follower.count() == 4)
        assert follower.assigned is not None
        assert follower.assigned[topic, 0] == Start(6, "kept", fresh=False, from_beginning=True, end=10)
        await follower.poll()
        assert follower.source.status().skipped == {(topic, 0): 4, (topic, 1): 0}


async def delete_before(kafka: Broker, topic: str, partition: int, offset: int) -> None:
    async with kafka.admin() as admin:
        await admin.delete_records({Place(topic, partition): RecordsToDelete(offset)})


async def test_retention_that_overtakes_the_reader_does_not_stop_it(kafka: Broker) -> None:
    topic = await kafka.topic()
    await kafka.produce(topic, numbered(10))
    async with following(config(kafka, events=[topic])) as follower:
        await follower.until(lambda: follower.count() == 10)
        await delete_before(kafka, topic, 0, 8)
        session = follower.source._session
        assert session is not None
        # As if it had only come as far as 3 when the records were deleted.
        session.group.ledger.jump((topic, 0), 3, time.monotonic())
        session.group.rewind([(topic, 0)])
        follower.values.clear()
        await follower.until(lambda: follower.count() == 2)
        assert list(follower.values[topic, 0]) == [8, 9]
        assert follower.source.status().skipped == {(topic, 0): 5}


async def test_new_partitions_are_read_from_the_beginning(kafka: Broker) -> None:
    events, judgments = await kafka.topic(1), await kafka.topic(1)
    async with following(config(kafka, events=[events], judgments=[judgments])) as follower:
        await follower.until(follower.ready)
        async with kafka.admin() as admin:
            await admin.create_partitions({judgments: NewPartitions(2)})
        session = follower.source._session
        assert session is not None
        assert session.judgments is not None
        await kafka.produce(judgments, numbered(3, partition=1))
        await session.judgments.consumer._client.force_metadata_update()
        await follower.until(lambda: follower.count() == 3)


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
async def test_compressed_batches_are_read(kafka: Broker, codec: str) -> None:
    topic = await kafka.topic()
    producer = AIOKafkaProducer(
        bootstrap_servers=kafka.bootstrap_servers, compression_type=codec, linger_ms=20
    )
    await producer.start()
    try:
        for n in range(200):
            await producer.send(topic, b"%d" % n * 20)
        await producer.flush()
    finally:
        await producer.stop()
    async with following(config(kafka, events=[topic])) as follower:
        await follower.until(lambda: follower.count() == 200)
        assert follower.values[topic, 0][199] == b"199" * 20


async def test_markers_of_transactions_leave_no_lag(kafka: Broker) -> None:
    topic = await kafka.topic()
    producer = AIOKafkaProducer(bootstrap_servers=kafka.bootstrap_servers, transactional_id=topic)
    await producer.start()
    try:
        async with producer.transaction():
            await producer.send(topic, b"one")
    finally:
        await producer.stop()
    async with following(config(kafka, events=[topic]), idle_seconds=0.7) as follower:
        await follower.until(lambda: follower.count() == 1)
        await follower.until(lambda: follower.last.idle)
        assert follower.source.status().lag == {(topic, 0): 0}


async def test_retention_that_is_too_short_is_warned_of(
    kafka: Broker, caplog: pytest.LogCaptureFixture
) -> None:
    events, judgments = await kafka.topic(retention_ms="60000"), await kafka.topic(retention_ms="604800000")
    compacted = await kafka.topic(cleanup_policy="compact")
    wanted = config(kafka, events=[events], judgments=[judgments, compacted])
    async with following(wanted) as follower:
        await follower.until(follower.ready)
    warnings = [record.message for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(warnings) == 2
    assert (
        f'topic "{events}" keeps records for 1m, and a restart needs those of 1h, the longest delay and'
        " the largest window: raise retention.ms, or it will miss some (docs/producing.md)"
    ) in warnings
    assert (
        f'topic "{judgments}" has cleanup.policy=delete and forgets judgments after 7d: set'
        " cleanup.policy=compact, or they will be missing after a restart (docs/producing.md)"
    ) in warnings


async def test_a_name_that_no_topic_can_have_cannot_heal(kafka: Broker) -> None:
    wanted = config(kafka, events=["any"])
    topics = wanted.topics.model_copy(update={"events": ("bad topic!",)})
    async with following(wanted.model_copy(update={"topics": topics})) as follower:
        with pytest.raises(SourceError, match='no topic can be named "bad topic!"'):
            await follower.until(lambda: False)

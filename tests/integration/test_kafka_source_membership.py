"""Who is a member of the group: killed processes, busy ones, and two that use one instance id."""

import asyncio
import time
from typing import Any

import pytest

from monitor.config import KafkaConfig
from monitor.sources.kafka import internals
from monitor.sources.kafka.members import members
from tests.integration.following import Follower, config, following, numbered
from tests.integration.test_kafka_source_partitions import add_partition, look_for_partitions
from tests.support.kafka import Broker

pytestmark = pytest.mark.kafka


def static(broker: Broker, topic: str, instance_id: str = "monitor-0", **more: Any) -> KafkaConfig:
    return config(broker, events=[topic], **more).model_copy(update={"group_instance_id": instance_id})


async def member_ids(broker: Broker, group_id: str) -> list[str]:
    async with broker.admin() as admin:
        return [member.member_id for member in await members(admin, group_id)]


async def abandon(follower: Follower) -> None:
    """End its clients as kill -9 does: nothing is said to the group."""
    session = follower.source._session
    assert session is not None
    session.group._spare.stop()
    consumer = session.group.consumer
    consumer._coordinator.generation = -1
    await internals.close(consumer)


async def test_a_process_takes_the_killed_one_that_it_replaces_out_of_the_group(kafka: Broker) -> None:
    topic = await kafka.topic(2)
    await kafka.produce(topic, [*numbered(5, 0), *numbered(5, 1)])
    wanted = config(kafka, events=[topic])
    async with following(wanted, own_client_id="host-9109") as first:
        await first.until(first.ready)
        await abandon(first)
        assert len(await member_ids(kafka, wanted.group_id)) == 1
        async with following(wanted, own_client_id="host-9109") as second:
            # The session of the one that was killed would have lasted ten seconds.
            await second.until(second.ready, 6)
            assert len(await member_ids(kafka, wanted.group_id)) == 1


async def test_a_process_leaves_the_members_with_other_client_ids_alone(kafka: Broker) -> None:
    topic, judgments = await kafka.topic(2), await kafka.topic(1)
    wanted = config(kafka, events=[topic], judgments=[judgments])
    async with following(wanted, own_client_id="host-9109") as first:
        await first.until(first.ready)
        (before,) = await member_ids(kafka, wanted.group_id)
        async with following(wanted, own_client_id="host-9110") as second:
            while not (second.ready() and second.assigned and first.ready()):
                await asyncio.gather(first.poll(), second.poll())
            assert before in await member_ids(kafka, wanted.group_id)


async def test_a_busy_loop_keeps_its_partitions(kafka: Broker) -> None:
    topic = await kafka.topic(1)
    await kafka.produce(topic, numbered(5))
    async with following(config(kafka, events=[topic])) as follower:
        await follower.until(follower.ready)
        # Nothing is fetched or answered meanwhile, and no heartbeat of the loop's own is sent.
        until, beats = time.monotonic() + 14.0, 0
        while time.monotonic() < until:
            beats += 1
        session = follower.source._session
        assert session is not None
        assert session.group._spare.sent >= 4
        await kafka.produce(topic, numbered(5, first=5))
        await follower.until(lambda: follower.count() == 10)
        assert await follower.source.confirm()
        assert len(follower.assignments) == 1


async def test_a_killed_process_with_an_instance_id_has_its_partitions_back_without_a_rebalance(
    kafka: Broker,
) -> None:
    topic = await kafka.topic(2)
    await kafka.produce(topic, [*numbered(5, 0), *numbered(5, 1)])
    wanted = static(kafka, topic)
    async with following(wanted) as first:
        await first.until(first.ready)
        await abandon(first)
        async with following(wanted) as second:
            await second.until(lambda: second.ready() and second.count() == 10, 6)
            # It leads the group, and sees partitions come though nobody told it that it leads.
            await add_partition(kafka, topic, 3)
            look_for_partitions(second)
            await kafka.produce(topic, numbered(4, 2))
            await second.until(lambda: second.count() == 14, 40)


async def test_stopping_with_an_instance_id_leaves_the_group(kafka: Broker) -> None:
    topic = await kafka.topic(1)
    wanted = static(kafka, topic)
    async with following(wanted) as follower:
        await follower.until(follower.ready)
        assert len(await member_ids(kafka, wanted.group_id)) == 1
    assert await member_ids(kafka, wanted.group_id) == []


async def test_of_two_processes_with_one_instance_id_the_later_has_the_partitions_and_the_other_says_so(
    kafka: Broker,
) -> None:
    topic = await kafka.topic(1)
    await kafka.produce(topic, numbered(5))
    wanted = static(kafka, topic)
    reason = 'kafka.group_instance_id "monitor-0" is in use by another process: give each replica its own'
    async with following(wanted) as first:
        await first.until(first.ready)
        async with following(wanted) as second:
            await second.until(second.ready, 6)
            (later,) = await member_ids(kafka, wanted.group_id)
            # It has not learned of the other yet.
            assert not await first.source.confirm()
            assert not await first.source.commit({(topic, 0): (5, "stale")})
            await first.until(lambda: reason in first.source.status().reason, 20)
            until = time.monotonic() + 15
            while time.monotonic() < until:
                await asyncio.gather(first.poll(), second.poll())
                assert reason in first.source.status().reason
                assert not first.ready()
                assert second.ready()
                assert await member_ids(kafka, wanted.group_id) == [later]
            assert await second.source.confirm()
            assert await second.source.commit({(topic, 0): (5, "state")})
        # The other one has left: the id is free again.
        await kafka.produce(topic, numbered(5, first=5))
        await first.until(first.ready, 20)
        await first.until(lambda: b"9" in first.order)
        assert first.assigned
        assert first.assigned[topic, 0].metadata == "state"

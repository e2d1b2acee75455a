"""Producers with transactions: aborted events are never counted, and their retries are, once."""

import asyncio
import json

from aiokafka import AIOKafkaConsumer

from tests.faults.stage import Scene, scenario
from tests.faults.traffic import Traffic
from tests.support.kafka import Produced
from tests.support.kafka.transactions import transactional
from tests.support.waiting import wait_until


@scenario
async def test_events_that_are_aborted_and_sent_again_are_counted_once(scene: Scene) -> None:
    traffic = await scene.traffic(transactions=True)
    replica = await scene.replica(traffic.config(), session_seconds=1.5)
    server = await scene.prometheus([replica])
    await scene.warm(traffic, replica)
    await asyncio.sleep(4)
    await replica.kill_outside()
    await replica.start()
    await asyncio.sleep(4)
    await scene.settle(traffic, server)
    # The last offsets that were counted are of aborted records: a restart has to come past them.
    for role in ("impressions", "interactions"):
        async with transactional(scene.broker, traffic.topics[role]) as producer:
            await producer.abort(
                Produced(b"key", event.value, partition)
                for event in [e for e in traffic.sent if e.role == role][:50]
                for partition in range(traffic.partitions)
            )

    async def counted_to_the_end() -> bool:
        return await ends(traffic, "impressions") == await counted_from(traffic, "impressions")

    await wait_until(counted_to_the_end, 30, every=0.5)
    await replica.kill_outside()
    await replica.start()
    await replica.ready()

    async def replayed() -> bool:
        return await replica.running.total("ranking_monitor_replay_records") == 0

    await wait_until(replayed, 30)
    assert "reading again" not in (await replica.running.get("/-/ready")).text
    await scene.counted(traffic, server)


async def ends(traffic: Traffic, role: str) -> dict[int, int]:
    consumer = AIOKafkaConsumer(bootstrap_servers=traffic.broker.bootstrap_servers)
    await consumer.start()
    try:
        found = await consumer.end_offsets(await traffic.broker.partitions(traffic.topics[role]))
    finally:
        await consumer.stop()
    return {place.partition: offset for place, offset in found.items()}


async def counted_from(traffic: Traffic, role: str) -> dict[int, int]:
    """The offset from which on nothing was counted yet, as the group has stored it for each partition."""
    topic = traffic.topics[role]
    stored = await traffic.broker.committed(traffic.group, topic)
    return {partition: json.loads(metadata)["p"][topic] for partition, (_, metadata) in stored.items()}

"""What a test does with a broker: topics, records in, records out, what a group committed."""

import time
import uuid
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import NamedTuple

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from aiokafka.errors import for_code
from aiokafka.structs import ConsumerRecord

from tests.support.waiting import wait_until


class Produced(NamedTuple):
    """A record to produce; a plain (key, value) pair does too."""

    key: bytes | None
    value: bytes | None
    partition: int | None = None
    timestamp_ms: int | None = None


class Broker:
    """A Kafka that answers at `bootstrap_servers` without TLS or a password."""

    def __init__(self, bootstrap_servers: str) -> None:
        self.bootstrap_servers = bootstrap_servers

    @asynccontextmanager
    async def admin(self) -> AsyncIterator[AIOKafkaAdminClient]:
        """Give an admin client, closed at the end."""
        client = AIOKafkaAdminClient(bootstrap_servers=self.bootstrap_servers)
        try:
            await client.start()
            yield client
        finally:
            await client.close()

    async def create_topic(
        self, name: str, partitions: int = 1, config: Mapping[str, str] | None = None
    ) -> None:
        """Create a topic and wait until each of its partitions has a leader."""
        async with self.admin() as admin:
            new = NewTopic(name, partitions, replication_factor=1, topic_configs=dict(config or {}))
            reply = await admin.create_topics([new])
            for topic, code, *message in reply.topic_errors:
                if code:
                    raise for_code(code)(topic, *message)

            async def led() -> bool:
                (topic,) = await admin.describe_topics([name])
                leaders = [partition["leader"] for partition in topic["partitions"]]
                return len(leaders) == partitions and min(leaders) >= 0

            await wait_until(led, 15)

    async def partitions(self, topic: str) -> list[TopicPartition]:
        """Return the partitions of a topic."""
        async with self.admin() as admin:
            (found,) = await admin.describe_topics([topic])
        return sorted(TopicPartition(topic, partition["partition"]) for partition in found["partitions"])

    async def topic(self, partitions: int = 1, **config: str) -> str:
        """Create a topic with a name of its own; `cleanup_policy="compact"` sets `cleanup.policy`."""
        name = f"test-{uuid.uuid4().hex[:12]}"
        await self.create_topic(
            name, partitions, {key.replace("_", "."): value for key, value in config.items()}
        )
        return name

    async def produce(
        self, topic: str, records: Iterable[Produced | tuple[bytes | None, bytes | None]]
    ) -> None:
        """Write records in their order; without a partition the key's murmur2 hash decides, as in Java."""
        producer = AIOKafkaProducer(bootstrap_servers=self.bootstrap_servers, acks="all")
        try:
            await producer.start()
            for record in records:
                key, value, partition, timestamp_ms = Produced(*record)
                await producer.send(
                    topic, key=key, value=value, partition=partition, timestamp_ms=timestamp_ms
                )
            await producer.flush()
        finally:
            await producer.stop()

    async def consume(
        self, topic: str, count: int, seconds: float = 15.0
    ) -> list["ConsumerRecord[bytes, bytes]"]:
        """Read `count` records from the beginning, without a group; fail when they do not come in time."""
        consumer = AIOKafkaConsumer(bootstrap_servers=self.bootstrap_servers, auto_offset_reset="earliest")
        try:
            await consumer.start()
            consumer.assign(await self.partitions(topic))
            records: list[ConsumerRecord[bytes, bytes]] = []
            deadline = time.monotonic() + seconds
            while len(records) < count and time.monotonic() < deadline:
                for batch in (await consumer.getmany(timeout_ms=200)).values():
                    records += batch
        finally:
            await consumer.stop()
        assert len(records) >= count, f"{len(records)} of {count} records came from {topic} in {seconds:g} s"
        return records

    async def committed(self, group: str, topic: str) -> dict[int, tuple[int, str]]:
        """Return what a group committed: partition -> (offset, metadata)."""
        partitions = await self.partitions(topic)
        async with self.admin() as admin:
            stored = await admin.list_consumer_group_offsets(group, partitions=partitions)
        return {
            place.partition: (found.offset, found.metadata)
            for place, found in stored.items()
            if found.offset >= 0
        }

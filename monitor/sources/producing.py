"""A producer for the commands that fill topics: what is wrong is said in one line."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError, TopicAuthorizationFailedError, UnknownTopicOrPartitionError

from monitor.config import KafkaConfig
from monitor.sources.base import SourceError
from monitor.sources.kafka.client import probe, quiet_aiokafka, settings
from monitor.sources.kafka.waiting import Waiting

TOPIC_SECONDS = 5.0
"""As long as a broker that creates topics by itself needs for one."""


@asynccontextmanager
async def producing(config: KafkaConfig, topics: Iterable[str]) -> AsyncIterator[AIOKafkaProducer]:
    """Give a producer for topics that are there; it partitions by murmur2, as Kafka's own clients do."""
    quiet_aiokafka()
    chosen, servers = settings(config), config.bootstrap_servers
    try:
        await probe(chosen)
    except Waiting:
        raise SourceError(
            f'no Kafka answers at "{servers}"; check that it runs, the address and kafka.security'
        ) from None
    producer = AIOKafkaProducer(**chosen, enable_idempotence=True, linger_ms=20)
    try:
        await producer.start()
        for topic in sorted(set(topics)):
            await _find(producer, topic)
        yield producer
    except (KafkaError, OSError) as error:
        raise SourceError(f'cannot write to Kafka at "{servers}": {error}') from None
    finally:
        await producer.stop()


async def _find(producer: AIOKafkaProducer, topic: str) -> None:
    try:
        await asyncio.wait_for(producer.partitions_for(topic), TOPIC_SECONDS)
    except (TimeoutError, UnknownTopicOrPartitionError):
        raise SourceError(f'topic "{topic}" does not exist: create it (docs/producing.md)') from None
    except TopicAuthorizationFailedError:
        raise SourceError(
            f'not authorised for topic "{topic}": allow Describe and Write (docs/producing.md)'
        ) from None

"""Sending records, for the commands that fill topics."""

from collections.abc import Sequence

from aiokafka import AIOKafkaProducer
from aiokafka.errors import KafkaError

from monitor.config import KafkaConfig
from monitor.sources.base import SourceError
from monitor.sources.kafka.client import probe, quiet_aiokafka, settings
from monitor.sources.kafka.waiting import Waiting


async def send(config: KafkaConfig, topic: str, records: Sequence[tuple[bytes, bytes]]) -> None:
    """Send keys and values, partitioned by murmur2 as Kafka's own clients do; all arrive or it fails."""
    quiet_aiokafka()
    chosen = settings(config)
    try:
        await probe(chosen)
    except Waiting as error:
        raise SourceError(f"no broker answers at {config.bootstrap_servers}: {error}") from None
    producer = AIOKafkaProducer(**chosen, enable_idempotence=True, linger_ms=20)
    try:
        await producer.start()
        if not await producer.partitions_for(topic):
            raise SourceError(f'topic "{topic}" does not exist: create it (docs/producing.md)')
        sent = [await producer.send(topic, value, key=key) for key, value in records]
        for receipt in sent:
            await receipt
    except KafkaError as error:
        raise SourceError(f'cannot write to topic "{topic}": {error}') from None
    finally:
        await producer.stop()

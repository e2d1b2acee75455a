"""Batches that are small in the log and large in memory."""

import asyncio

from aiokafka import AIOKafkaProducer

from tests.support.kafka.broker import Broker

MIB = 1 << 20
SIZES = {"gzip": 256 * MIB, "snappy": 20 * MIB, "lz4": 200 * MIB, "zstd": 1024 * MIB}
"""What expands from less than 1 MiB, which is what a broker takes."""


def produce_bomb(broker: Broker, topic: str, partition: int, codec: str, size: int | None = None) -> None:
    """Write a batch of one record: so many zeros. In a loop of its own, for it takes seconds to make."""
    asyncio.run(_produce(broker, topic, partition, codec, size or SIZES[codec]))


async def _produce(broker: Broker, topic: str, partition: int, codec: str, size: int) -> None:
    producer = AIOKafkaProducer(
        bootstrap_servers=broker.bootstrap_servers,
        compression_type=codec,
        max_request_size=size + MIB,
        request_timeout_ms=60_000,
    )
    try:
        await producer.start()
        await producer.send_and_wait(topic, bytes(size), partition=partition)
    finally:
        await producer.stop()

"""A producer with transactions, as an exactly-once pipeline uses it."""

import uuid
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from aiokafka import AIOKafkaProducer

from tests.support.kafka.broker import Broker, Produced


class TransactionalProducer:
    """Writes to one topic; the records of a transaction are in the log before it ends."""

    def __init__(self, producer: AIOKafkaProducer, topic: str) -> None:
        self._producer = producer
        self._topic = topic

    async def write(self, records: Iterable[Produced]) -> None:
        """Begin a transaction with these records, and leave it open."""
        await self._producer.begin_transaction()
        for key, value, partition, timestamp_ms in records:
            await self._producer.send(
                self._topic, key=key, value=value, partition=partition, timestamp_ms=timestamp_ms
            )
        await self._producer.flush()

    async def commit(self, records: Iterable[Produced] | None = None) -> None:
        """Commit the open transaction, or a new one with these records."""
        if records is not None:
            await self.write(records)
        await self._producer.commit_transaction()

    async def abort(self, records: Iterable[Produced] | None = None) -> None:
        """Abort the open transaction, or a new one with these records."""
        if records is not None:
            await self.write(records)
        await self._producer.abort_transaction()


@asynccontextmanager
async def transactional(broker: Broker, topic: str) -> AsyncIterator[TransactionalProducer]:
    """Give a producer with a transactional id of its own."""
    producer = AIOKafkaProducer(
        bootstrap_servers=broker.bootstrap_servers, transactional_id=f"test-{uuid.uuid4().hex[:12]}"
    )
    try:
        await producer.start()
        yield TransactionalProducer(producer, topic)
    finally:
        await producer.stop()

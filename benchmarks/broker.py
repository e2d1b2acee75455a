"""A real broker for benchmarks, the one that tests would use, and a workload loaded into its topics."""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaProducer

from benchmarks.workload import ROLES, Workload
from tests.support.kafka import Broker, own_broker, running_broker

PARTITIONS = 4
"""Of impressions and of interactions, which meet by partition number; judgments have one."""
NEVER_DELETED = {"retention_ms": "-1"}
"""The events are years old, and a broker goes by the time that they carry."""


@dataclass(frozen=True)
class Loaded:
    """Topics with a workload in them."""

    bootstrap_servers: str
    topics: dict[str, str]
    """impressions, interactions, judgments -> the name of the topic."""
    records: dict[str, int]
    """Topic -> how many records it has, the closing ones included."""

    @property
    def total(self) -> int:
        return sum(self.records.values())

    def kafka_config(self, group_id: str) -> dict[str, Any]:
        """The `kafka` section of a daemon's configuration that reads it from the beginning."""
        return {
            "bootstrap_servers": self.bootstrap_servers,
            "group_id": group_id,
            "topics": {role: [name] for role, name in self.topics.items()},
            "start": "earliest",
        }


@contextmanager
def broker() -> Iterator[Broker]:
    """Give the broker that KAFKA_BOOTSTRAP_SERVERS names, or one of one's own until the block ends."""
    if running := running_broker():
        yield running
        return
    with tempfile.TemporaryDirectory() as folder, own_broker(Path(folder)) as own:
        yield own


@contextmanager
def loaded(to: Broker, workload: Workload, partitions: int = PARTITIONS) -> Iterator[Loaded]:
    """Load a workload into topics of its own, which are deleted when the block ends."""
    found = asyncio.run(load(to, workload, partitions))
    try:
        yield found
    finally:
        asyncio.run(_delete(to, list(found.topics.values())))


async def load(to: Broker, workload: Workload, partitions: int = PARTITIONS) -> Loaded:
    """Send a workload and the events that close it, in batches as producers make them by default: 16 KB."""
    counts = {"impressions": partitions, "interactions": partitions, "judgments": 1}
    topics = {role: await to.topic(counts[role], **NEVER_DELETED) for role in ROLES}
    producer = AIOKafkaProducer(bootstrap_servers=to.bootstrap_servers, acks="all", linger_ms=5)
    records: Counter[str] = Counter()
    await producer.start()
    try:
        for source in (workload.records(), workload.closers(partitions)):
            for record in source:
                topic = topics[record.role]
                records[topic] += 1
                await producer.send(
                    topic, record.value, record.key, record.partition, timestamp_ms=int(record.ts * 1000)
                )
            # The closing ones come after everything else.
            await producer.flush()
    finally:
        await producer.stop()
    return Loaded(to.bootstrap_servers, topics, dict(records))


async def _delete(to: Broker, topics: list[str]) -> None:
    async with to.admin() as admin:
        await admin.delete_topics(topics)

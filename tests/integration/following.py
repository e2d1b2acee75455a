"""Follows a Kafka source as an engine does, and checks what it hands out."""

import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from monitor.config import KafkaConfig, TopicsConfig
from monitor.sources.base import Poll
from monitor.sources.kafka import KafkaSource
from monitor.stream.records import Start, TopicPartition
from tests.support.kafka import Broker, Produced


class Follower:
    """Does with polls what an engine does: records after an assignment replace those from there on."""

    def __init__(self, source: KafkaSource) -> None:
        self.source = source
        self.values: dict[TopicPartition, dict[int, bytes | None]] = {}
        self.order: list[bytes | None] = []
        self.assigned: Mapping[TopicPartition, Start] | None = None
        self.assignments: list[Mapping[TopicPartition, Start]] = []
        self.last = Poll(0.0)

    async def poll(self) -> Poll:
        poll = self.last = await self.source.poll()
        if poll.assigned is not None:
            self.assigned = poll.assigned
            self.assignments.append(poll.assigned)
            for place, start in poll.assigned.items():
                kept = self.values.get(place, {})
                assert not start.kept or start.offset > max(kept, default=-1), f"{place} goes back"
                self.values[place] = {
                    offset: value for offset, value in kept.items() if offset < start.offset
                }
        for topic, partition, records, *_ in poll.chunks:
            seen = self.values.setdefault((topic, partition), {})
            for record in records:
                assert record.offset not in seen, f"{topic}[{partition}] offset {record.offset} came twice"
                assert not seen or record.offset > max(seen), "out of order"
                seen[record.offset] = record.value
                self.order.append(record.value)
        return poll

    async def until(self, condition: Callable[[], Any], seconds: float = 15.0) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < deadline, f"not in {seconds:g} s; {self.source.status()} {self.values}"
            await self.poll()

    def count(self) -> int:
        return sum(len(values) for values in self.values.values())

    def ready(self) -> bool:
        return self.source.status().ready


def config(broker: Broker, group: str = "group", start: Any = "earliest", **topics: Any) -> KafkaConfig:
    named = {role: tuple(names) for role, names in topics.items()}
    return KafkaConfig(
        bootstrap_servers=broker.bootstrap_servers,
        group_id=f"{group}-{next(iter(named.values()))[0]}",
        topics=TopicsConfig(**named),
        start=start,
    )


@asynccontextmanager
async def following(
    kafka_config: KafkaConfig, idle_seconds: float = 30.0, **more: Any
) -> AsyncIterator[Follower]:
    source = KafkaSource(kafka_config, idle_seconds, 3600.0, **more)
    await source.start()
    try:
        yield Follower(source)
    finally:
        began = time.monotonic()
        await source.stop()
        assert time.monotonic() - began < 5.0


def numbered(count: int, partition: int = 0, first: int = 0) -> list[Produced]:
    return [Produced(None, b"%d" % n, partition) for n in range(first, first + count)]

"""Where the reading of each partition begins: at what was committed, else where `kafka.start` says."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Literal, NamedTuple

from aiokafka import AIOKafkaConsumer
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.structs import TopicPartition as Place

from monitor.sources.kafka import internals
from monitor.sources.kafka.waiting import Waiting
from monitor.stream.records import Start, TopicPartition

NEVER = -1
"""The offset a broker gives for a partition of which nothing was committed."""


class Committed(NamedTuple):
    """What a group stored for a partition."""

    offset: int
    metadata: str


class Log(NamedTuple):
    """What a broker holds of a partition."""

    first: int
    end: int
    """The high watermark: records of an open transaction are there, though they cannot be read yet."""


async def committed(
    admin: AIOKafkaAdminClient, group_id: str, partitions: Collection[TopicPartition]
) -> dict[TopicPartition, Committed]:
    """What the group committed for each partition; an offset of -1 where it never did."""
    wanted = [Place(*partition) for partition in partitions]
    stored = await admin.list_consumer_group_offsets(group_id, partitions=wanted)
    # A refused request comes back as an empty answer: taken as "never committed" it would lose our place.
    if any(place not in stored for place in wanted):
        raise Waiting(f"waiting for the committed offsets of group {group_id}")
    return {place: Committed(stored[place].offset, stored[place].metadata or "") for place in wanted}


async def logs(
    consumer: AIOKafkaConsumer, partitions: Collection[TopicPartition]
) -> dict[TopicPartition, Log]:
    """The first and the next offset of each partition."""
    first = await internals.list_offsets(consumer, dict.fromkeys(partitions, internals.EARLIEST))
    end = await internals.list_offsets(consumer, dict.fromkeys(partitions, internals.LATEST))
    return {place: Log(first[place], end[place]) for place in partitions}


async def at_start(
    consumer: AIOKafkaConsumer,
    start: Literal["latest", "earliest"] | datetime,
    held: Mapping[TopicPartition, Log],
) -> dict[TopicPartition, Start]:
    """Where a new group begins in each partition."""
    since = None
    if start == "earliest":
        offsets = {place: there.first for place, there in held.items()}
    elif not isinstance(start, datetime) or not held:
        offsets = {place: there.end for place, there in held.items()}
    else:
        since = start.timestamp()
        wanted = max(0, int(since * 1000))
        found = await internals.list_offsets(consumer, dict.fromkeys(held, wanted))
        offsets = {place: found.get(place, there.end) for place, there in held.items()}
    return {
        place: Start(
            offset,
            "",
            fresh=True,
            from_beginning=offset == held[place].first,
            since=since,
            end=held[place].end,
        )
        for place, offset in offsets.items()
    }


def resume(stored: Committed, held: Log) -> Start:
    """Where to go on: at the committed offset, or at the first that is left after it.

    >>> resume(Committed(7, "state"), Log(first=0, end=10))
    Start(offset=7, metadata='state', fresh=False, from_beginning=False, since=None, kept=False, end=10)
    >>> resume(Committed(7, "state"), Log(first=9, end=10))
    Start(offset=9, metadata='state', fresh=False, from_beginning=True, since=None, kept=False, end=10)

    Beyond the end the topic is another one of the same name: what was stored says nothing about it.

    >>> resume(Committed(70, "state"), Log(first=0, end=10))
    Start(offset=0, metadata='', fresh=False, from_beginning=True, since=None, kept=False, end=10)
    """
    if stored.offset > held.end:
        return Start(held.first, "", fresh=False, from_beginning=True, end=held.end)
    offset = max(stored.offset, held.first)
    return Start(offset, stored.metadata, fresh=False, from_beginning=offset == held.first, end=held.end)

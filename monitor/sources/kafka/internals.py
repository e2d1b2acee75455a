"""What aiokafka can do but does not offer: each private name it takes is used here and nowhere else."""
# ruff: noqa: SLF001 - see above; aiokafka is pinned to one minor version.

import asyncio
import contextlib
import copy
import sys
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from contextvars import ContextVar
from typing import Any, NamedTuple

from aiokafka import AIOKafkaConsumer, client
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.consumer import consumer as consumer_module
from aiokafka.consumer import fetcher
from aiokafka.errors import LeaderNotAvailableError, for_code
from aiokafka.protocol.fetch import FetchRequest
from aiokafka.protocol.group import LeaveGroupRequest
from aiokafka.protocol.metadata import MetadataRequest
from aiokafka.record.default_records import DefaultRecordBatch
from aiokafka.record.legacy_records import LegacyRecordBatch
from aiokafka.structs import OffsetAndMetadata, TopicPartition

from monitor.sources.kafka.decompression import (
    BatchTooLargeError,
    Budget,
    Decompress,
    Payload,
    check_headers,
    gunzip,
    unlz4,
    unsnappy,
    unzstd,
)
from monitor.stream import records

FETCH_SECONDS = 5.0
FETCH_WAIT_MS = 100
FETCH_BYTES = 1 << 20
LATEST, EARLIEST = -1, -2
"""What to ask for in place of a time, for the end of a log and for its beginning."""
CLOSE_SECONDS = 2.5
FORCE_SECONDS = 0.3


class AsDecoded(NamedTuple):
    """Given as the `key_deserializer` of a consumer: it hands out records as they were decoded.

    A mark that the class below looks for, and never called. The records have all that we read; to make a
    ConsumerRecord of each takes as long as all the rest of the reading.
    """

    max_batch_bytes: int
    """Bytes that may come out of the batches of one fetch of a partition."""

    def __call__(self, key: bytes) -> bytes:
        return key


class _Batches:
    """Batches that are decompressed within a budget."""

    def __init__(self, batches: Any, budget: Budget) -> None:
        self.budget = budget
        self.has_next = batches.has_next
        self._next_batch = batches.next_batch

    def next_batch(self) -> Any:
        spend(self.budget)
        return self._next_batch()


class _PartitionRecords(fetcher.PartitionRecords):  # type: ignore[misc] # aiokafka is not typed
    _records: Any
    _records_iterator: Any

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        mark = self._key_deserializer
        if isinstance(mark, AsDecoded):
            self._consumer_record = lambda _, record: record
            self._records = _Batches(self._records, Budget(mark.max_batch_bytes))
            self._records_iterator = self._within_budget(self._records_iterator)

    def _within_budget(self, unpacked: Iterator[Any]) -> Iterator[Any]:
        """End before the batch that would spend more: it is fetched again, as the first of its fetch."""
        try:
            yield from unpacked
        except BatchTooLargeError:
            if not self._records.budget.spent:
                raise

    def __iter__(self) -> Iterator[Any]:
        return self._records_iterator or iter(())


fetcher.PartitionRecords = _PartitionRecords

_UNBOUNDED = Budget(1 << 30)
_budget = _UNBOUNDED


def spend(budget: Budget) -> None:
    """Let the batch that is decoded next be decompressed within a budget."""
    global _budget  # noqa: PLW0603 - aiokafka's decoders take no arguments
    _budget = budget


def _bounded(decompress: Decompress, check: Callable[[bytes], None]) -> Callable[[Payload], bytes]:
    def checked(payload: Payload, limit: int) -> bytes:
        data = decompress(payload, limit)
        check(data)
        return data

    def decode(payload: Payload) -> bytes:
        budget = _budget
        spend(_UNBOUNDED)
        return budget.decompress(checked, payload)

    return decode


for batches, check in ((DefaultRecordBatch, check_headers), (LegacyRecordBatch, lambda _: None)):
    decoders = sys.modules[batches.__module__]
    for codec, decompress in (("gzip", gunzip), ("snappy", unsnappy), ("lz4", unlz4), ("zstd", unzstd)):
        setattr(decoders, f"{codec}_decode", _bounded(decompress, check))

_creates_topics: ContextVar[bool] = ContextVar("creates_topics", default=True)


def _metadata_request(topics: list[str] | None) -> MetadataRequest:
    return MetadataRequest(topics, allow_auto_topic_creation=_creates_topics.get())


class _Client(client.AIOKafkaClient):  # type: ignore[misc] # aiokafka is not typed
    """The client of every consumer: no broker creates a topic because a consumer asked for it.

    aiokafka asks for a topic again and again after it was deleted, and lets the broker create it.
    """

    async def _metadata_update(self, *args: Any) -> Any:
        token = _creates_topics.set(False)
        try:
            return await super()._metadata_update(*args)
        finally:
            _creates_topics.reset(token)


client.MetadataRequest = _metadata_request
consumer_module.AIOKafkaClient = _Client


def membership(consumer: AIOKafkaConsumer) -> tuple[str, int]:
    """The member id and the group's generation that it belongs to; "" and -1 outside of the group."""
    coordinator = consumer._coordinator
    return str(coordinator.member_id), int(coordinator.generation)


def coordinator_address(consumer: AIOKafkaConsumer) -> tuple[str, int] | None:
    """Where the group's coordinator listens; None while that is not known."""
    node = consumer._client.cluster.broker_metadata(consumer._coordinator.coordinator_id)
    return (node.host, node.port) if node else None


def before_join(consumer: AIOKafkaConsumer, may_join: Callable[[], Awaitable[bool]]) -> None:
    """Ask before each request to join the group; where the answer is no, it is asked again."""
    coordinator = consumer._coordinator
    join = coordinator._do_rejoin_group

    async def join_if_allowed(subscription: Any) -> Any:
        return await may_join() and await join(subscription)

    coordinator._do_rejoin_group = join_if_allowed


def rejoin(consumer: AIOKafkaConsumer) -> None:
    """Join the group again; if this member leads it, the partitions are shared out again."""
    consumer._coordinator.request_rejoin()


async def expel(admin: AIOKafkaAdminClient, group_id: str, member_id: str) -> None:
    """Take a member out of its group, as if it had left."""
    coordinator = await admin.find_coordinator(group_id)
    await admin._send_request(LeaveGroupRequest(group_id, member_id), coordinator)


async def commit_once(
    consumer: AIOKafkaConsumer, offsets: Mapping[records.TopicPartition, tuple[int, str]]
) -> None:
    """Commit in one attempt.

    The public commit() tries again for ever, each time with the generation of that moment, and so a late
    attempt would be accepted for partitions that have gone to another member.
    """
    wanted = {TopicPartition(*place): OffsetAndMetadata(*value) for place, value in offsets.items()}
    await consumer._coordinator._do_commit_offsets(None, wanted)


def set_fetch_wait(consumer: AIOKafkaConsumer, wait_ms: int, min_bytes: int) -> None:
    """Let the next fetches wait at the broker for so long, or until there is so much.

    A node has one fetch under way. Where some partitions are at their end, all others wait with it; and no
    partition is to wait for another whose records are left in the client for later.
    """
    consumer._fetcher._prefetch_backoff = 0
    consumer._fetcher._fetch_max_wait_ms = wait_ms
    consumer._fetcher._fetch_min_bytes = min_bytes


def refresh_metadata(consumer: AIOKafkaConsumer) -> None:
    """Look for new partitions now, and not only when the metadata is old."""
    consumer._client.force_metadata_update()


async def list_offsets(
    consumer: AIOKafkaConsumer, times_ms: Mapping[records.TopicPartition, int]
) -> dict[records.TopicPartition, int]:
    """The first offset at a time or later, by partition; one that has none is left out.

    Open transactions count. The public end_offsets() of a consumer with `read_committed` gives the last
    stable offset, below which a stored offset may well not be.
    """
    uncommitted = copy.copy(consumer._fetcher)
    uncommitted._isolation_level = fetcher.READ_UNCOMMITTED
    wanted = {TopicPartition(*place): time_ms for place, time_ms in times_ms.items()}
    found = await uncommitted._retrieve_offsets(wanted, consumer._request_timeout_ms)
    return {tuple(place): offset for place, (offset, _) in found.items() if offset >= 0}


class Stored(NamedTuple):
    """Batches as a broker stores them."""

    data: bytes
    high_watermark: int
    aborted: Collection[tuple[int, int]]
    """Producer id and first offset of the aborted transactions among them; none with `read_uncommitted`."""


async def fetch(consumer: AIOKafkaConsumer, place: records.TopicPartition, offset: int) -> Stored:
    """The batches of a partition from an offset on, with the consumer's isolation level.

    The client's position is not moved: getmany() only gives what it can decode.
    """
    topic, partition = place
    leader = consumer._client.cluster.leader_for_partition(TopicPartition(topic, partition))
    if leader is None or leader < 0:
        raise LeaderNotAvailableError(place)
    wanted = [(topic, [(partition, offset, FETCH_BYTES)])]
    isolation_level = consumer._fetcher._isolation_level
    request = FetchRequest(FETCH_WAIT_MS, 1, FETCH_BYTES, isolation_level, wanted)
    async with asyncio.timeout(FETCH_SECONDS):
        reply = await consumer._client.send(leader, request)
    [(_, [(_, error_code, high_watermark, *details, data)])] = reply.topics
    if error_code:
        error = for_code(error_code)
        if error.invalid_metadata:
            consumer._client.force_metadata_update()
        raise error(place)
    if reply.API_VERSION >= 11:
        details.pop()  # The preferred read replica.
    aborted = details[-1] if reply.API_VERSION >= 4 else None
    return Stored(bytes(data or b""), high_watermark, [(pid, first) for pid, first in aborted or ()])


async def describe(admin: AIOKafkaAdminClient, topics: Collection[str]) -> list[dict[str, Any]]:
    """Metadata of topics by name; the public describe_topics() would create those that are missing."""
    reply = await admin._send_request(MetadataRequest(list(topics), allow_auto_topic_creation=False))
    found: list[dict[str, Any]] = reply.to_object()["topics"]
    return found


async def close(consumer: AIOKafkaConsumer) -> None:
    """Stop a consumer within four seconds, also when no broker answers; it leaves its group if one does."""
    if consumer._coordinator is not None:
        # With it aiokafka would not leave, and the group would wait until the session times out.
        consumer._coordinator._group_instance_id = None
    # In a task of its own, for stop() can end in a CancelledError that nobody asked for.
    await _within(CLOSE_SECONDS, consumer.stop())
    coordinator, fetcher = consumer._coordinator, consumer._fetcher
    if coordinator is not None:
        for name in ("_coordination_task", "_heartbeat_task", "_commit_refresh_task"):
            if (task := getattr(coordinator, name, None)) and not task.done():
                task.cancel()
    if fetcher is not None and not fetcher._fetch_task.done():
        await _within(FORCE_SECONDS, fetcher.close())
    await _within(FORCE_SECONDS, consumer._client.close())


async def _within(seconds: float, work: Any) -> None:
    task = asyncio.ensure_future(work)
    await asyncio.wait({task}, timeout=seconds)
    if not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=FORCE_SECONDS)
    if task.done():
        with contextlib.suppress(Exception, asyncio.CancelledError):
            task.result()

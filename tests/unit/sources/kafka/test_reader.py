"""Reading when fetches fail: nothing is lost, nothing comes twice, one bad partition stops no other."""

import asyncio
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka import errors
from aiokafka.structs import TopicPartition as Place

from monitor.config import KafkaConfig
from monitor.sources.base import SourceError
from monitor.sources.kafka import reader as module
from monitor.sources.kafka.internals import Stored
from monitor.sources.kafka.reader import Reader
from monitor.sources.kafka.waiting import Notices
from tests.unit.sources.kafka.batches import damaged, packed

A, B = Place("topic", 0), Place("topic", 1)


class FakeConsumer:
    """Ten records in each partition, two at a time; like aiokafka, it moves on before a failure is raised."""

    def __init__(self, bad: dict[Place, Exception] | None = None, first: int = 0) -> None:
        self.positions = {A: 0, B: 0}
        self.bad = bad or {}
        self.first = first
        self.paused: set[Place] = set()

    async def getmany(self, *only: Place, **_: int) -> dict[Place, Sequence[Any]]:
        await asyncio.sleep(0)
        drained: dict[Place, Sequence[Any]] = {}
        for place in only or (B, A):
            if place in self.paused:
                continue
            offset = self.positions[place]
            if place in self.bad and offset >= 4:
                raise self.bad[place]
            if offset < self.first:
                raise errors.OffsetOutOfRangeError({place: offset})
            drained[place] = [
                SimpleNamespace(offset=n, timestamp=None) for n in range(offset, min(offset + 2, 10))
            ]
            self.positions[place] = min(offset + 2, 10)
        return {place: records for place, records in drained.items() if records}

    async def position(self, place: Place) -> int:
        return self.positions[place]

    def seek(self, place: Place, offset: int) -> None:
        self.positions[place] = offset

    def pause(self, place: Place) -> None:
        self.paused.add(place)

    def resume(self, place: Place) -> None:
        self.paused.remove(place)

    def last_poll_timestamp(self, place: Place) -> int:
        return self.positions[place]

    def highwater(self, _: Place) -> int:
        return 10

    def last_stable_offset(self, _: Place) -> int:
        return 10


async def list_offsets(consumer: FakeConsumer, times_ms: dict[Place, int]) -> dict[Place, int]:
    return {
        place: consumer.first if time == module.internals.EARLIEST else 10 for place, time in times_ms.items()
    }


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.0)
    monkeypatch.setattr(module.internals, "list_offsets", list_offsets)


def reader_of(consumer: FakeConsumer) -> Reader:
    reader = Reader(consumer, KafkaConfig(), Notices())
    for place in (A, B):
        reader.ledger.begin(place, 0, 10, 0.0)
    return reader


async def read(reader: Reader, rounds: int = 30) -> dict[Place, list[int]]:
    got: dict[Place, list[int]] = {A: [], B: []}
    for now in range(1, rounds):
        await asyncio.wait({reader.work()})
        for topic, partition, records, *_ in reader.take(float(now)):
            got[Place(topic, partition)] += [record.offset for record in records]
    return got


async def test_every_record_is_handed_out_once() -> None:
    reader = reader_of(FakeConsumer())
    assert await read(reader) == {A: list(range(10)), B: list(range(10))}
    assert reader.ledger.lag() == {A: 0, B: 0}


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch) -> dict[Place, list[bytes]]:
    """The batches of each partition from offset 4 on, as the broker has them."""
    batches = {A: [packed(4, 2), packed(6, 2), packed(8, 2)]}

    async def fetch(_: object, place: Place, offset: int) -> Stored:
        left = [batch for n, batch in enumerate(batches[place]) if 4 + 2 * n + 1 >= offset]
        return Stored(b"".join(left), 10, [])

    monkeypatch.setattr(module.internals, "fetch", fetch)
    return batches


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimpleNamespace]:
    now = SimpleNamespace(seconds=1_000.0)
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now.seconds, time=lambda: 2e9))
    return now


@pytest.mark.parametrize(
    "error",
    [
        errors.CorruptRecordException("crc"),
        errors.UnsupportedCodecError("zstd"),
        errors.RecordTooLargeError("length"),
        ValueError("?"),
    ],
)
async def test_a_batch_that_cannot_be_decoded_is_left_out_after_five_tries_in_ten_seconds(
    error: Exception,
    stored: dict[Place, list[bytes]],
    clock: SimpleNamespace,
    caplog: pytest.LogCaptureFixture,
) -> None:
    consumer = FakeConsumer({A: error})
    reader = reader_of(consumer)
    stored[A][0] = damaged(stored[A][0])
    assert await read(reader) == {A: [0, 1, 2, 3], B: list(range(10))}
    assert consumer.paused == {A}
    blocked = (
        "topic[0]: the batch at offset 4 cannot be decoded: its checksum is wrong;"
        " it is left out after 5 tries"
    )
    assert reader.hindrance == blocked
    for _ in range(4):
        clock.seconds += 2.0
        assert await read(reader) == {A: [], B: []}
    assert (reader.skipped, reader.ledger.lag()[A]) == ({}, 6)
    clock.seconds += 2.0
    assert await read(reader) == {A: [6, 7, 8, 9], B: []}
    assert reader.skipped == {A: 2}
    assert (reader.blocked, reader.hindrance, reader.failures, consumer.paused) == ({}, "", 0, set())
    left_out = (
        "topic[0]: the batch at offsets 4 to 5 cannot be decoded: its checksum is wrong;"
        " 2 records are left out"
    )
    assert [record.message for record in caplog.records] == [blocked, left_out]


async def test_a_batch_that_was_left_out_is_not_tried_or_counted_again(
    stored: dict[Place, list[bytes]], clock: SimpleNamespace
) -> None:
    reader = reader_of(FakeConsumer({A: ValueError("?")}))
    stored[A][0] = damaged(stored[A][0])
    for _ in range(6):
        await read(reader)
        clock.seconds += 2.0
    reader.ledger.jump(A, 0, 0.0)
    reader.rewind([A])
    assert (await read(reader))[A] == [0, 1, 2, 3, 6, 7, 8, 9]
    assert reader.skipped == {A: 2}


async def test_a_batch_that_comes_better_the_next_time_is_handed_out(
    stored: dict[Place, list[bytes]], clock: SimpleNamespace
) -> None:
    reader = reader_of(FakeConsumer({A: ValueError("?")}))
    whole = stored[A][1]
    stored[A][1] = damaged(whole)
    assert (await read(reader))[A] == [0, 1, 2, 3, 4, 5]
    assert "at offset 6" in reader.hindrance
    stored[A][1] = whole
    clock.seconds += 2.0
    assert (await read(reader))[A] == [6, 7, 8, 9]
    assert (reader.skipped, reader.blocked) == ({}, {})


async def test_a_fetch_past_the_client_that_fails_is_tried_again_and_is_no_try_of_the_batch(
    stored: dict[Place, list[bytes]], clock: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = reader_of(FakeConsumer({A: ValueError("?")}))
    works = module.internals.fetch

    async def fetch(*_: object) -> Stored:
        raise errors.NodeNotReadyError

    monkeypatch.setattr(module.internals, "fetch", fetch)
    for _ in range(10):
        assert (await read(reader))[A] in ([0, 1, 2, 3], [])
        clock.seconds += 2.0
    assert (reader.hindrance, reader.skipped) == ("", {})
    monkeypatch.setattr(module.internals, "fetch", works)
    assert (await read(reader))[A] == [4, 5, 6, 7, 8, 9]


async def test_partitions_that_changed_while_a_batch_was_fetched_are_left_alone(
    stored: dict[Place, list[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = reader_of(FakeConsumer({A: ValueError("?")}))
    works = module.internals.fetch

    async def fetch(*asked: Any) -> Stored:
        reader._epoch += 1
        reader.blocked.clear()
        return await works(*asked)

    monkeypatch.setattr(module.internals, "fetch", fetch)
    assert (await read(reader))[A] == [0, 1, 2, 3]
    assert reader.ledger.position(A) == 4


async def test_failures_of_the_client_are_counted_until_one_fetch_works() -> None:
    consumer = FakeConsumer({A: errors.KafkaError("coordination")})
    reader = reader_of(consumer)
    assert await read(reader) == {A: [0, 1, 2, 3], B: [0, 1, 2, 3]}
    assert reader.failures > 20
    consumer.bad.clear()
    await read(reader, 3)
    assert reader.failures == 0


async def test_a_refusal_is_raised() -> None:
    reader = reader_of(FakeConsumer({A: errors.TopicAuthorizationFailedError("topic")}))
    with pytest.raises(SourceError, match="not authorised for topic topic"):
        await read(reader)


async def test_records_that_are_gone_are_counted() -> None:
    reader = reader_of(FakeConsumer(first=6))
    assert await read(reader) == {A: [6, 7, 8, 9], B: [6, 7, 8, 9]}
    assert reader.skipped == {A: 6, B: 6}


async def test_what_was_fetched_before_the_partitions_changed_is_dropped() -> None:
    reader = reader_of(FakeConsumer())
    await asyncio.wait({reader.work()})
    reader._epoch += 1
    assert reader.take(1.0) == []
    assert reader.ledger.position(A) == 0


async def test_work_that_is_not_done_hands_out_nothing() -> None:
    reader = reader_of(FakeConsumer())
    work = reader.work()
    assert reader.take(1.0) == []
    assert reader.work() is work
    await work

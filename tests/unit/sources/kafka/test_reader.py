"""Reading when fetches fail: nothing is lost, nothing comes twice, one bad partition stops no other."""

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka import errors
from aiokafka.structs import TopicPartition as Place

from monitor.sources.base import SourceError
from monitor.sources.kafka import reader as module
from monitor.sources.kafka.reader import Reader
from monitor.sources.kafka.waiting import Notices

A, B = Place("topic", 0), Place("topic", 1)


class FakeConsumer:
    """Ten records in each partition, two at a time; like aiokafka, it moves on before a failure is raised."""

    def __init__(self, bad: dict[Place, Exception] | None = None, first: int = 0) -> None:
        self.positions = {A: 0, B: 0}
        self.bad = bad or {}
        self.first = first

    async def getmany(self, *only: Place, **_: int) -> dict[Place, Sequence[Any]]:
        await asyncio.sleep(0)
        drained: dict[Place, Sequence[Any]] = {}
        for place in only or (B, A):
            offset = self.positions[place]
            if place in self.bad and offset >= 4:
                raise self.bad[place]
            if offset < self.first:
                raise errors.OffsetOutOfRangeError({place: offset})
            drained[place] = [SimpleNamespace(offset=n) for n in range(offset, min(offset + 2, 10))]
            self.positions[place] = min(offset + 2, 10)
        return {place: records for place, records in drained.items() if records}

    async def position(self, place: Place) -> int:
        return self.positions[place]

    def seek(self, place: Place, offset: int) -> None:
        self.positions[place] = offset

    def last_poll_timestamp(self, place: Place) -> int:
        return self.positions[place]

    def highwater(self, _: Place) -> int:
        return 10

    async def beginning_offsets(self, places: Sequence[Place]) -> dict[Place, int]:
        return dict.fromkeys(places, self.first)

    async def end_offsets(self, places: Sequence[Place]) -> dict[Place, int]:
        return dict.fromkeys(places, 10)


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.0)


def reader_of(consumer: FakeConsumer) -> Reader:
    reader = Reader(consumer, Notices())
    for place in (A, B):
        reader.ledger.begin(place, 0, 10, 0.0)
    return reader


async def read(reader: Reader, rounds: int = 30) -> dict[Place, list[int]]:
    got: dict[Place, list[int]] = {A: [], B: []}
    for now in range(1, rounds):
        await asyncio.wait({reader.work()})
        for topic, partition, records in reader.take(float(now)):
            got[Place(topic, partition)] += [record.offset for record in records]
    return got


async def test_every_record_is_handed_out_once() -> None:
    reader = reader_of(FakeConsumer())
    assert await read(reader) == {A: list(range(10)), B: list(range(10))}
    assert reader.ledger.lag() == {A: 0, B: 0}


@pytest.mark.parametrize(
    "error", [errors.CorruptRecordException("crc"), errors.UnsupportedCodecError("zstd"), ValueError("?")]
)
async def test_a_partition_that_cannot_be_decoded_stops_no_other(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    reader = reader_of(FakeConsumer({A: error}))
    assert await read(reader) == {A: [0, 1, 2, 3], B: list(range(10))}
    assert reader.undecodable == {A}
    assert reader.ledger.lag() == {A: 6, B: 0}
    assert reader.failures == 0
    (line,) = [record.message for record in caplog.records]
    assert line.startswith("topic[0]: batch at offset 4 cannot be decoded: ")
    # A new client would not help, so that it is not taken for stuck.
    reader.heard_at = 1_000.0
    assert reader.quiet_seconds(1_000.0) == 0.0


async def test_a_partition_that_can_be_decoded_again_goes_on() -> None:
    consumer = FakeConsumer({A: ValueError("?")})
    reader = reader_of(consumer)
    before = await read(reader)
    consumer.bad.clear()
    after = await read(reader)
    assert before[A] + after[A] == list(range(10))
    assert reader.undecodable == set()


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

"""Decompression within a bound, for every codec and message format."""

import gzip
import struct
import tracemalloc
from collections.abc import Callable
from typing import Any

import cramjam
import pytest
from aiokafka.codec import gzip_encode, lz4_encode, snappy_encode, zstd_encode
from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.legacy_records import LegacyRecordBatchBuilder
from aiokafka.record.memory_records import MemoryRecords
from aiokafka.structs import TopicPartition

from monitor.sources.kafka import internals
from monitor.sources.kafka.decompression import (
    BatchTooLargeError,
    Budget,
    check_headers,
    gunzip,
    unlz4,
    unsnappy,
    unzstd,
)
from monitor.sources.kafka.salvage import salvage

MIB = 1 << 20
GZIP, SNAPPY, LZ4, ZSTD = 1, 2, 3, 4


def zstd_stream(data: bytes) -> bytes:
    """A frame that does not say how long it becomes."""
    compressor = cramjam.zstd.Compressor()
    compressor.compress(data)
    return bytes(compressor.finish())


CODECS = [
    pytest.param(gzip_encode, gunzip, id="gzip"),
    pytest.param(snappy_encode, unsnappy, id="snappy in xerial's frame"),
    pytest.param(lambda data: bytes(snappy_encode(data, xerial_compatible=False)), unsnappy, id="snappy"),
    pytest.param(lz4_encode, unlz4, id="lz4"),
    pytest.param(zstd_encode, unzstd, id="zstd"),
    pytest.param(zstd_stream, unzstd, id="zstd without its length"),
]


@pytest.mark.parametrize(("compress", "decompress"), CODECS)
def test_what_just_fits_comes_out_and_a_byte_more_is_refused(
    compress: Callable[[bytes], bytes], decompress: Callable[[bytes, int], bytes]
) -> None:
    data = bytes(range(256)) * 1000
    assert decompress(compress(data), len(data)) == data
    assert decompress(memoryview(compress(data)), 10 * len(data)) == data
    with pytest.raises(BatchTooLargeError, match="expands to more than 255,999 bytes"):
        decompress(compress(data), len(data) - 1)
    with pytest.raises(BatchTooLargeError):
        decompress(compress(data), 0)


@pytest.mark.parametrize(("compress", "decompress"), CODECS)
def test_much_more_than_the_bound_takes_no_more_memory(
    compress: Callable[[bytes], bytes], decompress: Callable[[bytes, int], bytes]
) -> None:
    packed = compress(bytes(64 * MIB))
    tracemalloc.start()
    try:
        with pytest.raises(BatchTooLargeError):
            decompress(packed, MIB)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < len(packed) + 4 * MIB


@pytest.mark.parametrize(("compress", "decompress"), CODECS)
def test_what_is_cut_off_is_an_error_of_its_own(
    compress: Callable[[bytes], bytes], decompress: Callable[[bytes, int], bytes]
) -> None:
    packed = compress(bytes(range(256)) * 1000)
    with pytest.raises((EOFError, ValueError, cramjam.DecompressionError)):
        decompress(packed[:-9], MIB)


@pytest.mark.parametrize("size", [-4, 0, 1 << 30])
def test_a_block_of_an_impossible_length_ends_the_reading(size: int) -> None:
    packed = snappy_encode(b"spam")[:16] + struct.pack(">i", size) + b"spam"
    with pytest.raises(ValueError, match=f"a length of {size} bytes"):
        unsnappy(packed, MIB)


def test_several_members_of_gzip_share_the_bound() -> None:
    packed = gzip.compress(b"spam") + gzip.compress(b"eggs") + bytes(8)
    assert gunzip(packed, 8) == b"spameggs"
    with pytest.raises(BatchTooLargeError):
        gunzip(packed, 7)


def batch(codec: int, *values: bytes, magic: int = 2, headers: int = 0) -> bytes:
    if magic == 2:
        builder: Any = DefaultRecordBatchBuilder(
            magic=2,
            compression_type=codec,
            is_transactional=0,
            producer_id=-1,
            producer_epoch=-1,
            base_sequence=-1,
            batch_size=1 << 30,
        )
        for n, value in enumerate(values):
            builder.append(n, 1_700_000_000_000, None, value, [("", b"")] * headers)
    else:
        builder = LegacyRecordBatchBuilder(magic=magic, compression_type=codec, batch_size=1 << 30)
        for n, value in enumerate(values):
            builder.append(n, timestamp=1_700_000_000_000, key=None, value=value)
    return bytes(builder.build())


FORMATS = [
    pytest.param(magic, codec, id=f"format {magic}, codec {codec}")
    for magic, codecs in ((0, (GZIP, SNAPPY)), (1, (GZIP, SNAPPY, LZ4)), (2, (GZIP, SNAPPY, LZ4, ZSTD)))
    for codec in codecs
]


def read(data: bytes, limit: int) -> list[bytes | None]:
    """What the client hands out of one fetch."""
    mark = internals.AsDecoded(limit)
    place = TopicPartition("topic", 0)
    found = internals.fetcher.PartitionRecords(place, MemoryRecords(data), [], 0, mark, None, True, 0)
    return [record.value for record in found]


def at(offset: int, data: bytes) -> bytes:
    """A batch of format 2 at another offset: its checksum does not cover it."""
    return struct.pack(">q", offset) + data[8:]


@pytest.mark.parametrize(("magic", "codec"), FORMATS)
def test_the_client_reads_what_fits_and_refuses_what_does_not(magic: int, codec: int) -> None:
    data = batch(codec, b"a" * 500_000, b"b" * 500_000, magic=magic)
    assert read(data, 2 * MIB) == [b"a" * 500_000, b"b" * 500_000]
    with pytest.raises(BatchTooLargeError):
        read(data, 900_000)
    found = salvage(data, 0, 2, patient=True, max_batch_bytes=900_000)
    (gap,) = found.gaps
    assert gap.cause == "it expands to more than 900,000 bytes (kafka.max_batch_bytes)"
    assert (found.records, gap.first) == ([], 0)


def test_batches_of_one_fetch_share_the_bound_and_the_rest_is_fetched_again() -> None:
    one, two = batch(ZSTD, b"a" * 500_000), batch(ZSTD, b"b" * 500_000)
    assert read(one + at(1, two), 2 * MIB) == [b"a" * 500_000, b"b" * 500_000]
    assert read(one + at(1, two), 900_000) == [b"a" * 500_000]
    found = salvage(one + at(1, two), 0, 2, patient=True, max_batch_bytes=900_000)
    assert (len(found.records), found.position, found.gaps, found.stopped) == (1, 1, [], "")


def test_many_small_records_are_not_made_objects_at_once() -> None:
    data = batch(ZSTD, *([b""] * 25_000))
    first = salvage(data, 0, 25_000, patient=True)
    assert (len(first.records), first.position) == (10_000, 10_000)
    last = salvage(data, 20_000, 25_000, patient=True)
    assert (len(last.records), last.position) == (5_000, 25_000)


def test_a_record_with_very_many_headers_is_refused() -> None:
    with pytest.raises(BatchTooLargeError, match="a record has 200,000 headers, at most 10,000 are read"):
        read(batch(ZSTD, b"spam", b"eggs", headers=200_000), 16 * MIB)
    few = read(batch(ZSTD, b"a" * 500_000, b"eggs", headers=10_000), 16 * MIB)
    assert few == [b"a" * 500_000, b"eggs"]


def test_a_number_without_an_end_is_an_error() -> None:
    with pytest.raises(ValueError, match="too long"):
        check_headers(b"\xff" * MIB)


def test_a_budget_is_what_is_left_of_it() -> None:
    budget = Budget(10)
    assert budget.decompress(gunzip, gzip.compress(b"eight by")) == b"eight by"
    with pytest.raises(BatchTooLargeError):
        budget.decompress(gunzip, gzip.compress(b"abc"))
    assert budget.decompress(gunzip, gzip.compress(b"ab")) == b"ab"

"""Record batches as a broker stores them."""

import struct

from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.util import calc_crc32c

CRC, ATTRIBUTES = 17, 21
TRANSACTIONAL, CONTROL = 0x10, 0x20


def packed(first: int, count: int, codec: int = 0, producer_id: int | None = None) -> bytes:
    """A batch of `count` records from an offset on; each has its offset as its value.

    With a producer id they belong to a transaction.
    """
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=codec,
        is_transactional=producer_id is not None,
        producer_id=-1 if producer_id is None else producer_id,
        producer_epoch=-1,
        base_sequence=-1,
        batch_size=1 << 20,
    )
    for n in range(count):
        builder.append(n, timestamp=1_700_000_000_000, key=None, value=b"%d" % (first + n), headers=[])
    batch = bytearray(builder.build())
    struct.pack_into(">q", batch, 0, first)
    return bytes(batch)


def marker(offset: int, producer_id: int, *, commit: bool) -> bytes:
    """The batch by which a broker ends a transaction."""
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=0,
        is_transactional=True,
        producer_id=producer_id,
        producer_epoch=0,
        base_sequence=-1,
        batch_size=1 << 20,
    )
    builder.append(0, timestamp=1, key=struct.pack(">HH", 0, commit), value=bytes(6), headers=[])
    batch = bytearray(builder.build())
    struct.pack_into(">q", batch, 0, offset)
    return with_attributes(bytes(batch), TRANSACTIONAL | CONTROL)


def damaged(batch: bytes, at: int = -1) -> bytes:
    """The batch with one byte changed, among the records if no place is given."""
    changed = bytearray(batch)
    changed[at] ^= 0xFF
    return bytes(changed)


def with_attributes(batch: bytes, attributes: int) -> bytes:
    """The batch with other attributes and a right checksum."""
    changed = bytearray(batch)
    struct.pack_into(">h", changed, ATTRIBUTES, attributes)
    struct.pack_into(">I", changed, CRC, calc_crc32c(bytes(changed[ATTRIBUTES:])))
    return bytes(changed)

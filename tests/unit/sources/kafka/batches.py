"""Record batches as a broker stores them."""

import struct

from aiokafka.record.default_records import DefaultRecordBatchBuilder
from aiokafka.record.util import calc_crc32c

CRC, ATTRIBUTES = 17, 21


def packed(first: int, count: int, codec: int = 0) -> bytes:
    """A batch of `count` records from an offset on; each has its offset as its value."""
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=codec,
        is_transactional=0,
        producer_id=-1,
        producer_epoch=-1,
        base_sequence=-1,
        batch_size=1 << 20,
    )
    for n in range(count):
        builder.append(n, timestamp=1_700_000_000_000, key=None, value=b"%d" % (first + n), headers=[])
    batch = bytearray(builder.build())
    struct.pack_into(">q", batch, 0, first)
    return bytes(batch)


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

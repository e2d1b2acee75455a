"""Damage to a log that no producer can do: a stopped broker's files, changed by hand."""

import struct
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from aiokafka.record.util import calc_crc32c

HEAD = struct.Struct(">qi")
CRC = 17
ATTRIBUTES = 21
LAST_OFFSET = 23
RECORDS = 61


class Batch(NamedTuple):
    """Where a batch lies in its file, and which offsets it has."""

    begin: int
    end: int
    first: int
    last: int


def batches(data: bytes) -> list[Batch]:
    """The batches of a segment, in format 2."""
    found, at = [], 0
    while at < len(data):
        first, length = HEAD.unpack_from(data, at)
        (distance,) = struct.unpack_from(">i", data, at + LAST_OFFSET)
        found.append(Batch(at, at + HEAD.size + length, first, first + distance))
        at += HEAD.size + length
    return found


def flip_a_byte(batch: bytearray) -> None:
    """Change a byte among the records, so that the checksum is wrong."""
    batch[RECORDS + 4] ^= 0xFF


def name_an_unknown_codec(batch: bytearray) -> None:
    """Say that it is compressed in a way that does not exist; the checksum is right."""
    batch[ATTRIBUTES + 1] |= 7
    struct.pack_into(">I", batch, CRC, calc_crc32c(bytes(batch[ATTRIBUTES:])))


def damage(
    data_folder: Path, topic: str, partition: int, offset: int, do: Callable[[bytearray], None]
) -> Batch:
    """Damage the batch that has an offset."""
    (segment,) = (data_folder / f"{topic}-{partition}").glob("*.log")
    data = bytearray(segment.read_bytes())
    (hit,) = [batch for batch in batches(data) if batch.first <= offset <= batch.last]
    changed = data[hit.begin : hit.end]
    do(changed)
    data[hit.begin : hit.end] = changed
    segment.write_bytes(data)
    return hit

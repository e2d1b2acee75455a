"""Decompression with a bound: a small batch can expand to more than there is memory."""

import struct
import zlib
from collections.abc import Callable
from typing import Any

import cramjam

Payload = bytes | memoryview
Decompress = Callable[[Payload, int], bytes]
"""Takes what is compressed, and how many bytes may come out; raises BatchTooLargeError for more."""

GZIP_FORMAT = 31
XERIAL_HEAD = b"\x82SNAPPY\x00"
XERIAL_HEAD_BYTES = 16
LARGE_RECORD_BYTES = 1 << 18
"""A smaller record cannot have enough headers to matter."""
MAX_HEADERS = 10_000
MAX_SHIFT = 63


class BatchTooLargeError(Exception):
    """A batch would take more memory than it may."""


class Budget:
    """How many bytes may come out of the batches of one fetch, taken together."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.spent = 0

    def decompress(self, decompress: Decompress, payload: Payload) -> bytes:
        """Decompress one batch. Raises BatchTooLargeError."""
        data = decompress(payload, self.limit - self.spent)
        self.spent += len(data)
        return data


def gunzip(payload: Payload, limit: int) -> bytes:
    """Decompress gzip, of one member or several.

    >>> import gzip
    >>> gunzip(gzip.compress(b"spam") + gzip.compress(b"eggs"), limit=8)
    b'spameggs'
    """
    parts, left, rest = [], limit, bytes(payload)
    while rest:
        member = zlib.decompressobj(GZIP_FORMAT)
        # One byte more, or a limit of 0 would mean none.
        part = member.decompress(rest, left + 1)
        if len(part) > left:
            raise too_large(limit)
        if not member.eof:
            raise EOFError("the compressed batch ends too early")
        parts.append(part)
        left -= len(part)
        # Zeros may fill up the end.
        rest = member.unused_data.lstrip(b"\0")
    return b"".join(parts)


def unsnappy(payload: Payload, limit: int) -> bytes:
    """Decompress snappy: one block, or several as Java's xerial library frames them."""
    view = memoryview(payload)
    if bytes(view[: len(XERIAL_HEAD)]) != XERIAL_HEAD:
        return _snappy_block(view, limit, limit)
    parts, left, at = [], limit, XERIAL_HEAD_BYTES
    while at < len(view):
        (size,) = struct.unpack_from(">i", view, at)
        at += 4
        if size <= 0 or at + size > len(view):
            raise ValueError(f"a snappy block has a length of {size} bytes")
        parts.append(_snappy_block(view[at : at + size], left, limit))
        left -= len(parts[-1])
        at += size
    return b"".join(parts)


def _snappy_block(block: memoryview, left: int, limit: int) -> bytes:
    # Its length stands at its beginning, and is what would be allocated.
    if cramjam.snappy.decompress_raw_len(block) > left:
        raise too_large(limit)
    return bytes(cramjam.snappy.decompress_raw(block))


def unlz4(payload: Payload, limit: int) -> bytes:
    """Decompress frames of lz4."""
    return _into_a_buffer(cramjam.lz4, payload, limit)


def unzstd(payload: Payload, limit: int) -> bytes:
    """Decompress frames of zstd, which need not say how long they become."""
    return _into_a_buffer(cramjam.zstd, payload, limit)


def _into_a_buffer(codec: Any, payload: Payload, limit: int) -> bytes:
    # Memory that is only reserved: what is never written to is never taken.
    buffer = bytearray(limit)
    try:
        size = codec.decompress_into(payload, buffer)
    except cramjam.DecompressionError as error:
        if "whole buffer" in str(error):
            raise too_large(limit) from None
        raise
    return bytes(memoryview(buffer)[:size])


def too_large(limit: int) -> BatchTooLargeError:
    return BatchTooLargeError(f"it expands to more than {limit:,} bytes (kafka.max_batch_bytes)")


def check_headers(records: bytes) -> None:
    """Refuse a record with a great many headers, of format 2: as Python objects they take 40 times the bytes.

    >>> check_headers(bytes([2 * 7, 0, 0, 0, 1, 1, 2, 2, 97, 1]))
    """
    if len(records) <= LARGE_RECORD_BYTES:
        return
    at = 0
    while at < len(records):
        length, begin = _varint(records, at)
        if length <= 0:
            return  # No record: decoding will tell.
        at = begin + length
        if length > LARGE_RECORD_BYTES:
            headers = _headers(records, begin)
            if headers > MAX_HEADERS:
                raise BatchTooLargeError(
                    f"a record has {headers:,} headers, at most {MAX_HEADERS:,} are read"
                )


def _headers(records: bytes, at: int) -> int:
    at += 1  # The attributes.
    for _ in range(2):  # Its time and offset.
        _, at = _varint(records, at)
    for _ in range(2):  # Its key and value.
        size, at = _varint(records, at)
        at += max(0, size)
    return _varint(records, at)[0]


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of variable length, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if shift > MAX_SHIFT:
            raise ValueError("a record has a number that is too long")
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at
        shift += 7

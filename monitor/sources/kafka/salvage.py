"""Reading around batches that cannot be decoded: their neighbours are kept, what is left out is told."""

import struct
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from aiokafka.record.control_record import ABORT_MARKER, ControlRecord
from aiokafka.record.memory_records import MemoryRecords

from monitor.sources.kafka import internals
from monitor.sources.kafka.decompression import BatchTooLargeError, Budget
from monitor.stream.records import Record

TRIES = 5
TRY_SECONDS = 2.0
"""A checksum can be wrong because of how a batch came here; so it is asked for again this often."""

MAX_RECORDS = 10_000
"""Records after which it stops for this time: as objects, small ones take many times their bytes."""
HEAD = struct.Struct(">qi")
"""Offset of the first record, and how many bytes follow; the same in every format."""
LAST_OFFSET = struct.Struct(">23xi")
"""Distance from the first offset to the last, in format 2."""


@dataclass(slots=True)
class Hurdle:
    """A batch that a partition stands before."""

    tries: int = 0
    """How often it was asked for in vain."""
    due: float = 0.0
    """When to ask for it again."""
    cause: str = ""


class Gap(NamedTuple):
    """Offsets that are left out."""

    first: int
    next: int
    """The offset to go on from."""
    cause: str


@dataclass(slots=True)
class Salvaged:
    """What could be read of a fetch."""

    position: int
    """The next offset that is neither read nor left out."""
    records: list[Record] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)
    stopped: str = ""
    """Why it stopped at `position`; empty if it came to the end."""
    clean: bool = True
    """The batch that came last could be decoded."""


def salvage(
    data: bytes,
    position: int,
    end: int,
    aborted: Collection[tuple[int, int]] = (),
    *,
    patient: bool,
    max_batch_bytes: int = 1 << 24,
) -> Salvaged:
    """Decode the batches of a fetch, one by one, from a position on; `end` is the end of the log.

    A batch whose checksum is right was written as it is: it is left out at once. One whose checksum is wrong
    may come better the next time: with `patient` it stops there. `aborted` names aborted transactions, by
    producer id and first offset; their records are not read. Of what takes much memory only a part is read:
    the next fetch goes on from there.
    """
    found = Salvaged(position)
    transactions = _Aborted(aborted)
    budget = Budget(max_batch_bytes)
    batches = [*_split(data)]
    for batch, following in pairwise([*batches, b""]):
        limit = min(end, HEAD.unpack_from(following)[0]) if following else end
        try:
            internals.spend(budget)
            records, after = _decode(batch, transactions, found.position)
        except Exception as error:  # noqa: BLE001 - decoding can raise anything
            if isinstance(error, BatchTooLargeError) and budget.spent:
                return found
            damaged = isinstance(error, _DamagedError)
            if damaged and patient:
                found.stopped = str(error)
                return found
            after = _end_of(batch, found.position, limit, trusted_limit=bool(following))
            found.gaps.append(Gap(found.position, after, _in_words(error)))
            found.clean = False
            if transactions:
                # It may have been the marker that ends one: the next fetch tells which are left.
                found.position = max(found.position, after)
                return found
        else:
            found.records += records
            found.clean = True
        found.position = max(found.position, after)
        if len(found.records) >= MAX_RECORDS:
            return found
    return found


class _DamagedError(Exception):
    """It is not what was written."""


def _split(data: bytes) -> Iterator[bytes]:
    at = 0
    while at + HEAD.size <= len(data):
        length = HEAD.unpack_from(data, at)[1]
        until = at + HEAD.size + length if length > 0 else len(data)
        # The last one may be cut off. The first is always sent whole: its length must be wrong.
        if until > len(data) and at > 0:
            return
        yield data[at:until]
        at = until


class _Aborted:
    """Which batches belong to aborted transactions, as they come one after the other."""

    def __init__(self, transactions: Collection[tuple[int, int]]) -> None:
        self._ahead = sorted(transactions, key=lambda transaction: transaction[1], reverse=True)
        self._producers: set[int] = set()

    def __bool__(self) -> bool:
        return bool(self._ahead or self._producers)

    def has(self, batch: Any) -> bool:
        """Whether this batch, the next one, belongs to one of them."""
        if batch.producer_id is None:
            return False  # An old format, without transactions.
        while self._ahead and self._ahead[-1][1] <= batch.base_offset:
            self._producers.add(self._ahead.pop()[0])
        if batch.is_control_batch:
            if ControlRecord.parse(next(batch).key) == ABORT_MARKER:
                self._producers.discard(batch.producer_id)
            return False
        return bool(batch.is_transactional and batch.producer_id in self._producers)


def _in_words(error: Exception) -> str:
    return str(error) if isinstance(error, _DamagedError | BatchTooLargeError) else repr(error)


def _decode(data: bytes, aborted: _Aborted, position: int) -> tuple[Sequence[Record], int]:
    """The records of a batch from a position on, not all of them if they are many; and the next offset."""
    try:
        batch = MemoryRecords(data).next_batch()
    except Exception:  # noqa: BLE001 - what stands before the checksum can be anything
        batch = None
    if batch is None:
        raise _DamagedError("its header is wrong")
    if not batch.validate_crc():
        raise _DamagedError("its checksum is wrong")
    if (aborted and aborted.has(batch)) or batch.is_control_batch:
        return [], batch.next_offset
    records: list[Record] = []
    for record in batch:
        if record.offset >= position:
            records.append(record)
            if len(records) >= MAX_RECORDS:
                return records, record.offset + 1
    return records, batch.next_offset


def _end_of(batch: bytes, position: int, limit: int, *, trusted_limit: bool) -> int:
    """Where a batch ends that cannot be decoded: its own word, if that makes sense."""
    if len(batch) >= LAST_OFFSET.size:
        after: int = HEAD.unpack_from(batch)[0] + LAST_OFFSET.unpack_from(batch)[0] + 1
        if position < after <= limit:
            return after
    return max(position + 1, limit) if trusted_limit else position + 1

"""Reading with one consumer: nothing lost when a fetch fails, nothing handed out twice."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import (
    CorruptRecordException,
    KafkaError,
    OffsetOutOfRangeError,
    RecordTooLargeError,
    UnsupportedCodecError,
)
from aiokafka.structs import TopicPartition as Place

from monitor.config import KafkaConfig
from monitor.sources.base import SourceError
from monitor.sources.kafka import internals
from monitor.sources.kafka.client import refusal
from monitor.sources.kafka.ledger import OUTAGE_SECONDS, LastFetch, Ledger
from monitor.sources.kafka.offsets import logs
from monitor.sources.kafka.salvage import TRIES, TRY_SECONDS, Gap, Hurdle, salvage
from monitor.sources.kafka.waiting import Notices
from monitor.stream.records import Chunk, Record, TopicPartition
from monitor.stream.watermark import RECENT

log = logging.getLogger(__name__)

FETCH_WAIT_MS = 300
"""How long a broker may wait for more before it answers."""
QUIET_WAIT_MS = 1_000
"""The same for a reader that is at the end: what comes then can wait, and every answer has its cost."""
WAIT_ALONE_MS = QUIET_WAIT_MS + 100
MAX_RECORDS = 1_000
"""Few enough to be still in the processor's cache when they are decoded."""
TRANSACTION_SECONDS = 10.0
"""A transaction that is open for longer makes the daemon not ready: event time stands still meanwhile."""
RETRY_SECONDS = 0.2
UNDECODABLE = (CorruptRecordException, UnsupportedCodecError, RecordTooLargeError)
"""What aiokafka raises for a batch that it cannot decode; but an error that is not its own can be one too."""


def consuming(config: KafkaConfig) -> dict[str, Any]:
    """Settings of every consumer."""
    return {
        "enable_auto_commit": False,
        "auto_offset_reset": "none",
        "check_crcs": True,
        "key_deserializer": internals.AsDecoded(config.max_batch_bytes),
        "fetch_max_wait_ms": FETCH_WAIT_MS,
        "isolation_level": config.isolation_level,
    }


class Fetched(NamedTuple):
    """What one fetch brought, and where it left each partition."""

    epoch: int
    batches: Mapping[TopicPartition, Sequence[Record]]
    positions: Mapping[TopicPartition, int]


class Reader:
    """A consumer, its ledger, and one piece of work at a time.

    The work is a task that outlives a poll, for getmany() waits through a rebalance however long that takes,
    and must never be cancelled.
    """

    def __init__(self, consumer: AIOKafkaConsumer, config: KafkaConfig, notices: Notices) -> None:
        self.consumer = consumer
        self.ledger = Ledger()
        self.skipped: dict[TopicPartition, int] = {}
        """Records that were gone before they could be read, or could not be decoded."""
        self.failures = 0
        """Fetches that failed in a row, other than for what a batch contains."""
        self.blocked: dict[TopicPartition, Hurdle] = {}
        """Partitions that the client no longer reads, since it fails at a batch of theirs."""
        self.heard_at = time.monotonic()
        """When there was last a sign that the broker answers this consumer."""
        self._notices = notices
        self._max_batch_bytes = config.max_batch_bytes
        self._committed_only = config.isolation_level == "read_committed"
        self._epoch = 0
        self._work: asyncio.Task[Fetched | None] | None = None
        self._one_by_one: deque[TopicPartition] = deque()
        self._left_out: set[tuple[TopicPartition, int]] = set()

    def work(self) -> "asyncio.Task[Fetched | None]":
        """The work under way; wait for it, never cancel it."""
        if self._work is None:
            self._work = asyncio.create_task(self._next())
        return self._work

    async def _next(self) -> Fetched | None:
        return await self._fetch()

    def take(self, now: float) -> list[Chunk]:
        """Hand out what the work has brought, if it is done. Raises SourceError."""
        self._listen(now)
        if self._work is None or not self._work.done():
            return []
        fetched, self._work = self._work.result(), None
        if fetched is None or fetched.epoch != self._epoch:
            return []
        catching_up = {place: self.ledger.is_catching_up(place, now) for place in fetched.batches}
        timestamps = {
            place: [record.timestamp for record in records[-RECENT:]]
            for place, records in fetched.batches.items()
        }
        self.ledger.advance(fetched.positions, timestamps, now, int(time.time() * 1000))
        if fetched.batches:
            self.heard_at = now
        return [
            Chunk(*place, records, catching_up[place], self.ledger.is_at_end(place, now))
            for place, records in fetched.batches.items()
        ]

    def _listen(self, now: float) -> None:
        consumer = self.consumer
        fetches = {
            place: LastFetch(
                stamp=consumer.last_poll_timestamp(place),
                end=consumer.last_stable_offset(place) if self._committed_only else consumer.highwater(place),
                high_watermark=consumer.highwater(place),
            )
            for place in map(_place, self.ledger)
        }
        if self.ledger.see(fetches, now):
            self.heard_at = now

    def is_silent(self, now: float) -> bool:
        """Whether it is too long since the broker answered to know what it holds."""
        return now - self.heard_at > OUTAGE_SECONDS

    def quiet_seconds(self, now: float) -> float:
        """How long there has been no sign of life, for which a new client might be the cure."""
        return max(now - self.heard_at, self.ledger.still_seconds(now))

    @property
    def hindrance(self) -> str:
        """The batches that reading stands before, in words; empty if there are none."""
        return "; ".join(
            f"{topic}[{partition}]: the batch at offset {self.ledger.position((topic, partition))} cannot be"
            f" decoded: {hurdle.cause}; it is left out after {TRIES} tries"
            for (topic, partition), hurdle in self.blocked.items()
            if hurdle.tries
        )

    def open_transactions(self, now: float) -> str:
        """The transactions that have been open for long, in words; empty if there are none."""
        clock = time.time()
        return "; ".join(
            f"{topic}[{partition}]: a transaction has been open since at least"
            f" {datetime.fromtimestamp(clock - (now - since), UTC):%Y-%m-%d %H:%M:%S} UTC; records after its"
            " first wait until the producer ends it"
            for (topic, partition), since in self.ledger.open_transactions().items()
            if now - since >= TRANSACTION_SECONDS
        )

    def hold(self, now: float) -> None:
        """Note that records are left waiting on purpose."""
        self.ledger.touch(now)
        self.heard_at = now

    async def _fetch(self) -> Fetched | None:
        for place, hurdle in self.blocked.items():
            if time.monotonic() >= hurdle.due:
                return await self._salvage(place, hurdle)
        alone = self._one_by_one.popleft() if self._one_by_one else None
        asked = [alone] if alone else self._in_step()
        epoch = self._epoch
        try:
            batches = await self.consumer.getmany(
                *map(_place, asked),
                timeout_ms=WAIT_ALONE_MS if alone else QUIET_WAIT_MS,
                max_records=MAX_RECORDS,
            )
        except Exception as error:  # noqa: BLE001 - decoding a batch can raise anything
            await self._recover(alone, error)
            return None
        self.failures = 0
        # The client's positions, not the last offsets: transaction markers and compaction use up offsets too.
        positions = {place: await self.consumer.position(_place(place)) for place in self.ledger}
        return Fetched(epoch, batches, positions)

    def _in_step(self) -> list[TopicPartition]:
        chosen = self.ledger.in_step(time.monotonic())
        # No partition named means all of them, also those that come with a new assignment.
        return chosen if len(chosen) < len(self.ledger) else []

    async def _recover(self, alone: TopicPartition | None, error: Exception) -> None:
        """Go back to the ledger: a failed fetch has moved the client's positions over records it dropped."""
        if why := refusal(error):
            raise SourceError(why) from None
        self.rewind([alone] if alone else self.ledger)
        if isinstance(error, OffsetOutOfRangeError):
            await self._skip(error.args[0])
            return
        if isinstance(error, KafkaError) and not isinstance(error, UNDECODABLE):
            self.failures += 1
            self._notices.say("fetch", f"reading failed, trying again: {error}")
        elif alone is None:
            # One bad partition must not hold the others back: ask each alone for one round.
            self._one_by_one.extend(place for place in self.ledger if place not in self.blocked)
        elif alone in self.ledger:
            self.blocked.setdefault(alone, Hurdle())
            self.consumer.pause(_place(alone))
            return
        await asyncio.sleep(RETRY_SECONDS)

    async def _salvage(self, place: TopicPartition, hurdle: Hurdle) -> Fetched | None:
        """Read a partition past the client, which drops the good records with the bad batch after them."""
        epoch, position = self._epoch, self.ledger.position(place)
        try:
            stored = await internals.fetch(self.consumer, place, position)
        except Exception as error:  # noqa: BLE001 - as in a fetch by the client
            if why := refusal(error):
                raise SourceError(why) from None
            self._notices.say("fetch", f"reading failed, trying again: {error!r}")
            hurdle.due = time.monotonic() + TRY_SECONDS
            if isinstance(error, OffsetOutOfRangeError) and epoch == self._epoch:
                self._unblock(place)
            return None
        if epoch != self._epoch:
            return None
        now = self.heard_at = time.monotonic()
        patient = hurdle.tries < TRIES and (place, position) not in self._left_out
        found = salvage(
            stored.data,
            position,
            stored.high_watermark,
            stored.aborted,
            patient=patient,
            max_batch_bytes=self._max_batch_bytes,
        )
        for gap in found.gaps:
            self._leave_out(place, gap)
        # Not at once, or the other partitions would not have their turn.
        hurdle.due = now + RETRY_SECONDS
        if found.stopped and found.position == position:
            hurdle.tries, hurdle.cause, hurdle.due = hurdle.tries + 1, found.stopped, now + TRY_SECONDS
            self._notices.say(f"decode {place}", self.hindrance)
        self.consumer.seek(_place(place), found.position)
        if found.clean and not found.stopped:
            self._unblock(place)
        return Fetched(epoch, {place: found.records} if found.records else {}, {place: found.position})

    def _leave_out(self, place: TopicPartition, gap: Gap) -> None:
        """Count and log what cannot be decoded, once, however often it is read."""
        if (place, gap.first) in self._left_out:
            return
        self._left_out.add((place, gap.first))
        count = gap.next - gap.first
        self.skipped[place] = self.skipped.get(place, 0) + count
        log.warning(
            "%s[%d]: the batch at offsets %d to %d cannot be decoded: %s; %d records are left out",
            *place,
            gap.first,
            gap.next - 1,
            gap.cause,
            count,
        )

    def _unblock(self, place: TopicPartition) -> None:
        del self.blocked[place]
        self.consumer.resume(_place(place))

    def rewind(self, places: Iterable[TopicPartition]) -> None:
        """Set the client to where the ledger is."""
        for place in places:
            if place in self.ledger:
                self.consumer.seek(_place(place), self.ledger.position(place))

    async def _skip(self, places: Iterable[TopicPartition]) -> None:
        """Go on from the earliest record where retention has overtaken the position."""
        epoch = self._epoch
        try:
            held = await logs(self.consumer, [place for place in places if place in self.ledger])
        except (KafkaError, OSError) as error:
            log.debug("the ends of the log cannot be read: %r", error)
            return
        if epoch != self._epoch:
            return
        for place, there in held.items():
            position = self.ledger.position(place)
            if not there.first <= position <= there.end:
                self.miss(place, position, there.first)
                self.ledger.jump(place, there.first, time.monotonic())
        self.rewind(held)

    def miss(self, place: TopicPartition, wanted: int, first: int) -> None:
        """Count and log records that are gone."""
        count = max(0, first - wanted)
        self.skipped[place] = self.skipped.get(place, 0) + count
        log.warning(
            "%s[%d]: offset %d is gone from the log, %d records are missing; going on from %d",
            *place,
            wanted,
            count,
            first,
        )

    async def close(self) -> None:
        """End the work and the consumer."""
        if self._work is not None:
            self._work.cancel()
            await asyncio.wait({self._work}, timeout=1.0)
            if self._work.done() and not self._work.cancelled():
                self._work.exception()
        await internals.close(self.consumer)


def _place(partition: TopicPartition) -> Place:
    return Place(*partition)

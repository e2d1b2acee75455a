"""The event partitions that the consumer group gives to this replica."""

import asyncio
import logging
import time
from collections.abc import Collection, Mapping
from typing import NamedTuple

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.structs import TopicPartition as Place

from monitor.config import KafkaConfig
from monitor.sources.base import SourceError
from monitor.sources.kafka import internals
from monitor.sources.kafka.checks import check_equal, partition_counts
from monitor.sources.kafka.client import Settings, admin_client, refusal
from monitor.sources.kafka.offsets import NEVER, Committed, Log, at_start, committed, logs, resume
from monitor.sources.kafka.reader import Fetched, Reader
from monitor.sources.kafka.waiting import Notices, Waiting
from monitor.stream.records import Chunk, Role, Start, TopicPartition

log = logging.getLogger(__name__)

COMMIT_SECONDS = 5.0
SETTLE_SECONDS = 20.0
RETRY_SECONDS = 0.5
SMALL_LAG = 1_000


class Beginning(NamedTuple):
    """Where a partition is read from, and what that was decided on."""

    start: Start
    stored: Committed
    held: Log


class GroupReader(Reader, ConsumerRebalanceListener):  # type: ignore[misc] # aiokafka is not typed
    """A member of the group.

    A rebalance takes every partition away and gives some back, each to be read from its committed offset, the
    ones it had before too: somebody else may have had them in between.
    """

    def __init__(self, config: KafkaConfig, settings: Settings, notices: Notices) -> None:
        consumer = AIOKafkaConsumer(
            **settings,
            group_id=config.group_id,
            enable_auto_commit=False,
            auto_offset_reset="none",
            # Equal partition numbers of all topics go to one member; with a second assignor they might not.
            partition_assignment_strategy=(RangePartitionAssignor,),
            session_timeout_ms=45_000,
            rebalance_timeout_ms=30_000,
            # Events wait while judgments are read. A loop that hangs stops the heartbeat as well.
            max_poll_interval_ms=3_600_000,
            check_crcs=True,
        )
        super().__init__(consumer, notices)
        self._config = config
        self._settings = settings
        self._roles = {
            topic: role for topic, role in config.topics.roles().items() if role is not Role.JUDGMENTS
        }
        self._given: frozenset[TopicPartition] | None = None
        self._total = 0
        self._settled = False
        self._generation = -1
        self._caught_up = False
        self._news: Mapping[TopicPartition, Start] | None = None
        self._joined = False

    async def start(self) -> None:
        """Connect; joining comes later, so that no partition waits here for the judgments to be read."""
        await self.consumer.start()

    def join(self) -> None:
        """Ask the group for partitions, once."""
        if not self._joined:
            self._joined = True
            self.heard_at = time.monotonic()
            self.consumer.subscribe(list(self._roles), listener=self)

    def on_partitions_revoked(self, revoked: Collection[Place]) -> None:
        """Forget the partitions at once, so that nothing of them is handed out any more."""
        self._reset(None)
        if revoked:
            self._news = {}

    def on_partitions_assigned(self, assigned: Collection[Place]) -> None:
        """Only hold records off: some may be on their way, and no heartbeat runs while this is called."""
        self._reset(frozenset((place.topic, place.partition) for place in assigned))
        self._generation = internals.generation(self.consumer)
        for place in assigned:
            self.consumer.pause(place)
            # Any position will do while it is paused, and keeps aiokafka from asking for one of its own.
            self.consumer.seek(place, 0)

    def _reset(self, given: frozenset[TopicPartition] | None) -> None:
        self._epoch += 1
        self._given = given
        self._settled = self._caught_up = False
        self.ledger.clear()
        self.blocked.clear()
        self._one_by_one.clear()
        self.heard_at = time.monotonic()

    async def _next(self) -> Fetched | None:
        if self._given is None or self._settled:
            # Without an assignment it waits for one, and tells if the group refuses us.
            return await self._fetch()
        await self._settle(self._given)
        return None

    async def _settle(self, given: frozenset[TopicPartition]) -> None:
        """Find out where each partition begins, and go there."""
        epoch = self._epoch
        while epoch == self._epoch:
            try:
                async with asyncio.timeout(SETTLE_SECONDS):
                    beginnings = await self._beginnings(given)
                    # At once: a crash before the first commit must not move the start of a new group.
                    fresh = {place: (b.start.offset, "") for place, b in beginnings.items() if b.start.fresh}
                    await self._commit(epoch, fresh)
            except SourceError:
                raise
            except Exception as error:  # noqa: BLE001 - aiokafka's admin client raises more than its own errors
                if why := refusal(error):
                    raise SourceError(why) from None
                self._notices.say("settle", f"the starting positions cannot be read, trying again: {error}")
                await asyncio.sleep(RETRY_SECONDS)
                continue
            if epoch == self._epoch:
                self._begin(beginnings)
            return

    async def _beginnings(self, given: Collection[TopicPartition]) -> dict[TopicPartition, Beginning]:
        async with admin_client(self._settings) as admin:
            counts = await partition_counts(admin, self._roles)
            check_equal(counts, self._roles)
            self._total = sum(counts.values())
            if not given:
                return {}
            stored = await committed(admin, self._config.group_id, given)
        held = await logs(self.consumer, given)
        new = {place: there for place, there in held.items() if stored[place].offset == NEVER}
        starts = await at_start(self.consumer, self._config.start, new)
        return {
            place: Beginning(
                starts.get(place) or resume(stored[place], held[place]), stored[place], held[place]
            )
            for place in given
        }

    def _begin(self, beginnings: Mapping[TopicPartition, Beginning]) -> None:
        now = self.heard_at = time.monotonic()
        for place, (start, stored, held) in beginnings.items():
            self.ledger.begin(place, start.offset, held.end, now)
            self.consumer.seek(Place(*place), start.offset)
            self.consumer.resume(Place(*place))
            if not start.fresh and start.offset != stored.offset:
                self.miss(place, stored.offset, start.offset)
        self._settled = True
        self._news = {place: beginning.start for place, beginning in beginnings.items()}
        log.info("reading %d of %d event partitions", len(beginnings), self._total)
        if self.lacks_partitions:
            log.warning("%s", self.lacks_partitions)

    def take(self, now: float) -> list[Chunk]:
        chunks = super().take(now)
        if self._settled:
            self._caught_up = self._caught_up or max(self.ledger.lag().values(), default=0) <= SMALL_LAG
            if not self._given:
                self.heard_at = now
        return chunks

    def take_news(self) -> Mapping[TopicPartition, Start] | None:
        """The new assignment, once: the empty one as soon as partitions are taken away."""
        news, self._news = self._news, None
        return news

    async def commit(self, offsets: Mapping[TopicPartition, tuple[int, str]]) -> bool:
        """Store offsets, if they are of the assignment that was handed out last."""
        if not self._settled or self._news is not None or not offsets.keys() <= (self._given or frozenset()):
            return False
        try:
            async with asyncio.timeout(COMMIT_SECONDS):
                await self._commit(self._epoch, offsets)
        except Exception as error:  # noqa: BLE001 - whatever it was, it was not taken; the next commit says more
            self._notices.say("commit", f"offsets were not committed: {str(error) or type(error).__name__}")
            return False
        return True

    async def _commit(self, epoch: int, offsets: Mapping[TopicPartition, tuple[int, str]]) -> None:
        # Nothing is awaited between this look and the making of the request.
        if epoch != self._epoch or internals.generation(self.consumer) != self._generation:
            raise Waiting("the group is being shared out anew")
        await internals.commit_once(self.consumer, offsets)

    @property
    def lacks_partitions(self) -> str:
        """Why this replica cannot do its work with what it was given; empty if it can."""
        alone = Role.EVENTS in self._roles.values() and not self._config.topics.judgments
        if self._settled and alone and len(self.ledger) < self._total:
            return (
                f"{len(self.ledger)} of {self._total} partitions are assigned here, but judgments in the"
                " events topic must all reach this replica: run one replica, or give judgments a topic of"
                " their own (docs/producing.md)"
            )
        return ""

    @property
    def reason(self) -> str:
        """Why it is not ready, in words."""
        if not self._settled:
            what = "for partitions from the group" if self._given is None else "for the committed offsets"
            return f"waiting {what} {self._config.group_id}"
        if not self._caught_up:
            return f"catching up: {sum(self.ledger.lag().values())} records behind"
        return self.lacks_partitions

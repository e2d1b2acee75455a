"""The event partitions that the consumer group gives to this replica."""

import asyncio
import logging
import time
from collections.abc import Collection, Mapping

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.structs import TopicPartition as Place

from monitor.config import KafkaConfig
from monitor.sources.base import SourceError
from monitor.sources.kafka import internals
from monitor.sources.kafka.beginnings import Beginning, Beginnings, find
from monitor.sources.kafka.client import Settings, refusal
from monitor.sources.kafka.heartbeat import SpareHeartbeat
from monitor.sources.kafka.instance import in_use, is_free
from monitor.sources.kafka.memory import Memory
from monitor.sources.kafka.reader import QUIET_WAIT_MS, Fetched, Reader, consuming
from monitor.sources.kafka.waiting import Notices, Waiting
from monitor.stream.records import Chunk, Role, Start, TopicPartition

log = logging.getLogger(__name__)

SESSION_MS, HEARTBEAT_MS = 10_000, 2_000
"""A killed member's partitions wait for others until its session times out."""
COMMIT_SECONDS = 5.0
CONFIRM_SECONDS = 2.0
SETTLE_SECONDS = 20.0
RETRY_SECONDS = 0.5
IN_USE_SECONDS = 2.0
SMALL_LAG = 1_000
"""Records that may be left where a reader still counts as being at the end."""
QUIET_BYTES = 65_536
"""Little traffic is fetched once a second, not record by record."""
BEHIND_WAIT_MS = 10
"""Where records are left: one partition at its end is not to hold up the others."""


class GroupReader(Reader, ConsumerRebalanceListener):  # type: ignore[misc] # aiokafka is not typed
    """A member of the group.

    A rebalance takes every partition away and gives some back. Those of which nobody has stored anything in
    between are read on, the others from their committed offset.
    """

    def __init__(
        self,
        config: KafkaConfig,
        settings: Settings,
        notices: Notices,
        memory: Memory,
        idle_seconds: float,
    ) -> None:
        consumer = AIOKafkaConsumer(
            **settings,
            **consuming(config),
            group_id=config.group_id,
            group_instance_id=config.group_instance_id,
            # Equal partition numbers of all topics go to one member; with a second assignor they might not.
            partition_assignment_strategy=(RangePartitionAssignor,),
            session_timeout_ms=SESSION_MS,
            heartbeat_interval_ms=HEARTBEAT_MS,
            rebalance_timeout_ms=30_000,
            # Events wait while judgments are read. A loop that hangs stops the heartbeat as well.
            max_poll_interval_ms=3_600_000,
        )
        super().__init__(consumer, config, notices)
        self._config = config
        self._settings = settings
        self._memory = memory
        # Only a partition that was just asked is idle.
        self._quiet_wait_ms = min(QUIET_WAIT_MS, int(idle_seconds * 1000 / 2))
        self._roles = {
            topic: role for topic, role in config.topics.roles().items() if role is not Role.JUDGMENTS
        }
        self._given: frozenset[TopicPartition] | None = None
        self._total = 0
        self._settled = False
        self._membership = ("", -1)
        self._spare = SpareHeartbeat(settings, config.group_id)
        self._counts: dict[str, int] = {}
        self._caught_up = False
        self._news: Mapping[TopicPartition, Beginning] | None = None
        self._joined = False
        self._obstacle = ""
        self._storing = asyncio.Lock()

    async def start(self) -> None:
        """Connect; joining comes later, so that no partition waits here for the judgments to be read."""
        await self.consumer.start()
        if self._config.group_instance_id:
            internals.before_join(self.consumer, self._may_join)

    async def _may_join(self) -> bool:
        """Whether to join; not while another process uses our instance id, after we have lost it."""
        if not self._memory.member_id or internals.membership(self.consumer)[0]:
            return True
        free = await is_free(self._settings, self._config, self._memory.member_id)
        if free is False:
            self.heard_at = time.monotonic()
            self._obstacle = in_use(self._config)
            self._notices.say(self._obstacle, self._obstacle)
        if not free:
            await asyncio.sleep(IN_USE_SECONDS)
        return bool(free)

    def join(self) -> None:
        """Ask the group for partitions, once."""
        if not self._joined:
            self._joined = True
            self.heard_at = time.monotonic()
            self._spare.start()
            self.consumer.subscribe(list(self._roles), listener=self)

    def on_partitions_revoked(self, _: Collection[Place]) -> None:
        """Hand nothing out until it is clear whose the partitions are; they may well come back."""
        self._reset(None)

    def on_partitions_assigned(self, assigned: Collection[Place]) -> None:
        """Only hold records off: some may be on their way, and no heartbeat runs while this is called."""
        self._reset(frozenset((place.topic, place.partition) for place in assigned))
        self._membership = internals.membership(self.consumer)
        self._memory.member_id = self._membership[0]
        for place in assigned:
            self.consumer.pause(place)
            # Any position will do while it is paused, and keeps aiokafka from asking for one of its own.
            self.consumer.seek(place, 0)

    def _reset(self, given: frozenset[TopicPartition] | None) -> None:
        self._remember()
        self._epoch += 1
        self._given = given
        self._settled = self._caught_up = False
        self._news = None
        self._obstacle = ""
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
                # No commit may be under way between the look at what is stored and its being stored again.
                async with asyncio.timeout(SETTLE_SECONDS), self._storing:
                    found = await find(self.consumer, self._settings, self._config, given, self._memory)
                    await self._store(epoch, found.to_store())
            except Waiting as waiting:
                self.heard_at = time.monotonic()
                self._obstacle = waiting.what
                self._notices.say(waiting.what, waiting.what)
            except SourceError:
                raise
            except Exception as error:  # noqa: BLE001 - aiokafka's admin client raises more than its own errors
                if why := refusal(error):
                    raise SourceError(why) from None
                self._notices.say("settle", f"the starting positions cannot be read, trying again: {error}")
            else:
                if epoch == self._epoch:
                    self._begin(found)
                return
            await asyncio.sleep(RETRY_SECONDS)
            # Brings nothing, all being paused; but a client that nobody asks for records leaves its group.
            await self._fetch()

    def _begin(self, found: Beginnings) -> None:
        now = self.heard_at = time.monotonic()
        self._total = found.total
        for place, (start, *_) in found.given.items():
            self.ledger.begin(place, start.offset, start.end or 0, now)
            self.consumer.seek(Place(*place), start.offset)
            self.consumer.resume(Place(*place))
        self._settled = True
        self._counts = self._known_counts()
        self._news = found.given
        if self._obstacle:
            self._notices.over(self._obstacle, "the event partitions are shared out")
        kept = sum(beginning.start.kept for beginning in found.given.values())
        log.info("reading %d of %d event partitions, %d of them go on", len(found.given), found.total, kept)
        if self.lacks_partitions:
            log.warning("%s", self.lacks_partitions)

    def take(self, now: float) -> list[Chunk]:
        self._spare.tick(now, internals.coordinator_address(self.consumer), self._membership)
        chunks = super().take(now)
        self._remember()
        if self._settled:
            self._look_for_partitions()
            behind = max(self.ledger.lag().values(), default=0) > SMALL_LAG
            self._caught_up = self._caught_up or not behind
            if behind or self.blocked or self._one_by_one:
                internals.set_fetch_wait(self.consumer, BEHIND_WAIT_MS, min_bytes=1)
            else:
                internals.set_fetch_wait(self.consumer, self._quiet_wait_ms, QUIET_BYTES)
            if not self._given:
                self.heard_at = now
        return chunks

    def _look_for_partitions(self) -> None:
        """See whether partitions have come or gone: aiokafka does not if a static member leads the group."""
        if self._config.group_instance_id and self._known_counts() != self._counts:
            self._counts = self._known_counts()
            internals.rejoin(self.consumer)

    def _known_counts(self) -> dict[str, int]:
        return {topic: len(self.consumer.partitions_for_topic(topic) or ()) for topic in self._roles}

    def _remember(self) -> None:
        # Before the news are handed out, the process still is where it was before them.
        if self._settled and self._news is None:
            self._memory.reach({place: self.ledger.position(place) for place in self.ledger})

    def take_news(self) -> Mapping[TopicPartition, Start] | None:
        """The whole new assignment, once it is known where each partition begins."""
        news, self._news = self._news, None
        if news is None:
            return None
        self._memory.deliver({place: (begin.start, begin.stored) for place, begin in news.items()})
        for place, (start, _, wanted) in news.items():
            if start.offset != wanted:
                self.miss(place, wanted, start.offset)
        return {place: begin.start for place, begin in news.items()}

    async def commit(self, offsets: Mapping[TopicPartition, tuple[int, str]]) -> bool:
        """Store offsets, if they are of the assignment that was handed out last."""
        owned = self._owns and offsets.keys() <= (self._given or frozenset())
        return owned and await self._try_to_store(offsets, COMMIT_SECONDS)

    async def confirm(self) -> bool:
        """Whether the group still counts this replica as the owner of what was handed out last.

        It stores again what is stored already, which the broker takes from an owner only.
        """
        epoch = self._epoch
        taken = self._owns and await self._try_to_store(self._memory.newest(), CONFIRM_SECONDS)
        return taken and self._owns and epoch == self._epoch

    @property
    def _owns(self) -> bool:
        return self._settled and self._news is None

    async def _try_to_store(self, offsets: Mapping[TopicPartition, tuple[int, str]], seconds: float) -> bool:
        epoch = self._epoch
        try:
            async with asyncio.timeout(seconds), self._storing:
                await self._store(epoch, offsets, self._memory)
        except Exception as error:  # noqa: BLE001 - whatever it was, it was not taken; the next commit says more
            self._notices.say("commit", f"offsets were not committed: {str(error) or type(error).__name__}")
            return False
        return True

    async def _store(
        self, epoch: int, offsets: Mapping[TopicPartition, tuple[int, str]], memory: Memory | None = None
    ) -> None:
        # Nothing is awaited between this look and the making of the request. A member without a generation
        # would be taken for one that needs none, as long as the group is empty. With an instance id a member
        # can be replaced within a generation: only its member id tells.
        membership = internals.membership(self.consumer)
        if epoch != self._epoch or membership != self._membership or membership[1] < 0:
            raise Waiting(f"the group {self._config.group_id} is being shared out anew")
        if memory:
            memory.attempt(offsets)
        await internals.commit_once(self.consumer, offsets)
        if memory:
            memory.took(offsets)

    async def close(self) -> None:
        """End the work and the consumer; what it still does is not remembered."""
        self._settled = False
        self._spare.stop()
        await super().close()

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
            if self._obstacle:
                return self._obstacle
            what = "for partitions from the group" if self._given is None else "for the committed offsets"
            return f"waiting {what} {self._config.group_id}"
        if not self._caught_up:
            return f"catching up: {sum(self.ledger.lag().values())} records behind"
        return self.lacks_partitions

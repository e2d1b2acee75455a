"""The table of judgments: every replica reads all partitions of these topics from their beginning."""

import asyncio
import time
from collections.abc import Collection

from aiokafka import AIOKafkaConsumer
from aiokafka.errors import KafkaError
from aiokafka.structs import TopicPartition as Place

from monitor.config import KafkaConfig
from monitor.sources.kafka import internals
from monitor.sources.kafka.client import Settings
from monitor.sources.kafka.offsets import logs
from monitor.sources.kafka.reader import QUIET_WAIT_MS, RETRY_SECONDS, Fetched, Reader, consuming
from monitor.sources.kafka.waiting import Notices
from monitor.stream.records import Chunk, TopicPartition

AFTER_OUTAGE_SECONDS = 1.0
GONE_SECONDS = 3.0
"""A topic may be unknown for a moment while a broker restarts."""


class JudgmentsReader(Reader):
    """Reads without a group; a new client goes on where the one before was, for the table is still there."""

    def __init__(
        self,
        config: KafkaConfig,
        settings: Settings,
        notices: Notices,
        reached: dict[TopicPartition, int],
    ) -> None:
        super().__init__(AIOKafkaConsumer(**settings, **consuming(config)), config, notices)
        self._topics = config.topics.judgments
        self._waits_until = 0.0
        self._reached = reached
        self._gone_since: float | None = None
        """When the client first knew no partition of a topic, if so."""

    async def start(self, partitions: Collection[TopicPartition]) -> None:
        """Connect, and learn where the logs end now."""
        await self.consumer.start()
        await self._assign(partitions)

    @property
    def behind(self) -> int:
        """Records known to be left."""
        return sum(self.ledger.lag().values())

    def comes_first(self, now: float) -> bool:
        """Whether events have to wait: judgments are left, or it is not known whether there are.

        Right after an outage too: then all is sent at once, and event time leaps over what it waits for else.
        """
        if self.is_silent(now):
            self._waits_until = now + AFTER_OUTAGE_SECONDS
        return self.behind > 0 or now < self._waits_until

    def is_gone(self, now: float) -> bool:
        """Whether a topic was deleted, as far as the client knows; fetches from it just bring nothing."""
        if all(self.consumer.partitions_for_topic(topic) for topic in self._topics):
            self._gone_since = None
        elif self._gone_since is None:
            self._gone_since = now
        return self._gone_since is not None and now - self._gone_since > GONE_SECONDS

    def take(self, now: float) -> list[Chunk]:
        chunks = super().take(now)
        self._reached.update({place: self.ledger.position(place) for place in self.ledger})
        if not self.behind:
            internals.set_fetch_wait(self.consumer, QUIET_WAIT_MS, min_bytes=1)
        return chunks

    async def _next(self) -> Fetched | None:
        known = {
            (topic, partition)
            for topic in self._topics
            for partition in self.consumer.partitions_for_topic(topic) or ()
        }
        if not known > set(self.ledger):
            return await self._fetch()
        try:
            await self._assign(known)
        except (KafkaError, OSError) as error:
            self._notices.say("new partitions", f"new judgment partitions cannot be read yet: {error}")
            await asyncio.sleep(RETRY_SECONDS)
        return None

    async def _assign(self, partitions: Collection[TopicPartition]) -> None:
        held = await logs(self.consumer, partitions)
        now = time.monotonic()
        self._epoch += 1
        self.consumer.assign([Place(*partition) for partition in partitions])
        for place, there in held.items():
            if place not in self.ledger:
                position = self._reached.get(place, there.first)
                # Beyond the end the topic is another one of the same name.
                position = position if there.first <= position <= there.end else there.first
                self.ledger.begin(place, position, there.end, now)
        self.rewind(self.ledger)

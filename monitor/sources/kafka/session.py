"""One connection to Kafka, from the first probe to the last goodbye."""

import asyncio
import contextlib
import functools
import logging
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass

from aiokafka.admin import AIOKafkaAdminClient

from monitor.config import KafkaConfig
from monitor.sources.base import SourceError
from monitor.sources.kafka.checks import check_equal, partition_counts, warn_of_short_retention
from monitor.sources.kafka.client import Settings, admin_client, no_broker, probe, refusal, settings
from monitor.sources.kafka.group import GroupReader
from monitor.sources.kafka.judgments import JudgmentsReader
from monitor.sources.kafka.members import expel_predecessor
from monitor.sources.kafka.memory import Memory
from monitor.sources.kafka.reader import Reader
from monitor.sources.kafka.topic_clocks import in_lines, topic_clocks
from monitor.sources.kafka.waiting import Notices, Waiting
from monitor.sources.kafka.watchdog import Watchdog

log = logging.getLogger(__name__)

OPEN_SECONDS = 30.0
FIRST_RETRY_SECONDS = 0.25
LONGEST_RETRY_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Session:
    """The two readers that share a fate, and what watches over them."""

    group: GroupReader
    judgments: JudgmentsReader | None
    watchdog: Watchdog

    @property
    def readers(self) -> list[Reader]:
        return [reader for reader in (self.judgments, self.group) if reader is not None]

    @property
    def reason(self) -> str:
        """Why it is not ready, in words; empty when it is."""
        for reader in self.readers:
            if reader.hindrance:
                return reader.hindrance
        if any(reader.is_silent(time.monotonic()) for reader in self.readers):
            return "waiting for the broker: it has not answered for some seconds"
        if self.judgments and self.judgments.behind:
            return f"reading judgments: {self.judgments.behind} left"
        if self.group.reason:
            return self.group.reason
        return "; ".join(
            filter(None, (reader.open_transactions(time.monotonic()) for reader in self.readers))
        )

    @property
    def has_fetched(self) -> bool:
        """Whether every partition was fetched with success at least once."""
        return all(reader.ledger.has_fetched for reader in self.readers)

    async def close(self) -> None:
        """End within a few seconds, whether brokers answer or not."""
        await asyncio.gather(self.watchdog.stop(), *(reader.close() for reader in self.readers))


async def connect(
    config: KafkaConfig,
    notices: Notices,
    memory: Memory,
    *,
    running: bool,
    idle_seconds: float,
    longest_delay_seconds: float,
    stuck_seconds: float,
    own_client_id: str,
    waiting: Callable[[Waiting], None],
) -> Session:
    """Open a session, trying again until it works. Raises SourceError for what cannot heal.

    Unequal partition counts are a mistake at the start; when `running` they are partitions being added.
    """
    # Read at each call: credentials may have been replaced.
    chosen = settings(config, own_client_id)
    delay = FIRST_RETRY_SECONDS
    while True:
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                group, judgments = await _open(
                    config,
                    chosen,
                    notices,
                    memory,
                    idle_seconds,
                    longest_delay_seconds,
                    own_client_id,
                    running=running,
                )
        except Waiting as error:
            waiting(error)
        except SourceError:
            raise
        except Exception as error:  # noqa: BLE001 - a broker on its way up makes aiokafka raise many things
            if why := refusal(error):
                raise SourceError(why) from None
            waiting(no_broker(config.bootstrap_servers, str(error) or type(error).__name__))
        else:
            return Session(group, judgments, Watchdog(functools.partial(probe, chosen), stuck_seconds))
        await asyncio.sleep(delay)
        delay = min(delay * 2, LONGEST_RETRY_SECONDS)


async def _open(
    config: KafkaConfig,
    chosen: Settings,
    notices: Notices,
    memory: Memory,
    idle_seconds: float,
    longest_delay_seconds: float,
    own_client_id: str,
    *,
    running: bool,
) -> tuple[GroupReader, JudgmentsReader | None]:
    await probe(chosen)
    roles = config.topics.roles()
    async with admin_client(chosen) as admin:
        counts = await partition_counts(admin, roles)
        check_equal(counts, roles, Waiting if running else SourceError)
        await warn_of_short_retention(admin, roles, longest_delay_seconds)
        if not running:
            await _log_topic_clocks(admin, roles)
        if own_client_id and not config.group_instance_id:
            await expel_predecessor(admin, config.group_id, own_client_id)
    topics = config.topics.judgments
    async with contextlib.AsyncExitStack() as unwind:
        group = GroupReader(config, chosen, notices, memory, idle_seconds)
        unwind.push_async_callback(group.close)
        await group.start()
        judgments = None
        if topics:
            judgments = JudgmentsReader(config, chosen, notices, memory.judgments)
            unwind.push_async_callback(judgments.close)
            await judgments.start([(topic, number) for topic in topics for number in range(counts[topic])])
        unwind.pop_all()
    return group, judgments


async def _log_topic_clocks(admin: AIOKafkaAdminClient, topics: Collection[str]) -> None:
    try:
        for line in in_lines(await topic_clocks(admin, topics)):
            log.info("%s", line)
    except Exception as error:  # noqa: BLE001 - a hint is not worth failing for, whatever goes wrong
        log.debug("the timestamp types of the topics cannot be read: %r", error)

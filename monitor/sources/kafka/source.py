"""Kafka as a source: connects, reads, watches itself, and starts anew when it got stuck."""

import asyncio
import logging
import math
import time
from collections.abc import Mapping

from monitor.config import KafkaConfig
from monitor.sources.base import Poll, SourceError, SourceStatus
from monitor.sources.kafka.client import quiet_aiokafka
from monitor.sources.kafka.memory import Memory
from monitor.sources.kafka.session import Session, connect
from monitor.sources.kafka.waiting import Notices, Waiting
from monitor.stream.records import Role, TopicPartition

log = logging.getLogger(__name__)

POLL_SECONDS = 0.3
REPLACEMENTS = 2
"""New clients in a row that brought nothing, though there are records, after which it is called stuck."""
RETRY_SECONDS, LONGEST_RETRY_SECONDS = 1.0, 30.0
"""Time between two tries after a refusal."""
SAME_REFUSAL_SECONDS = 120.0
"""A refusal within this time after another makes the next try later still."""
FAILURES = 25
"""Failed fetches in a row after which the client is taken for broken."""


class KafkaSource:
    """Event partitions of a consumer group, and all judgments.

    Judgments come first: they are read to their end before the group is joined, and while more of them are
    known to wait no event is handed out. So no impression is decided without a judgment that came before it.
    """

    def __init__(
        self,
        config: KafkaConfig,
        idle_seconds: float,
        longest_delay_seconds: float,
        *,
        stuck_seconds: float = 60.0,
        own_client_id: str = "",
    ) -> None:
        self._config = config
        self._idle_seconds = idle_seconds
        self._longest_delay_seconds = longest_delay_seconds
        self._stuck_seconds = stuck_seconds
        self._own_client_id = own_client_id
        self._notices = Notices()
        self._skipped: dict[TopicPartition, int] = {}
        self._session: Session | None = None
        self._connecting: asyncio.Task[Session] | None = None
        self._reason = f"waiting for broker {config.bootstrap_servers}"
        self._failure: SourceError | None = None
        self._closing: asyncio.Task[None] | None = None
        self._memory = Memory()
        self._running = False
        self._replaced = 0
        self._polled_at = 0.0
        self._assigned = self._assigned_again = False
        self._refusal = ""
        self._refused_at = -math.inf
        self._retry_seconds = 0.0

    @property
    def roles(self) -> Mapping[str, Role]:
        """What each topic carries."""
        return self._config.topics.roles()

    async def start(self) -> None:
        """Begin to connect; `poll` and `status` tell how it goes."""
        quiet_aiokafka()
        self._connect(None)

    async def poll(self) -> Poll:
        """Wait shortly for records. Raises SourceError for what waiting cannot heal, and then always.

        A refusal is a mistake in the configuration before the first assignment. After it somebody has changed
        what this process may do, and may change it back: it is waited for.
        """
        if self._failure:
            raise self._failure
        try:
            return await self._poll()
        except SourceError as error:
            self._refuse(error)
            return Poll(time.time())

    def _refuse(self, error: SourceError) -> None:
        self._reason = str(error)
        if not self._assigned:
            self._failure = error
            raise error
        now = time.monotonic()
        again = now - self._refused_at < SAME_REFUSAL_SECONDS
        self._retry_seconds = min(self._retry_seconds * 2, LONGEST_RETRY_SECONDS) if again else RETRY_SECONDS
        self._refused_at = now
        self._refusal = self._reason
        self._notices.say(self._refusal, f"{self._refusal}; trying again, at least every 30 s")
        self._connect(self._session, self._retry_seconds)

    async def _poll(self) -> Poll:
        session = self._session or await self._connected()
        if session is None:
            return Poll(time.time())
        self._note_pause(session)
        group, judgments = session.group, session.judgments
        waits = [judgments.work()] if judgments else []
        if not (judgments and judgments.comes_first(time.monotonic())):
            group.join()
            waits.append(group.work())
        await asyncio.wait(waits, timeout=POLL_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        now = self._polled_at = time.monotonic()
        chunks = judgments.take(now) if judgments else []
        refused = None
        try:
            # Asked again: the fetch that was just taken may have shown more.
            if judgments and judgments.comes_first(now):
                group.hold(now)
            else:
                chunks += group.take(now)
        except SourceError as error:
            refused = error  # The judgments that were taken are handed out all the same.
        assigned = group.take_news()
        if assigned is not None:
            self._assigned = self._assigned_again = True
        clock = time.time()
        idle = {
            place: clock - (now - fetched_at)
            for place, fetched_at in group.ledger.idle(now, self._idle_seconds).items()
        }
        if chunks:
            self._replaced = 0
        try:
            self._watch(session, now)
        except SourceError as error:
            refused = error
        if refused:
            self._refuse(refused)
        elif self._refusal and self._assigned_again and session.has_fetched:
            self._notices.over(self._refusal, f"no longer refused: {self._refusal}")
            self._refusal = ""
        return Poll(clock, chunks, assigned, idle, reached=group.ledger.positions())

    async def _connected(self) -> Session | None:
        assert self._connecting is not None, "start() comes before poll()"
        await asyncio.wait({self._connecting}, timeout=POLL_SECONDS)
        if self._connecting.done():
            self._session, self._connecting = self._connecting.result(), None
            self._running = True
            self._polled_at = time.monotonic()
            self._answers()
        return self._session

    def _note_pause(self, session: Session) -> None:
        now = time.monotonic()
        if now - self._polled_at > 1.0:
            for reader in session.readers:
                reader.hold(now)

    def _watch(self, session: Session, now: float) -> None:
        for reader in session.readers:
            # Known at 0 from the first: a counter that begins at 3 has no increase.
            for place in (*reader.ledger, *reader.skipped):
                self._skipped[place] = self._skipped.get(place, 0) + reader.skipped.pop(place, 0)
        quiet_seconds = max(reader.quiet_seconds(now) for reader in session.readers)
        broken = any(reader.failures >= FAILURES for reader in session.readers)
        # A new client says which topic it misses.
        broken = broken or (session.judgments is not None and session.judgments.is_gone(now))
        if session.watchdog.bites(now, quiet_seconds) or broken:
            log.warning("reading makes no progress: connecting anew")
            self._replaced += any(
                count for reader in session.readers for count in reader.ledger.lag().values()
            )
            self._connect(session)
        elif session.watchdog.unreachable:
            self._wait(session.watchdog.unreachable)
        else:
            self._answers()

    def _connect(self, old: Session | None, after_seconds: float = 0.0) -> None:
        self._session = None
        self._assigned_again = False
        if old is not None:
            self._closing = asyncio.create_task(old.close())
        self._connecting = asyncio.create_task(self._reconnect(after_seconds))

    async def _reconnect(self, after_seconds: float) -> Session:
        if self._closing is not None:
            await asyncio.shield(self._closing)
        await asyncio.sleep(after_seconds)
        return await connect(
            self._config,
            self._notices,
            self._memory,
            running=self._running,
            idle_seconds=self._idle_seconds,
            longest_delay_seconds=self._longest_delay_seconds,
            stuck_seconds=self._stuck_seconds,
            own_client_id=self._own_client_id,
            waiting=self._wait,
        )

    def _wait(self, waiting: Waiting) -> None:
        self._reason = waiting.what
        self._notices.say(waiting.what, f"{waiting.what}: {waiting.cause}" if waiting.cause else waiting.what)

    def _answers(self) -> None:
        self._notices.over(self._reason, f"broker {self._config.bootstrap_servers} answers")

    async def commit(self, offsets: Mapping[TopicPartition, tuple[int, str]]) -> bool:
        """Store an offset and metadata for each partition, in one attempt of 5 s; whether it was taken."""
        return self._session is not None and await self._session.group.commit(offsets)

    async def confirm(self) -> bool:
        """Whether the group still counts this replica as the owner of what was handed out, asked now."""
        return self._session is not None and await self._session.group.confirm()

    def status(self) -> SourceStatus:
        """How far it has come."""
        session, skipped = self._session, dict(self._skipped)
        if session is None or self._failure:
            return SourceStatus(ready=False, reason=self._reason, skipped=skipped)
        lag = {place: count for reader in session.readers for place, count in reader.ledger.lag().items()}
        if away := session.watchdog.unreachable:
            return SourceStatus(ready=False, reason=away.what, lag=lag, skipped=skipped)
        if self._refusal:
            return SourceStatus(ready=False, reason=self._refusal, lag=lag, skipped=skipped)
        # Only after new clients did not help: until then it may heal by itself.
        stuck = self._replaced >= REPLACEMENTS
        if reason := session.reason:
            return SourceStatus(ready=False, reason=reason, lag=lag, skipped=skipped, stuck=stuck)
        nothing = "" if session.group.ledger else "no partition is left for this replica"
        return SourceStatus(ready=True, reason=nothing, lag=lag, skipped=skipped, stuck=stuck)

    async def stop(self) -> None:
        """Leave the group and hang up, within 5 s even when no broker answers."""
        if self._connecting is not None:
            self._connecting.cancel()
            (opened,) = await asyncio.gather(self._connecting, return_exceptions=True)
            self._session = None if isinstance(opened, BaseException) else opened
        if self._closing is not None:
            await self._closing
        if self._session is not None:
            await self._session.close()
        self._connecting = self._closing = self._session = None

"""The daemon: the one place that wires source, engine and HTTP server together."""

import asyncio
import logging
import math
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType

from monitor import __version__, log_queue
from monitor.config import Config, ConfigError
from monitor.export.collector import ProcessStatus
from monitor.publish import Publisher, Scrape
from monitor.pump import Pump, ease_garbage_collection
from monitor.rereading import Rereading
from monitor.sources.base import Source
from monitor.stream.engine import Engine
from monitor.stream.windows import Window
from monitor.vigil import LoopWatch
from monitor.web.app import create_app
from monitor.web.server import Server
from monitor.web.view import Health, Status

log = logging.getLogger(__name__)

STOP_SECONDS = 6.0
SWITCH_SECONDS = 0.001
"""Scrapes are rendered in threads, and have their turn sooner than Python gives it to them by itself."""
BACKLOG = 1024
"""Connections that the kernel holds until they are accepted; they take up no descriptor."""
DEAD_SECONDS = 30.0
"""A main loop that has not come round for so long is not alive."""


class Daemon:
    """Pumps records from a source through the engine, and shows the numbers over HTTP."""

    def __init__(self, config: Config, source: Source) -> None:
        self.config = config
        self.engine = Engine(config, source.roles)
        self.url = ""
        self._source = source
        self._pump = Pump(self.engine, config.lateness_seconds)
        self._publisher = Publisher(self.engine, source, self._process)
        self._rereading = Rereading()
        self._watch = LoopWatch()
        self._ticked = time.monotonic()
        self._now = 0.0
        self._stop = asyncio.Event()
        self._committed_at = time.monotonic()
        self._counted = self.engine.checkpoints()

    def stop(self) -> None:
        """Ask the daemon to end."""
        self._stop.set()

    async def run(self, started: Callable[[], None] = lambda: None) -> None:
        """Serve until stopped. Raises SourceError where the source cannot go on."""
        listener = self._listen()
        server = Server(create_app(self))
        serving = asyncio.create_task(server.serve([listener]))
        watching = asyncio.create_task(self._watch.run())
        ease_garbage_collection()
        sys.setswitchinterval(SWITCH_SECONDS)
        try:
            await self._source.start()
            started()
            while not self._stop.is_set():
                await self._step()
        finally:
            await self._publisher.finish()
            watching.cancel()
            server.should_exit = True
            with suppress(TimeoutError):
                await asyncio.wait_for(self._source.stop(), STOP_SECONDS)
            await serving

    async def _step(self) -> None:
        poll = await self._source.poll()
        self._now = poll.now
        if poll.assigned is not None:
            self._counted = {}  # it may name what another replica has counted since
        self._pump.feed(poll)
        self._ticked = time.monotonic()
        self._rereading.look(self.engine.to_replay, self._ticked)
        self._publisher.remind()
        by_time = self.config.commit == "interval"
        if by_time and self._ticked - self._committed_at >= self.config.commit_seconds:
            self._committed_at = self._ticked
            await self._commit()

    async def _commit(self) -> None:
        """Commit what was counted at the last commit, not now: a scrape has had the time to show it."""
        shown, self._counted = self._counted, self.engine.checkpoints()
        self.engine.publish()
        if not shown or await self._source.commit(shown):
            self._publisher.committed_at = time.time()

    def _listen(self) -> socket.socket:
        host, port = self.config.address
        try:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
        except (OSError, UnicodeError) as error:
            # Python adds the address in its own words, in parentheses.
            reason = str(getattr(error, "strerror", None) or error).partition(" (")[0]
            raise ConfigError(
                f"listen: cannot listen on {self.config.listen}: {reason}; give another address"
            ) from None
        self.url = f"http://{host if ':' not in host else f'[{host}]'}:{listener.getsockname()[1]}"
        return listener

    # What the web app asks for.

    async def render(self, accept: str, pack: Callable[[bytes], bytes] = bytes) -> tuple[bytes, str]:
        return await self._publisher.live(accept, pack)

    async def scrape(self, accept: str, pack: Callable[[bytes], bytes], there: Callable[[], bool]) -> Scrape:
        return await self._publisher.scrape(accept, pack, there)

    async def shown(self, accept: str, pack: Callable[[bytes], bytes] = bytes) -> tuple[bytes, str]:
        return await self._publisher.shown(accept, pack)

    async def acknowledge(self, version: int) -> bool:
        return await self._publisher.acknowledge(version)

    def _process(self) -> ProcessStatus:
        status = self._source.status()
        return ProcessStatus(
            version=__version__,
            config_hash=self.config.digest,
            ready=self.health().ready,
            lag=status.lag,
            skipped=status.skipped,
            stalls=self._watch.stalls,
            stall_seconds=self._watch.stalled_seconds,
            log_dropped=log_queue.dropped(),
            committed_at=self._publisher.committed_at,
        )

    def health(self) -> Health:
        status = self._source.status()
        silent = time.monotonic() - self._ticked
        again = self.engine.to_replay if any(status.lag.values()) else 0
        alive = silent < DEAD_SECONDS and not status.stuck
        lines = [
            *([f"the main loop has not come round for {silent:.0f} s"] if silent >= DEAD_SECONDS else []),
            *(["there are records to read, but the position does not move"] if status.stuck else []),
            *([status.reason] if status.reason else []),
            *([f"reading again: {again:,} records that were counted before are left"] if again else []),
        ]
        return Health(healthy=alive, ready=alive and status.ready and not again, lines=lines)

    def windows(self) -> Sequence[Window]:
        return self.engine.windows()

    @property
    def label_names(self) -> tuple[str, ...]:
        return self.engine.labels.names

    @property
    def label_sets(self) -> Sequence[tuple[str, ...]]:
        return self.engine.labels.values

    def facts(self) -> Status:
        engine, lag = self.engine, self._source.status().lag
        watermark = min(engine.watermarks.values(), default=-math.inf)
        return Status(
            version=__version__,
            partitions=engine.partitions,
            lag=sum(lag.values()),
            event_time_age=self._now - watermark if math.isfinite(watermark) else None,
            records=engine.records,
            rejected=engine.rejected,
            open_impressions=engine.open_impressions,
            pending_interactions=engine.pending_interactions,
            judgments=engine.judgments,
        )


@contextmanager
def signals(stop: Callable[[], None]) -> Iterator[None]:
    """Stop on SIGTERM or SIGINT; a second one ends the process at once."""
    asked = False

    def handle(number: int, _: FrameType | None) -> None:
        nonlocal asked
        if asked:
            os._exit(128 + number)
        asked = True
        log.info("stopping on %s", signal.Signals(number).name)
        loop.call_soon_threadsafe(stop)

    loop = asyncio.get_running_loop()
    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

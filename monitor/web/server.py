"""The HTTP server: a bounded number of connections, and descriptors left for Kafka."""

import asyncio
import errno
import logging
import math
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from monitor.web.protocol import WatchedProtocol
from monitor.web.turns import Turns

log = logging.getLogger(__name__)

MOST_CONNECTIONS = 256
ACCEPTS_PER_SECOND = 500
SWEEP_SECONDS = 1.0
SHORT_PAUSE_SECONDS, PAUSE_SECONDS = 0.1, 1.0
"""Without accepting, where there was no descriptor or place left: when some were made free, and when not."""
GRACE_SECONDS = 0.1
"""For a new connection, whose request may be on its way."""
QUIET_SECONDS = 30.0
"""Between two lines about strangers in the log."""
EXHAUSTED = frozenset((errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM))


def most_connections() -> int:
    """Half of the descriptors that this process may open, and never more than 256."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if soft == resource.RLIM_INFINITY else max(1, min(MOST_CONNECTIONS, soft // 2))


class Server(uvicorn.Server):
    """uvicorn with its own way to accept connections, and without signal handlers: the daemon has its own.

    asyncio's way, when descriptors run out, tries again as often as the backlog is long, and says so each
    time. Here accepting pauses. At the limit a new connection takes the place of one that waits for a
    request, the oldest first; while all are being answered, new ones wait in the kernel.
    """

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=WatchedProtocol,
                ws="none",
                log_config=None,
                log_level="error",  # it warns of each request that is not HTTP: strangers can send many
                access_log=False,
                timeout_graceful_shutdown=1,
            )
        )
        self.limit = most_connections()
        self._open: set[WatchedProtocol] = set()
        self._joining: set[asyncio.Task[object]] = set()
        self._accepts = Turns(per_second=ACCEPTS_PER_SECOND, burst=ACCEPTS_PER_SECOND // 2)
        self._listener: socket.socket | None = None
        self._paused: asyncio.TimerHandle | None = None
        self._is_full = False
        self._sweeping: asyncio.Task[None] | None = None
        self._said_at = -math.inf

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await self.lifespan.startup()
        assert sockets is not None
        (self._listener,) = sockets
        self._listener.setblocking(False)
        self.servers = []
        self._sweeping = asyncio.create_task(self._sweep())
        self._listen()
        self.started = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._pause(None)
        assert self._sweeping is not None
        self._sweeping.cancel()
        await super().shutdown(sockets)

    # Accepting.

    def _listen(self) -> None:
        self._paused = None
        if self._listener is not None and self._listener.fileno() >= 0:
            asyncio.get_running_loop().add_reader(self._listener, self._accept)

    def _pause(self, seconds: float | None) -> None:
        """Accept nothing for this long, or never again."""
        loop = asyncio.get_running_loop()
        if self._listener is not None and self._listener.fileno() >= 0:
            loop.remove_reader(self._listener)
        if self._paused is not None:
            self._paused.cancel()
        self._paused = None if seconds is None else loop.call_later(seconds, self._listen)

    def _accept(self) -> None:
        assert self._listener is not None
        for _ in range(max(1, self.limit // 4)):
            if len(self._open) >= self.limit:
                self._say("%d connections are open, the most that are allowed", self.limit)
                # The places are free when the event loop comes round.
                self._is_full = not self._make_room()
                if self._is_full:
                    self._pause(PAUSE_SECONDS)
                return
            if (seconds := self._accepts.wait(time.monotonic())) > 0:
                self._pause(seconds)
                return
            try:
                connection, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                self._say("cannot accept a connection: %s", error.strerror)
                has_room = error.errno in EXHAUSTED and self._make_room()
                self._pause(SHORT_PAUSE_SECONDS if has_room else PAUSE_SECONDS)
                return
            self._accepts.take(time.monotonic())
            self._join(connection)

    def _join(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        protocol = WatchedProtocol(self.config, self.server_state, self.lifespan.state)
        protocol.on_lost, protocol.is_crowded = self._lost, lambda: self._is_full
        self._open.add(protocol)
        joining = asyncio.create_task(self._connect(protocol, connection))
        self._joining.add(joining)
        joining.add_done_callback(self._joining.discard)

    async def _connect(self, protocol: WatchedProtocol, connection: socket.socket) -> None:
        try:
            await asyncio.get_running_loop().connect_accepted_socket(lambda: protocol, connection)
        except OSError:
            connection.close()
            self._lost(protocol)

    def _lost(self, protocol: WatchedProtocol) -> None:
        self._open.discard(protocol)
        if self._is_full and self._paused is not None:
            self._is_full = False
            self._pause(0.0)

    # Closing what takes up room.

    def _make_room(self) -> int:
        """Close connections that can be spared, at most a quarter of all; how many."""
        before = time.monotonic() - GRACE_SECONDS
        made = [protocol for protocol in self._open if protocol.transport is not None]
        waiting = [p for p in made if not p.is_answering and p.since < before]
        waiting.sort(key=lambda p: (p.answered > 0, p.since))
        stalled = [p for p in made if p.is_answering and (p.stalled_since or math.inf) < before]
        stalled.sort(key=lambda p: p.stalled_since or math.inf)
        spared = (waiting + stalled)[: len(made) // 4 + 1]
        for protocol in spared:
            protocol.transport.abort()
        return len(spared)

    async def _sweep(self) -> None:
        """Close the connections of those who take too long."""
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            now = time.monotonic()
            for protocol in list(self._open):
                if protocol.transport is not None and protocol.is_overdue(now):
                    protocol.transport.abort()

    def _say(self, message: str, *arguments: object) -> None:
        now = time.monotonic()
        if now - self._said_at > QUIET_SECONDS:
            self._said_at = now
            log.warning(
                f"{message}; connections that wait for a request are closed to make room"  # noqa: G004
                " (said at most every 30 s; docs/operating.md)",
                *arguments,
            )

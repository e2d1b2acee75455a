"""Whether an answer has arrived: asked of the connection, for HTTP does not tell."""

import asyncio
import fcntl
import socket
import struct
import termios
import time
from typing import Any

from starlette.responses import Response
from starlette.types import Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

LOOK_SECONDS = 0.002
ESTABLISHED = 1
"""The state of a TCP connection that neither side has closed, as the kernel numbers it."""


class Connection:
    """One TCP connection of a client."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self._ended_well: bool | None = None
        """None while it lasts."""

    def lost(self, error: Exception | None) -> None:
        # A peer that closes before it has read all that was sent makes it an error.
        self._ended_well = error is None and not self._transport.get_write_buffer_size()

    @property
    def lasts(self) -> bool:
        """Whether the peer is there as far as anybody can know: it has neither closed nor reset."""
        return self._ended_well is None and not self._transport.is_closing() and self._is_established()

    async def arrived(self, deadline: float) -> bool:
        """Wait until the peer has received all that was written; False if it went away or takes too long."""
        while self._ended_well is None and time.monotonic() < deadline:
            # In this order: a reset empties the queue, and then the connection is no longer established.
            if not self._unacknowledged() and self.lasts:
                return True
            await asyncio.sleep(LOOK_SECONDS)
        return bool(self._ended_well)

    def _unacknowledged(self) -> int:
        """Bytes that were written and that the peer's TCP has not acknowledged."""
        waiting: int = self._transport.get_write_buffer_size()
        try:
            queued = fcntl.ioctl(self._socket.fileno(), termios.TIOCOUTQ, struct.pack("i", 0))
        except OSError:
            return waiting  # not on this system
        return waiting + int(struct.unpack("i", queued)[0])

    def _is_established(self) -> bool:
        try:
            state = self._socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)
        except OSError:
            return True  # not on this system
        return state[0] == ESTABLISHED

    @property
    def _socket(self) -> socket.socket:
        found: socket.socket = self._transport.get_extra_info("socket")
        return found


class WatchedProtocol(H11Protocol):
    """uvicorn's HTTP, which lets the handlers of a request look at its connection."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._connection = Connection(transport)
        self.app_state = {**self.app_state, "connection": self._connection}

    def connection_lost(self, exc: Exception | None) -> None:
        self._connection.lost(exc)
        super().connection_lost(exc)


def is_there(scope: Scope, deadline: float) -> bool:
    """Whether whoever made a request still waits for the answer, as far as anybody can know."""
    connection = scope.get("state", {}).get("connection")
    return time.monotonic() < deadline and (connection is None or connection.lasts)


async def send_whole(response: Response, scope: Scope, send: Send, deadline: float) -> bool:
    """Send an answer; whether all of it has arrived by a time of the monotonic clock."""
    connection = scope.get("state", {}).get("connection")
    # Who has given up before the answer cannot be told, afterwards, from who has read it and gone.
    was_there = is_there(scope, deadline)
    await send(
        {"type": "http.response.start", "status": response.status_code, "headers": response.raw_headers}
    )
    # The end is held back, since uvicorn may close the connection after it.
    await send({"type": "http.response.body", "body": response.body, "more_body": True})
    arrived = was_there and (connection is None or await connection.arrived(deadline))
    await send({"type": "http.response.body", "body": b"", "more_body": False})
    return arrived

"""Sending an answer, and whether it has arrived: asked of the connection, for HTTP does not tell."""

import asyncio
import fcntl
import socket
import struct
import termios
import time
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

SHORTEST_LOOK_SECONDS, LONGEST_LOOK_SECONDS = 0.002, 0.1
CHUNK_BYTES = 65_536
"""Of an answer, handed to the connection at once; the rest waits where all who share the answer have it."""
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

    @property
    def takes_more(self) -> bool:
        """Whether the last that was written went on its way: what comes after the end is dropped silently."""
        return self._ended_well is None and not self._transport.is_closing()

    async def arrived(self, deadline: float) -> bool:
        """Wait until the peer has received all that was written; False if it went away or takes too long."""
        look_seconds = SHORTEST_LOOK_SECONDS
        while self._ended_well is None and time.monotonic() < deadline:
            # In this order: a reset empties the queue, and then the connection is no longer established.
            if not self._unacknowledged() and self.lasts:
                return True
            await asyncio.sleep(look_seconds)
            look_seconds = min(look_seconds * 1.5, LONGEST_LOOK_SECONDS)
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


def is_there(scope: Scope, deadline: float) -> bool:
    """Whether whoever made a request still waits for the answer, as far as anybody can know."""
    connection = scope.get("state", {}).get("connection")
    return time.monotonic() < deadline and (connection is None or connection.lasts)


class InChunks(Response):
    """An answer that is copied to the connection piece by piece, as fast as the client reads."""

    async def __call__(self, _scope: Scope, _: Receive, send: Send) -> None:
        await send_all_but_the_end(self, send)
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def send_all_but_the_end(response: Response, send: Send) -> None:
    """Send an answer without saying that it ends there."""
    await send(
        {"type": "http.response.start", "status": response.status_code, "headers": response.raw_headers}
    )
    body = memoryview(response.body)
    for start in range(0, len(body), CHUNK_BYTES):
        chunk = bytes(body[start : start + CHUNK_BYTES])
        await send({"type": "http.response.body", "body": chunk, "more_body": True})


async def send_whole(response: Response, scope: Scope, send: Send, deadline: float) -> bool:
    """Send an answer; whether all of it has arrived by a time of the monotonic clock."""
    connection = scope.get("state", {}).get("connection")
    # Who has given up before the answer cannot be told, afterwards, from who has read it and gone.
    was_there = is_there(scope, deadline)
    # The end is held back, since uvicorn may close the connection after it.
    await send_all_but_the_end(response, send)
    # A client that leaves between two chunks has emptied the connection, and has not got all of it.
    sent = connection is None or connection.takes_more
    arrived = was_there and sent and (connection is None or await connection.arrived(deadline))
    await send({"type": "http.response.body", "body": b"", "more_body": False})
    return arrived

"""One HTTP connection: uvicorn's, with a bound on the time that a client may take for anything."""

import time
from collections.abc import Callable
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from monitor.web.delivery import Connection

HEAD_SECONDS = 10.0
"""For a request to arrive with all of its headers; also for a body, which nothing here asks for."""
STALL_SECONDS = 10.0
"""For a client to read what fills its connection."""
ANSWER_SECONDS = 60.0
"""From a request to the end of its answer: the longest that a scrape may take."""


class WatchedProtocol(H11Protocol):
    """uvicorn's HTTP, which lets the handlers of a request look at its connection."""

    on_lost: Callable[["WatchedProtocol"], None] | None = None
    is_crowded: Callable[[], bool] = staticmethod(lambda: False)
    """Whether others wait for a connection: then this one ends with its answer."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.since = time.monotonic()
        """When it began to wait for a request, or to answer one."""
        self.answered = 0
        self.stalled_since: float | None = None
        """Since when the client does not read what was sent, if so."""
        self._begun = True

    @property
    def is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def is_overdue(self, now: float) -> bool:
        """Whether the client has taken longer than anybody needs."""
        if self.stalled_since is not None and now - self.stalled_since > STALL_SECONDS:
            return True
        return now - self.since > (ANSWER_SECONDS if self.is_answering else HEAD_SECONDS)

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._connection = Connection(transport)
        self.app_state = {**self.app_state, "connection": self._connection}

    def connection_lost(self, exc: Exception | None) -> None:
        self._connection.lost(exc)
        super().connection_lost(exc)
        if self.on_lost is not None:
            self.on_lost(self)

    def data_received(self, data: bytes) -> None:
        was_answering = self.is_answering
        super().data_received(data)
        if was_answering:
            return
        # A connection may be idle between two requests; the time for the next one begins with its first byte.
        if self.is_answering or not self._begun:
            self.since = time.monotonic()
        self._begun = True

    def on_response_complete(self) -> None:
        self.answered += 1
        self.since, self._begun = time.monotonic(), False
        if self.is_crowded():
            # Before the rest of what it may have asked for at once.
            self.timeout_keep_alive_handler()
        super().on_response_complete()

    def pause_writing(self) -> None:
        self.stalled_since = time.monotonic()
        super().pause_writing()

    def resume_writing(self) -> None:
        self.stalled_since = None
        super().resume_writing()

"""Tells a broker that is away, which is waited for, from a client that got stuck, which is replaced."""

import asyncio
from collections.abc import Awaitable, Callable

from monitor.sources.kafka.waiting import Waiting

PROBE_SECONDS = 2.0
"""Time between two looks at a broker."""


class Watchdog:
    """Watches a session that makes no progress.

    A client that is replaced while the broker is away cannot leave its group, and the new one would have to
    wait for the old one's session to time out. So the broker must have been reachable for long enough first.
    """

    def __init__(self, probe: Callable[[], Awaitable[None]], stuck_seconds: float) -> None:
        self.unreachable: Waiting | None = None
        """Why the broker did not answer the last look."""
        self._probe = probe
        self._stuck_seconds = stuck_seconds
        self._patience_seconds = stuck_seconds / 6
        self._probing: asyncio.Task[None] | None = None
        self._looked_at = 0.0
        self._reachable_since: float | None = None

    def bites(self, now: float, quiet_seconds: float) -> bool:
        """Whether to replace the client, which made no progress for so long. Raises SourceError."""
        if quiet_seconds < self._patience_seconds:
            self._reachable_since = self.unreachable = None
            return False
        self._look(now)
        reachable_seconds = now - self._reachable_since if self._reachable_since is not None else 0.0
        return (
            quiet_seconds >= self._stuck_seconds
            and reachable_seconds >= self._stuck_seconds - self._patience_seconds
        )

    def _look(self, now: float) -> None:
        if self._probing is None:
            if now - self._looked_at >= PROBE_SECONDS:
                self._looked_at = now
                self._probing = asyncio.ensure_future(self._probe())
        elif self._probing.done():
            probing, self._probing = self._probing, None
            try:
                probing.result()
            except Waiting as waiting:
                self.unreachable, self._reachable_since = waiting, None
            else:
                self.unreachable = None
                self._reachable_since = now if self._reachable_since is None else self._reachable_since

    async def stop(self) -> None:
        """End a look that is under way."""
        if self._probing is not None:
            self._probing.cancel()
            await asyncio.gather(self._probing, return_exceptions=True)

"""The pump: what a source brings goes into the engine, and now and then the engine decides what is due."""

import gc
import math
import time

from monitor.sources.base import Poll
from monitor.stream.engine import Engine

DECIDE_RECORDS, WORTH_DECIDING = 5_000, 1_000
"""Records after which what is due is decided, and how many are enough when nothing is left to read."""
SHARE_OF_LATENESS = 1 / 10
SHORTEST_SECONDS, LONGEST_SECONDS = 0.2, 6.0


class Pump:
    """Feeds an engine.

    When something is decided does not change what is decided, but deciding many together costs far less than
    each alone. So it waits for more, for a little of what is waited for late events anyway.
    """

    def __init__(self, engine: Engine, lateness_seconds: float) -> None:
        self._engine = engine
        wanted = lateness_seconds * SHARE_OF_LATENESS
        self._decide_seconds = min(max(wanted, SHORTEST_SECONDS), LONGEST_SECONDS)
        self._records = 0
        self._decided_at = -math.inf

    def feed(self, poll: Poll) -> None:
        """Hand over what one poll brought."""
        engine = self._engine
        if poll.assigned is not None:
            engine.assign(poll.assigned, poll.now)
        for chunk in poll.chunks:
            engine.ingest(chunk, poll.now)
            self._records += len(chunk.records)
        engine.reach(poll.reached)
        engine.idle(poll.idle)
        if poll.finished:
            engine.finish(poll.now)
        elif self._is_time(len(poll.chunks)):
            engine.advance(poll.now)
            self._records, self._decided_at = 0, time.monotonic()

    def _is_time(self, chunks: int) -> bool:
        waits_for = DECIDE_RECORDS if chunks else WORTH_DECIDING
        return self._records >= waits_for or time.monotonic() - self._decided_at >= self._decide_seconds


def ease_garbage_collection() -> None:
    """Look for cycles rarely: what is held makes none, and to walk a million impressions is not free."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 1000)

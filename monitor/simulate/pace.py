"""Pacing: events of a simulation are handed out when a clock, fast or slow, comes to their time."""

import math
import time
from collections.abc import Callable, Iterator

from monitor.simulate.wire import SimulatedEvent


class Pacer:
    """Event time that runs `speed` seconds a second from `start`; 0 is as fast as possible."""

    def __init__(
        self,
        events: Iterator[SimulatedEvent],
        *,
        start: float,
        speed: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._events = events
        self._next = next(events, None)
        self._start = start
        self._speed = speed
        self._clock = clock
        self._began = clock()

    @property
    def finished(self) -> bool:
        """Whether the events came to an end and all were handed out."""
        return self._next is None

    def now(self) -> float:
        """The event time; infinite at speed 0, where everything is due."""
        elapsed = self._clock() - self._began
        return self._start + elapsed * self._speed if self._speed else math.inf

    def due(self, limit: int) -> list[SimulatedEvent]:
        """What has come due since the last call, at most `limit`; the rest is due at the next call."""
        now = self.now()
        taken: list[SimulatedEvent] = []
        while self._next is not None and self._next.ts <= now and len(taken) < limit:
            taken.append(self._next)
            self._next = next(self._events, None)
        return taken

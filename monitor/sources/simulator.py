"""The simulator as a source: one partition that fills as event time goes by, without any broker."""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

from monitor.simulate.pace import Pacer
from monitor.simulate.stream import Simulation
from monitor.sources.base import Poll, SourceStatus
from monitor.stream.records import Chunk, Role, Start, TopicPartition

TOPIC = "search-events"
MOST_RECORDS = 10_000
"""At most this many a poll, so that a clock that jumped does not hold everything up."""


class SimulatedRecord(NamedTuple):
    """A record as Kafka would give it."""

    value: bytes
    key: bytes
    timestamp: int
    offset: int
    timestamp_type: int | None = None


class SimulatorSource:
    """Hands out a simulation at `speed` event seconds a second; `clock` counts those seconds."""

    roles: Mapping[str, Role] = {TOPIC: Role.EVENTS}

    def __init__(
        self,
        simulation: Simulation,
        *,
        speed: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
        poll_seconds: float = 0.1,
    ) -> None:
        if speed <= 0:
            raise ValueError(f"speed is {speed}; it must be above 0")
        self._simulation = simulation
        self._speed = speed
        self._clock = clock
        self._poll_seconds = poll_seconds
        self._pacer: Pacer | None = None
        self._offset = 0
        self._assigned = False

    async def start(self) -> None:
        events, start = self._simulation.events(), self._simulation.start
        self._pacer = Pacer(events, start=start, speed=self._speed, clock=self._clock)

    async def poll(self) -> Poll:
        assert self._pacer is not None, "start() comes before poll()"
        await asyncio.sleep(self._poll_seconds)
        events = self._pacer.due(MOST_RECORDS)
        records = [
            SimulatedRecord(event.value, event.key, round(event.ts * 1000), offset)
            for offset, event in enumerate(events, start=self._offset)
        ]
        self._offset += len(records)
        assigned = None if self._assigned else {(TOPIC, 0): Start(0, "", fresh=True, from_beginning=True)}
        self._assigned = True
        chunks = [Chunk(TOPIC, 0, records)] if records else []
        return Poll(now=self._pacer.now(), chunks=chunks, assigned=assigned)

    async def commit(self, offsets: Mapping[TopicPartition, tuple[int, str]]) -> bool:  # noqa: ARG002
        """Nothing to store: a simulation begins anew each time."""
        return True

    async def confirm(self) -> bool:
        """Nobody else has this simulation."""
        return True

    def status(self) -> SourceStatus:
        return SourceStatus(ready=True)

    async def stop(self) -> None:
        self._pacer = None

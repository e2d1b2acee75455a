"""Watching the event loop: does it tick, and for how long was it held up?"""

import asyncio
import time

TICK_SECONDS = 0.25
STALL_SECONDS = 0.25


class LoopWatch:
    """Counts the times that the event loop was held up for longer than STALL_SECONDS."""

    def __init__(self) -> None:
        self.stalls = 0
        self.stalled_seconds = 0.0

    async def run(self) -> None:
        """Tick for ever; what a tick is late by, the loop was busy with something else."""
        while True:
            before = time.monotonic()
            await asyncio.sleep(TICK_SECONDS)
            late = time.monotonic() - before - TICK_SECONDS
            if late > STALL_SECONDS:
                self.stalls += 1
                self.stalled_seconds += late

"""What a replica says of itself, all the time, while something happens to it."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.faults.replica import Replica


class Watch:
    """What /-/ready and /-/healthy said, and when."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self.ready: list[bool] = []
        self.healthy: list[bool] = []
        self.reasons: list[str] = []
        self.unready_after: float | None = None
        """Seconds from the beginning until it said for the first time that it is not ready."""

    @property
    def seconds(self) -> float:
        """How long it has been watched."""
        return time.monotonic() - self._began


@asynccontextmanager
async def watching(replica: Replica) -> AsyncIterator[Watch]:
    """Ask both, several times a second, until the block ends."""
    watch = Watch()

    async def ask() -> None:
        while True:
            answer = await replica.running.get("/-/ready")
            watch.ready.append(answer.status_code == 200)
            if answer.status_code != 200:
                watch.unready_after = watch.unready_after or watch.seconds
                watch.reasons.append(answer.text.strip().replace("\n", " | "))
            watch.healthy.append((await replica.running.get("/-/healthy")).status_code == 200)
            await asyncio.sleep(0.2)

    asking = asyncio.create_task(ask())
    try:
        yield watch
        if asking.done():
            asking.result()
    finally:
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)

"""Publishing: scrapes that show a cut, and the commits that follow when they have arrived."""

import asyncio
import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from monitor.durations import in_words
from monitor.export.collector import ProcessStatus
from monitor.export.render import Exposition
from monitor.export.text import Format
from monitor.shared import SharedRendering
from monitor.sources.base import Source
from monitor.stream.engine import Engine

log = logging.getLogger(__name__)

TRIES = 3
"""Renderings of a cut that changes meanwhile, before a scrape shows what the one before it has shown."""
SILENCE_SECONDS = 600.0
"""Without a commit for so long it is said that a restart would have much to read again."""
FINISH_SECONDS = 1.5
COMMIT_SECONDS = 0.5
"""At least, between two commits; a scraper that comes sooner sees the same again and acknowledges nothing."""
NOT_THE_CUT = -1

Pack = Callable[[bytes], bytes]
"""Compresses a body, or not; the same for every client that takes the same."""


@dataclass(frozen=True, slots=True)
class Scrape:
    """What a scrape gets, and the version of the cut that it shows."""

    body: bytes
    content_type: str
    version: int


class Publisher:
    """Shows the engine's counts to Prometheus by cuts (see there), each committed once it was shown."""

    def __init__(
        self,
        engine: Engine,
        source: Source,
        status: Callable[[], ProcessStatus],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.committed_at = time.time()
        """When the last commit was taken; at first, when all began."""
        self._engine = engine
        self._source = source
        self._status = status
        self._exposition = Exposition()
        self._rendered: dict[tuple[int, bool, int, Format], bytes] = {}
        self._shared = SharedRendering()
        self._clock = clock
        self._tried_at = -math.inf
        """When a commit was tried last."""
        self._preparing = asyncio.Lock()
        self._finishing = False
        self._reminded_at = time.monotonic()

    async def live(self, accept: str, pack: Pack = bytes) -> tuple[bytes, str]:
        """All as it is now, or was a second ago, for those who acknowledge nothing."""

        async def render() -> tuple[bytes, str]:
            snapshot, status = self._engine.snapshot(), self._status()

            def work() -> tuple[bytes, str]:
                body, content_type = self._exposition.render(snapshot, status, accept)
                return pack(body), content_type

            return await asyncio.to_thread(work)

        return await self._shared.get(("live", self._exposition.content_type(accept), pack), render)

    async def shown(self, accept: str, pack: Pack = bytes) -> tuple[bytes, str]:
        """What scrapes have shown until now: these counters never go down."""
        found = await self._shown(accept, pack)
        return found.body, found.content_type

    async def _shown(self, accept: str, pack: Pack) -> Scrape:
        async def render() -> Scrape:
            async with self._preparing:
                return await self._render(accept, pack, NOT_THE_CUT, shown_only=True)

        # Another cut is another key: what is shared is never older than what a scrape has shown since.
        cuts = self._engine.cuts
        key = ("shown", cuts.version, cuts.is_shown, cuts.label_sets)
        return await self._shared.get((*key, self._exposition.content_type(accept), pack), render)

    async def scrape(
        self, accept: str, pack: Pack = bytes, there: Callable[[], bool] = lambda: True
    ) -> Scrape:
        """The cut, or what was shown before while it is not sure that this replica still owns its tasks.

        It is to be sent at once: it was shown from now on, unless whoever asked is no longer `there`. `pack`
        compresses it, in a thread.
        """
        async with self._preparing:
            cuts = self._engine.cuts
            for _ in range(TRIES if self._may_go_on() else 0):
                if not cuts.frozen:
                    self._engine.freeze()
                version = cuts.version
                scrape = await self._render(accept, pack, version, shown_only=False)
                if cuts.is_shown and cuts.version == version:
                    return scrape
                if not await self._source.confirm() or not there():
                    break
                if cuts.version == version and not cuts.is_shown:
                    self.show()
                    return scrape
        return await self._shown(accept, pack)

    def _may_go_on(self) -> bool:
        """Whether a scrape may show the cut, and so lead to a commit."""
        if self._finishing:
            return False
        return self._engine.cuts.is_shown or not self._has_just_committed()

    def _has_just_committed(self) -> bool:
        return self._clock() - self._tried_at < COMMIT_SECONDS

    def show(self) -> None:
        """The scrape is about to be answered; from here until it is acknowledged, a crash counts twice."""
        self._engine.cuts.show()

    async def acknowledge(self, version: int) -> bool:
        """A scrape has arrived: commit what it showed, and go on to the next cut if that was taken."""
        cuts = self._engine.cuts
        if not cuts.is_shown or cuts.version != version or self._has_just_committed():
            return False
        self._tried_at = self._clock()
        commits = cuts.commits()
        if commits and not await self._source.commit(commits):
            return False
        if cuts.is_shown and cuts.version == version:
            cuts.confirm()
            self.committed_at = time.time()
        return True

    async def finish(self) -> None:
        """Show nothing new, and give a scrape that is on its way the time to be committed."""
        self._finishing = True
        deadline = time.monotonic() + FINISH_SECONDS
        while self._engine.cuts.is_shown and time.monotonic() < deadline:  # noqa: ASYNC110 - rare, and short
            await asyncio.sleep(0.01)

    async def _render(self, accept: str, pack: Pack, version: int, *, shown_only: bool) -> Scrape:
        counted = await self._counted(accept, shown_only=shown_only)
        moment, status = self._engine.moment(), self._status()

        def render() -> Scrape:
            body, content_type = self._exposition.render(moment, status, accept, counted)
            return Scrape(pack(body), content_type, version)

        return await asyncio.to_thread(render)

    async def _counted(self, accept: str, *, shown_only: bool) -> bytes:
        """What is rendered once for each cut and format, however often it is scraped."""
        engine = self._engine
        # Once the cut is shown, what was shown has it too: never again what went before.
        has_cut = engine.cuts.is_shown or not shown_only
        key = (engine.cuts.version, has_cut, engine.cuts.label_sets, self._exposition.format(accept))
        if key not in self._rendered:
            # Nothing of these changes meanwhile: a cut is shown by who holds the lock.
            tallies = engine.cuts.to_show(shown_only=shown_only)
            total = await asyncio.to_thread(engine.total, tallies)
            counted = await asyncio.to_thread(self._exposition.counted, engine.cut(total), accept)
            self._rendered = {k: v for k, v in self._rendered.items() if k[0] == key[0]} | {key: counted}
        return self._rendered[key]

    def remind(self) -> None:
        """Say now and then that nothing acknowledges the scrapes, or that there are none."""
        now, silent = time.monotonic(), time.time() - self.committed_at
        if silent > SILENCE_SECONDS and now - self._reminded_at > SILENCE_SECONDS:
            self._reminded_at = now
            log.warning(
                "nothing was committed for %s: no scrape by Prometheus has arrived, or Kafka takes no"
                " commits; a restart would read again from then on (docs/guarantees.md)",
                in_words(round(silent)),
            )

"""The simulation: searches, what users do with the results, and judgments, in order of event time."""

import math
from collections.abc import Iterable, Iterator
from heapq import heappop, heappush
from random import Random

from monitor.simulate import wire
from monitor.simulate.judging import Assessors, Judgment
from monitor.simulate.scenarios import Scenario
from monitor.simulate.traffic import Traffic
from monitor.simulate.users import visit
from monitor.simulate.wire import Page, SimulatedEvent
from monitor.simulate.world import Query, World

NEWS_SECONDS = 600.0
EMPTY_SHARE = 0.01
OUTCOME_SHARE = 0.6
LATENCY_SECONDS = 0.035
LATENCY_SIGMA = 0.5


class Simulation:
    """An endless stream of events; the same arguments give the same bytes."""

    def __init__(
        self,
        scenario: Scenario,
        *,
        seed: int,
        queries_per_second: float,
        start: float,
        deploy_at: float | None = None,
        embeddings: bool = False,
    ) -> None:
        """`deploy_at` moves the scenario's deploy, if it has one; in seconds after the start."""
        self.start = start
        self._seed = seed
        self._rate = queries_per_second
        self._embeddings = embeddings
        self._deploy = math.inf
        if scenario.deploy_at is not None:
            self._deploy = start + (scenario.deploy_at if deploy_at is None else deploy_at)

    def events(self) -> Iterator[SimulatedEvent]:
        """From the start, without end, by `ts`."""
        run = _Run(World(self._seed), Random(self._seed), f"{self._seed}-{round(self.start * 1000):x}")
        run.begin(self.start)
        ts, issue = self.start, 0
        while True:
            ts += run.rng.expovariate(self._rate)
            while ts >= (news_at := self.start + issue * NEWS_SECONDS):
                run.publish_news(issue, news_at)
                issue += 1
            yield from run.due(ts)
            yield run.search(round(ts, 3), deployed=ts >= self._deploy, embeddings=self._embeddings)


class _Run:
    """What has happened so far, and what will follow from it."""

    def __init__(self, world: World, rng: Random, prefix: str) -> None:
        """The prefix tells the ids of this run from those of runs with another seed or start."""
        self.rng = rng
        self._world = world
        self._prefix = prefix
        self._traffic = Traffic(world, rng, prefix)
        self._assessors = Assessors(world, rng)
        self._pages: dict[tuple[Query, bool], Page] = {}
        self._news: list[Query] = []
        self._impressions = 0
        self._pending: list[SimulatedEvent] = []

    def begin(self, start: float) -> None:
        self._expect(self._assessors.begin(self._traffic.known, start))

    def publish_news(self, issue: int, ts: float) -> None:
        for query in self._news:
            self._pages.pop((query, False), None)
            self._pages.pop((query, True), None)
        self._news = self._traffic.turn_to(issue)
        for query in self._news:
            self._expect(self._assessors.late(query, ts))
        self._expect(self._assessors.revise(ts, ts + NEWS_SECONDS))

    def due(self, ts: float) -> Iterator[SimulatedEvent]:
        while self._pending and self._pending[0].ts <= ts:
            yield heappop(self._pending)

    def search(self, ts: float, *, deployed: bool, embeddings: bool) -> SimulatedEvent:
        """One impression; what the user does with it is put among the events to come."""
        session, query = self._traffic.session(), self._traffic.query()
        if self.rng.random() < EMPTY_SHARE:
            page = wire.page(self._world, query, [], embeddings=embeddings)
        else:
            page = self._page(query, deployed and session.labels["variant"] == "candidate", embeddings)
        self._impressions += 1
        impression_id = f"i{self._prefix}-{self._impressions}"
        self._act(ts, impression_id, page)
        latency = LATENCY_SECONDS * self.rng.lognormvariate(0.0, LATENCY_SIGMA)
        return wire.impression(ts, impression_id, page, session, round(latency, 4))

    def _act(self, ts: float, impression_id: str, page: Page) -> None:
        done = visit(page.grades, self.rng)
        for position, after, dwell in done.clicks:
            key = page.keys[position - 1]
            click = {"key": key, "position": position}
            dwelt = {"key": key, "dwell_seconds": round(dwell, 3)}
            heappush(self._pending, wire.interaction(ts + after, "click", impression_id, click))
            heappush(self._pending, wire.interaction(ts + after + dwell, "dwell", impression_id, dwelt))
        if done.scrolled_to and self.rng.random() < OUTCOME_SHARE:
            outcome = "successful" if done.satisfied else "unsuccessful"
            end = {"outcome": outcome, "max_scroll_position": done.scrolled_to}
            heappush(self._pending, wire.interaction(ts + done.seconds, "outcome", impression_id, end))

    def _page(self, query: Query, broken: bool, embeddings: bool) -> Page:
        # The backend is asked once a query and encoder; the variants share an encoder until the deploy.
        if (query, broken) not in self._pages:
            hits = self._world.search(query, broken=broken)
            self._pages[query, broken] = wire.page(self._world, query, hits, embeddings=embeddings)
        return self._pages[query, broken]

    def _expect(self, judgments: Iterable[Judgment]) -> None:
        for given in judgments:
            heappush(self._pending, wire.judgment(given, self._world.targets[given.key]))

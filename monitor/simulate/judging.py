"""Assessors: most queries are judged from the beginning, others late; a few judgments are revised."""

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from monitor.simulate.world import Query, World

POOL_DEPTH = 15
"""Judged are all relevant documents and what a healthy search shows this far down."""
JUDGED_FROM_START = 0.85
MEDIAN_DELAY_SECONDS = 300.0
MAX_DELAY_SECONDS = 3600.0
SECONDS_A_JUDGMENT = 1.0
SECONDS_BETWEEN_REVISIONS = 20.0
REJUDGED_AFTER_SECONDS = 600.0
HIGHEST_GRADE = 3


class Judgment(NamedTuple):
    """A grade given at a time; None takes it back."""

    ts: float
    query: Query
    key: str
    grade: int | None
    assessor: str | None


class Assessors:
    """Who judges which query when. They know the truth, but for revisions and second opinions."""

    def __init__(self, world: World, rng: Random) -> None:
        self._world = world
        self._rng = rng
        self._judged: list[tuple[Query, list[str]]] = []

    def begin(self, queries: list[Query], start: float) -> Iterator[Judgment]:
        """Judge the known queries: most at the start, the others when someone comes to it."""
        for query in queries:
            if self._rng.random() < JUDGED_FROM_START:
                pool = self._pool(query)
                self._judged.append((query, pool))
                yield from (Judgment(start, query, key, query.grade(key), "first") for key in pool)
            else:
                yield from self.late(query, start)

    def late(self, query: Query, since: float) -> Iterator[Judgment]:
        """Judge one query, seconds to an hour after it was first seen, by nobody in particular."""
        delay = self._rng.lognormvariate(0.0, 1.5) * MEDIAN_DELAY_SECONDS
        ts = since + min(delay, MAX_DELAY_SECONDS)
        for number, key in enumerate(self._pool(query)):
            yield Judgment(ts + number * SECONDS_A_JUDGMENT, query, key, query.grade(key), None)

    def revise(self, since: float, until: float) -> Iterator[Judgment]:
        """Regrade some, withdraw a few, add second opinions.

        A first assessor's slip is put right later, and a query gets a second opinion on one document only:
        however long the world runs, its judgments stay as good as they are.
        """
        ts = since
        while self._judged and (ts := ts + self._rng.expovariate(1 / SECONDS_BETWEEN_REVISIONS)) < until:
            query, pool = self._rng.choice(self._judged)
            kind = self._rng.random()
            if kind < 0.25:
                yield Judgment(ts, query, pool[0], self._off_by_one(query.grade(pool[0])), "second")
                continue
            key = self._rng.choice(pool)
            truth = query.grade(key)
            yield Judgment(ts, query, key, None if kind < 0.4 else self._off_by_one(truth), "first")
            yield Judgment(ts + REJUDGED_AFTER_SECONDS, query, key, truth, "first")

    def _pool(self, query: Query) -> list[str]:
        shown = (hit.key for hit in self._world.search(query)[:POOL_DEPTH])
        return sorted(query.grades.keys() | shown)

    def _off_by_one(self, grade: int) -> int:
        return min(max(grade + self._rng.choice((-1, 1)), 0), HIGHEST_GRADE)

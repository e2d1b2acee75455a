"""Who searches for what: sessions with their labels, popular queries and news."""

from bisect import bisect
from collections import deque
from itertools import accumulate
from random import Random
from typing import NamedTuple

from monitor.simulate.world import Query, World

KNOWN_QUERIES = 120
NEWS_QUERIES = 10
NEWS_SHARE = 0.1
RETURNING_SHARE = 0.3
OPEN_SESSIONS = 50
VARIANTS = ("control", "candidate")
COUNTRIES = ("de",) * 5 + ("fr",) * 3 + ("nl",) * 2


class Session(NamedTuple):
    """A user for a while; labels are drawn once for all of a session's searches."""

    session_id: str
    labels: dict[str, str]


class Traffic:
    """Known queries by Zipf's law, and news that come and go: there is always something not judged yet."""

    def __init__(self, world: World, rng: Random, prefix: str) -> None:
        self.known = [world.query(number) for number in range(KNOWN_QUERIES)]
        self._world = world
        self._rng = rng
        self._prefix = prefix
        self._popularity = list(accumulate(1 / rank for rank in range(1, KNOWN_QUERIES + 1)))
        self._news: list[Query] = []
        self._sessions: deque[Session] = deque(maxlen=OPEN_SESSIONS)
        self._sessions_begun = 0

    def turn_to(self, issue: int) -> list[Query]:
        """Forget the news of yesterday for those of this issue."""
        first = KNOWN_QUERIES + issue * NEWS_QUERIES
        self._news = [self._world.query(first + number) for number in range(NEWS_QUERIES)]
        return self._news

    def query(self) -> Query:
        if self._rng.random() < NEWS_SHARE:
            return self._rng.choice(self._news)
        return self.known[bisect(self._popularity, self._rng.random() * self._popularity[-1])]

    def session(self) -> Session:
        if self._sessions and self._rng.random() < RETURNING_SHARE:
            return self._rng.choice(self._sessions)
        self._sessions_begun += 1
        labels = {"variant": self._rng.choice(VARIANTS), "country": self._rng.choice(COUNTRIES)}
        session = Session(f"s{self._prefix}-{self._sessions_begun}", labels)
        self._sessions.append(session)
        return session

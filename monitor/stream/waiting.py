"""Interactions that came before their impression, until it comes or can no longer come."""

from collections.abc import Iterable, KeysView
from heapq import heappop, heappush

from monitor.stream.interactions import Interactions, Row, identity, of_rows, when

Identity = tuple[int, int, bool, float]


class Waiting:
    """By the impression that they wait for, and by their time."""

    def __init__(self) -> None:
        self._of: dict[int, dict[Identity, Row]] = {}
        self._by_second: dict[int, list[Row]] = {}
        """Those that wait, and those that have waited: they are left there until their time."""
        self._seconds: list[int] = []
        """The seconds of those, as a heap."""

    @property
    def impressions(self) -> KeysView[int]:
        """The ids that are waited for."""
        return self._of.keys()

    def add(self, interactions: Interactions) -> None:
        """Let some wait."""
        rows = interactions.rows()
        for row in rows:
            self._of.setdefault(row[0], {})[identity(row)] = row
        self._put(rows)

    def take(self, impression: int, ts: float, reach_seconds: float) -> list[Row]:
        """An impression has come: those that waited for it and are in reach."""
        waited = self._of.pop(impression)
        beyond = {what: row for what, row in waited.items() if abs(when(row) - ts) > reach_seconds}
        if beyond:
            self._of[impression] = beyond
        return [(impression, ts, *row[2:]) for what, row in waited.items() if what not in beyond]

    def expire(self, attribution: float, watermark: float) -> Interactions:
        """Give up those whose impression can no longer come, oldest first."""
        expired: list[Row] = []
        rest: list[Row] = []
        while self._seconds and self._seconds[0] + attribution < watermark:
            rows = self._by_second.pop(heappop(self._seconds))
            rest += [row for row in rows if when(row) + attribution >= watermark]
            expired += self._give_up(self._oldest(row for row in rows if when(row) + attribution < watermark))
        self._put(rest)
        return of_rows(expired)

    def evict(self, number_of: int) -> Interactions:
        """Give up the oldest; fewer than asked for if there are not so many."""
        evicted: list[Row] = []
        while self._seconds and len(evicted) < number_of:
            rows = self._oldest(self._by_second.pop(heappop(self._seconds)))
            taken = number_of - len(evicted)
            evicted += self._give_up(rows[:taken])
            self._put(rows[taken:])
        return of_rows(evicted)

    def _put(self, rows: Iterable[Row]) -> None:
        for row in rows:
            second = int(when(row))
            if second not in self._by_second:
                self._by_second[second] = []
                heappush(self._seconds, second)
            self._by_second[second].append(row)

    def _oldest(self, rows: Iterable[Row]) -> list[Row]:
        """Those that wait still, by their time, and where that is the same in an order that never changes."""
        # The same may have waited before and wait again: it is this one that counts.
        waiting = (row for row in rows if self._of.get(row[0], {}).get(identity(row)) is row)
        return sorted(waiting, key=lambda row: (when(row), row[0], identity(row)))

    def _give_up(self, rows: Iterable[Row]) -> list[Row]:
        given_up = list(rows)
        for row in given_up:
            waiting = self._of[row[0]]
            del waiting[identity(row)]
            if not waiting:
                del self._of[row[0]]
        return given_up

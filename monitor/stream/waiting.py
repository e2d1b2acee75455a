"""Interactions that came before their impression, until it comes or can no longer come."""

from collections.abc import Iterable, KeysView
from heapq import heappop, heappush
from operator import itemgetter

from monitor.stream.interactions import Interactions, Row, of_rows

Entry = tuple[float, Row]
"""When it was, and what it was."""


class Waiting:
    """By the impression that they wait for, and by their time."""

    def __init__(self) -> None:
        self._of: dict[int, list[Row]] = {}
        self._by_second: dict[int, list[Entry]] = {}
        """Those that wait, and those that have waited: they are left there until their time."""
        self._seconds: list[int] = []
        """The seconds of those, as a heap."""

    @property
    def impressions(self) -> KeysView[int]:
        """The ids that are waited for."""
        return self._of.keys()

    def add(self, interactions: Interactions) -> None:
        """Let some wait."""
        times, rows = interactions.ts.tolist(), interactions.rows()
        for row in rows:
            self._of.setdefault(row[0], []).append(row)
        self._put(zip(times, rows, strict=True))

    def take(self, impression: int, ts: float, reach_seconds: float) -> list[Row]:
        """An impression has come: those that waited for it and are in reach."""
        waited = self._of.pop(impression)
        found = [(impression, ts, *row[2:]) for row in waited if abs(row[5] - ts) <= reach_seconds]
        if len(found) < len(waited):
            self._of[impression] = [row for row in waited if abs(row[5] - ts) > reach_seconds]
        return found

    def expire(self, attribution: float, watermark: float) -> Interactions:
        """Give up those whose impression can no longer come, oldest first."""
        expired: list[Row] = []
        rest: list[Entry] = []
        while self._seconds and self._seconds[0] + attribution < watermark:
            entries = self._by_second.pop(heappop(self._seconds))
            rest += [entry for entry in entries if entry[0] + attribution >= watermark]
            expired += self._give_up(entry for entry in entries if entry[0] + attribution < watermark)
        self._put(rest)
        return of_rows(expired)

    def evict(self, number_of: int) -> Interactions:
        """Give up the oldest; fewer than asked for if there are not so many."""
        evicted: list[Row] = []
        while self._seconds and len(evicted) < number_of:
            entries = sorted(self._by_second.pop(heappop(self._seconds)), key=itemgetter(0))
            taken = number_of - len(evicted)
            evicted += self._give_up(entries[:taken])
            self._put(entries[taken:])
        return of_rows(evicted)

    def _put(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            second = int(entry[0])
            if second not in self._by_second:
                self._by_second[second] = []
                heappush(self._seconds, second)
            self._by_second[second].append(entry)

    def _give_up(self, entries: Iterable[Entry]) -> list[Row]:
        """Those, oldest first, whose impression has not come meanwhile."""
        given_up: list[Row] = []
        for _, row in sorted((entry for entry in entries if entry[1][0] in self._of), key=itemgetter(0)):
            waiting = self._of.get(row[0], [])
            if row in waiting:
                waiting.remove(row)
                given_up.append(row)
                if not waiting:
                    del self._of[row[0]]
        return given_up

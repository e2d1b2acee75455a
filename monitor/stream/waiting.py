"""Interactions that came before their impression, until it comes or can no longer come."""

from collections.abc import Iterable
from heapq import heappop, heappush

from monitor.stream.interactions import Interaction, Known, Payload

Entry = tuple[float, int, Interaction]
"""When it was, the impression's id, and what it was."""


class Waiting:
    """By the impression that they wait for, and by their time."""

    def __init__(self) -> None:
        self._of: dict[int, Known] = {}
        self._by_second: dict[int, list[Entry]] = {}
        """Those that wait, and those that have waited: they are left there until their time."""
        self._seconds: list[int] = []
        """The seconds of those, as a heap."""

    def __contains__(self, impression: int) -> bool:
        return impression in self._of

    def add(self, impression: int, interaction: Interaction, payload: Payload) -> bool:
        """Let one wait; False if it does already."""
        known = self._of.setdefault(impression, {})
        if interaction in known:
            return False
        known[interaction] = payload
        self._put([(interaction[3], impression, interaction)])
        return True

    def take(self, impression: int, ts: float, reach_seconds: float) -> Known:
        """An impression has come: those that waited for it and are in reach."""
        found = self._of.pop(impression)
        beyond = [i for i in found if abs(i[3] - ts) > reach_seconds]
        if beyond:
            self._of[impression] = {i: found.pop(i) for i in beyond}
        return found

    def expire(self, attribution: float, watermark: float) -> list[Interaction]:
        """Give up those whose impression can no longer come, oldest first."""
        expired: list[Interaction] = []
        rest: list[Entry] = []
        while self._seconds and self._seconds[0] + attribution < watermark:
            entries = self._by_second.pop(heappop(self._seconds))
            rest += [entry for entry in entries if entry[0] + attribution >= watermark]
            expired += self._give_up(entry for entry in entries if entry[0] + attribution < watermark)
        self._put(rest)
        return expired

    def evict(self, number_of: int) -> list[Interaction]:
        """Give up the oldest; fewer than asked for if there are not so many."""
        evicted: list[Interaction] = []
        while self._seconds and len(evicted) < number_of:
            entries = sorted(self._by_second.pop(heappop(self._seconds)))
            taken = number_of - len(evicted)
            evicted += self._give_up(entries[:taken])
            self._put(entries[taken:])
        return evicted

    def _put(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            second = int(entry[0])
            if second not in self._by_second:
                self._by_second[second] = []
                heappush(self._seconds, second)
            self._by_second[second].append(entry)

    def _give_up(self, entries: Iterable[Entry]) -> list[Interaction]:
        """Those, oldest first, whose impression has not come meanwhile."""
        given_up: list[Interaction] = []
        for _, impression, interaction in sorted(entry for entry in entries if entry[1] in self._of):
            waiting = self._of.get(impression, {})
            if waiting.pop(interaction, None) is not None:
                given_up.append(interaction)
                if not waiting:
                    del self._of[impression]
        return given_up

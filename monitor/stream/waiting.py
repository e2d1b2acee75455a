"""Interactions that came before their impression, until it comes or can no longer come."""

from collections.abc import Iterable, KeysView
from heapq import heappop, heappush

from monitor.stream.interactions import Identity, Interaction, Interactions, side_by_side


class Waiting:
    """By the impression that they wait for, and by their time."""

    def __init__(self) -> None:
        self._of: dict[int, dict[Identity, Interaction]] = {}
        self._by_second: dict[int, list[Interaction]] = {}
        """Those that wait, and those that have waited: they are left there until their time."""
        self._seconds: list[int] = []
        """The seconds of those, as a heap."""

    @property
    def impressions(self) -> KeysView[int]:
        """The ids that are waited for."""
        return self._of.keys()

    def add(self, interactions: Interactions) -> None:
        """Let some wait."""
        found = interactions.one_by_one()
        for each in found:
            self._of.setdefault(each.impression, {})[each.identity] = each
        self._put(found)

    def take(self, impression: int, ts: float, reach_seconds: float) -> list[Interaction]:
        """An impression has come: those that waited for it and are in reach."""
        waited = self._of.pop(impression)
        beyond = {what: each for what, each in waited.items() if abs(each.ts - ts) > reach_seconds}
        if beyond:
            self._of[impression] = beyond
        return [each._replace(shown=ts) for what, each in waited.items() if what not in beyond]

    def expire(self, attribution: float, watermark: float) -> Interactions:
        """Give up those whose impression can no longer come, oldest first."""
        expired: list[Interaction] = []
        rest: list[Interaction] = []
        while self._seconds and self._seconds[0] + attribution < watermark:
            found = self._by_second.pop(heappop(self._seconds))
            rest += [each for each in found if each.ts + attribution >= watermark]
            expired += self._give_up(
                self._oldest(each for each in found if each.ts + attribution < watermark)
            )
        self._put(rest)
        return side_by_side(expired)

    def evict(self, number_of: int) -> Interactions:
        """Give up the oldest; fewer than asked for if there are not so many."""
        evicted: list[Interaction] = []
        while self._seconds and len(evicted) < number_of:
            found = self._oldest(self._by_second.pop(heappop(self._seconds)))
            taken = number_of - len(evicted)
            evicted += self._give_up(found[:taken])
            self._put(found[taken:])
        return side_by_side(evicted)

    def _put(self, found: Iterable[Interaction]) -> None:
        for each in found:
            second = int(each.ts)
            if second not in self._by_second:
                self._by_second[second] = []
                heappush(self._seconds, second)
            self._by_second[second].append(each)

    def _oldest(self, found: Iterable[Interaction]) -> list[Interaction]:
        """Those that wait still, by their time, and where that is the same in an order that never changes."""
        # The same may have waited before and wait again: it is this one that counts.
        waiting = (each for each in found if self._of.get(each.impression, {}).get(each.identity) is each)
        return sorted(waiting, key=lambda each: (each.ts, each.impression, each.identity))

    def _give_up(self, found: Iterable[Interaction]) -> list[Interaction]:
        given_up = list(found)
        for each in given_up:
            waiting = self._of[each.impression]
            del waiting[each.identity]
            if not waiting:
                del self._of[each.impression]
        return given_up

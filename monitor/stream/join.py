"""Joining: impressions held until their last deadline, and interactions that meet them, in any order."""

from collections.abc import Iterable, Iterator
from operator import itemgetter

import numpy as np

from monitor.metrics import Bools
from monitor.stream.impressions import Impressions, one_after_the_other
from monitor.stream.interactions import Interaction, Interactions, Known, Payload, side_by_side
from monitor.stream.plan import Plan
from monitor.stream.queues import Arrivals, Queue
from monitor.stream.waiting import Waiting

Stages = Iterator[tuple[int, Impressions]]
"""Stages with the impressions that are decided there; each is to be decided before the next is asked for."""


class Task:
    """The impressions and interactions of one partition number, and what is due when time passes.

    An impression goes through one queue for each stage. What comes out of each is in the order of ts, since
    nothing older than the watermark is let in.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._attribution = plan.attribution
        self._last_delay = plan.last_delay
        self._held: dict[int, float] = {}
        """When the impression of an id was shown."""
        self._arrivals = Arrivals()
        self._queues = [Queue() for _ in plan.stages[1:]]
        self._joined: dict[int, Known] = {}
        """The interactions of held impressions, by id, until clicks are decided."""
        self._left: dict[tuple[int, float], Known] = {}
        """The same for impressions whose id means another one by now, by id and ts."""
        self._waiting = Waiting()
        self.open = 0
        """Impressions that are not settled."""
        self.pending = 0
        """Interactions without a fate: those that wait, and those of held impressions."""

    def admit(self, impression: int, ts: float, watermark: float, *, late: bool) -> str:
        """Let an id mean an impression that will be held; its fate instead, where it is not to be held.

        An id may come again when the deadlines of the first have passed; from then on it means the second,
        also while the first is still to be decided.
        """
        first = self._held.get(impression)
        if first is not None and first + self._last_delay >= watermark:
            return "duplicate"
        if late:
            return "late"
        if first is not None and impression in self._joined:
            self._left[impression, first] = self._joined.pop(impression)
        self._held[impression] = ts
        if impression in self._waiting and (waited := self._waiting.take(impression, ts, self._attribution)):
            self._joined[impression] = waited
        return ""

    def hold(self, impressions: Impressions) -> None:
        """Take impressions in, each of which was admitted."""
        self.open += len(impressions)
        self._arrivals.put(impressions)

    def interact(self, impression: int, interaction: Interaction, payload: Payload, watermark: float) -> str:
        """Take an interaction in; its fate if it has one already, else an empty string."""
        ts, attribution = interaction[3], self._attribution
        shown = self._held.get(impression)
        if shown is not None and shown + attribution >= watermark and abs(ts - shown) <= attribution:
            known = self._joined.get(impression)
            if known is None:
                known = self._joined[impression] = {}
            before = len(known)
            known.setdefault(interaction, payload)
            is_new = len(known) > before
        elif ts + attribution < watermark:
            return "unmatched"
        else:
            is_new = self._waiting.add(impression, interaction, payload)
        self.pending += is_new
        return "" if is_new else "duplicate"

    def interactions_of(self, impressions: Impressions) -> Interactions:
        """Hand out what was done with impressions, once: their clicks are decided."""
        rows: list[int] = []
        known: list[Known] = []
        joined = self._joined
        if joined:
            for row, (impression, ts) in enumerate(
                zip(impressions.ids.tolist(), impressions.ts.tolist(), strict=True)
            ):
                if impression in joined and self._held[impression] == ts:
                    rows.append(row)
                    known.append(joined.pop(impression))
        if self._left:
            for row, place in enumerate(zip(impressions.ids.tolist(), impressions.ts.tolist(), strict=True)):
                if place in self._left:
                    rows.append(row)
                    known.append(self._left.pop(place))
        return side_by_side(rows, known)

    def due(self, watermark: float) -> Stages:
        """The stages whose deadline the watermark has passed, each with its impressions by ts."""
        decided = self._arrivals.passed(watermark)
        if decided:
            yield 0, decided[0]
        for number, queue in enumerate(self._queues, start=1):
            for part in decided:
                queue.put(part)
            decided = queue.passed(self._plan.stages[number].delay, watermark)
            if decided:
                decided = [one_after_the_other(decided)]
                yield number, decided[0]
        self._release(decided)

    def oldest(self, number_of: int) -> list[float]:
        """When those impressions were shown that would be evicted next: the further on, the older."""
        found: list[float] = []
        for waiting in self._oldest_first():
            found += waiting.oldest(number_of - len(found))
        return found

    def evict(self, number_of: int) -> Stages:
        """Decide the oldest impressions early, as if time had passed: the stages they had left."""
        taken: list[list[Impressions]] = []
        for waiting in self._oldest_first():
            taken.append(waiting.take(number_of))
            number_of -= sum(map(len, taken[-1]))
        yield from self._decide_early(taken)

    def evict_holding(self, interactions: int) -> Stages:
        """The same for the oldest impressions that hold interactions, until so many have their fate."""
        holding = [(self._held[i], i, len(known)) for i, known in self._joined.items()]
        holding += [(ts, i, len(known)) for (i, ts), known in self._left.items()]
        chosen: list[tuple[float, int]] = []
        for ts, impression, count in sorted(holding, key=itemgetter(0)):
            if interactions <= 0:
                break
            chosen.append((ts, impression))
            interactions -= count
        ids, places = np.array([i for _, i in chosen], dtype=np.int64), set(chosen)

        def choose(block: Impressions) -> Bools:
            found = np.isin(block.ids, ids)
            for row in np.flatnonzero(found).tolist():
                found[row] = (block.ts[row], block.ids[row]) in places
            return found

        yield from self._decide_early([waiting.pull(choose) for waiting in self._oldest_first()])

    def _oldest_first(self) -> list[Queue | Arrivals]:
        """Where impressions wait: the further on, the older."""
        return [*reversed(self._queues), self._arrivals]

    def _decide_early(self, taken: list[list[Impressions]]) -> Stages:
        """The stages that are left for impressions, given those of the last stage first."""
        decided: list[Impressions] = []
        for number, joining in enumerate(reversed(taken)):
            decided = [*joining, *decided]
            if any(map(len, decided)):
                decided = [one_after_the_other(decided)]
                yield number, decided[0]
        self._release(decided)

    def _release(self, settled: Iterable[Impressions]) -> None:
        for part in settled:
            self.open -= len(part)
            for impression, ts in zip(part.ids.tolist(), part.ts.tolist(), strict=True):
                if self._held.get(impression) == ts:
                    del self._held[impression]

    def expire(self, watermark: float) -> list[Interaction]:
        """The interactions whose impression can no longer come."""
        expired = self._waiting.expire(self._attribution, watermark)
        self.pending -= len(expired)
        return expired

    def evict_waiting(self, number_of: int) -> list[Interaction]:
        """Give up the oldest interactions that wait; fewer than asked for if there are not so many."""
        evicted = self._waiting.evict(number_of)
        self.pending -= len(evicted)
        return evicted

"""Joining: impressions held until their last deadline, and interactions that meet them, in any order."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from monitor.metrics import Bools, Floats
from monitor.stream.impressions import Impressions, one_after_the_other
from monitor.stream.interactions import (
    JOINED_BYTES,
    WAITING_BYTES,
    Interaction,
    Interactions,
    ended,
    meetings,
    side_by_side,
)
from monitor.stream.joined import Joined
from monitor.stream.plan import Plan
from monitor.stream.queues import Arrivals, Queue
from monitor.stream.waiting import Waiting

Stages = Iterator[tuple[int, Impressions]]
"""Stages with the impressions that are decided there; each is to be decided before the next is asked for."""


class Admission(NamedTuple):
    """What became of impressions that came together."""

    rows: int
    """How many of them were looked at, from the first on."""
    fates: dict[int, str]
    """Of those that will not be held, by row."""


class Task:
    """The impressions and interactions of one partition number, and what is due when time passes.

    An impression goes through one queue for each stage. What comes out of each is in the order of ts: hardly
    anything older than the watermark is let in, and a queue puts that in its place.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._attribution = plan.attribution
        self._last_delay = plan.last_delay
        self._held: dict[int, float] = {}
        """When the impression of an id was shown; kept for as long as a click on it may come."""
        self._settled: deque[tuple[float, int]] = deque()
        """Time and id of the settled ones among them."""
        self._arrivals = Arrivals()
        self._queues = [Queue() for _ in plan.stages[1:]]
        self._joined = Joined(plan.attribution)
        """The interactions of held impressions, until clicks are decided."""
        self._waiting = Waiting()
        self._marks: set[int] = set()
        """Of the interactions without a fate: one that comes again is a duplicate."""
        self.open = 0
        """Impressions that are not settled."""
        self.pending = 0
        """Interactions without a fate: those that wait, and those of held impressions."""
        self.waiting = 0
        """Those of them that wait."""
        self.impression_bytes = 0
        """About what the held impressions take in memory."""

    def admit(
        self,
        ids: Sequence[int],
        ts: Sequence[float],
        watermarks: Sequence[float],
        late: Bools,
        *,
        nothing_before: bool = True,
    ) -> Admission:
        """Let ids mean impressions that will be held, one after the other.

        An id may come again when the deadlines of the first have passed; from then on it means the second,
        also while the first is still to be decided. But what came before it belongs to the first, and is to
        be taken in before: unless it is the very first, those from there on are for another time.
        """
        held = self._held
        if not late.any() and len(set(ids)) == len(ids) and held.keys().isdisjoint(ids):
            held.update(zip(ids, ts, strict=True))
            self._welcome(ids)
            return Admission(len(ids), {})
        fates: dict[int, str] = {}
        rows = 0
        for impression, shown, watermark in zip(ids, ts, watermarks, strict=True):
            first = held.get(impression)
            if first is not None and first + self._last_delay >= watermark:
                fates[rows] = "duplicate"
            elif late[rows]:
                fates[rows] = "late"
            elif first is None or (rows == 0 and nothing_before):
                held[impression] = shown
            else:
                break
            rows += 1
        self._welcome([impression for row, impression in enumerate(ids[:rows]) if row not in fates])
        return Admission(rows, fates)

    def _welcome(self, admitted: Sequence[int]) -> None:
        """Impressions have come: what has waited for them is theirs, where it is in reach."""
        waited: list[Interaction] = []
        for impression in self._waiting.impressions & set(admitted):
            waited += self._waiting.take(impression, self._held[impression], self._attribution)
        if waited:
            done = side_by_side(waited)
            self._marks.difference_update(done._replace(shown=np.full(done.size, np.nan)).marks())
            self._marks.update(done.marks())
            self._joined.add(done)
            self.waiting -= done.size

    def hold(self, impressions: Impressions) -> None:
        """Take impressions in, each of which was admitted."""
        self.open += len(impressions)
        self.impression_bytes += impressions.size_bytes
        self._arrivals.put(impressions)

    def interact(self, done: Interactions, watermarks: Floats) -> Counter[tuple[str, str]]:
        """Take interactions in; the fates of those that have one already."""
        attribution = self._attribution
        shown = np.array(list(map(self._held.get, done.impressions.tolist())), dtype=np.float64)
        known = np.abs(done.ts - shown) <= attribution
        meets = known & (shown + attribution >= watermarks)
        done = done._replace(shown=np.where(meets, shown, np.nan))
        # Its impression is decided, or can no longer come.
        missed = ~meets & (known | (done.ts + attribution < watermarks))
        fates = ended(done.kinds[missed], "unmatched")
        is_new = ~missed
        is_new[is_new] = self._mark(done.only(is_new).marks())
        fates += ended(done.kinds[~missed & ~is_new], "duplicate")
        self.pending += int(np.count_nonzero(is_new))
        if meets.any():
            self._joined.add(done.only(meets & is_new))
        if not meets.all():
            self._waiting.add(done.only(~meets & is_new))
            self.waiting += int(np.count_nonzero(~meets & is_new))
        return fates

    @property
    def interaction_bytes(self) -> int:
        """About what the interactions take in memory."""
        return JOINED_BYTES * (self.pending - self.waiting) + WAITING_BYTES * self.waiting

    def interactions_of(self, impressions: Impressions) -> Interactions:
        """Hand out what was done with impressions, once: their clicks are decided."""
        rows, done = self._joined.take(impressions)
        self._forget(done)
        return done._replace(impressions=rows)

    def due(self, number: int, watermark: float) -> Impressions | None:
        """Take out the impressions, by ts, whose deadline of a stage the watermark has passed; None if none.

        When they are decided, they are to be passed on.
        """
        if number == 0:
            found = self._arrivals.passed(watermark)
        else:
            found = self._queues[number - 1].passed(self._plan.stages[number].delay, watermark)
        return one_after_the_other(found) if found else None

    def pass_on(self, number: int, decided: Impressions) -> None:
        """Let impressions that were decided at a stage wait for the next, or go if it was the last."""
        if number < len(self._queues):
            self._queues[number].put(decided)
        else:
            self._let_go(decided)
            self._settled.extend(zip(decided.ts.tolist(), decided.ids.tolist(), strict=True))

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
        chosen = self._joined.oldest(interactions)
        taken = [
            waiting.pull(lambda block: np.isin(meetings(block.ids, block.ts), chosen))
            for waiting in self._oldest_first()
        ]
        yield from self._decide_early(taken)

    def _oldest_first(self) -> list[Queue | Arrivals]:
        """Where impressions wait: the further on, the older."""
        return [*reversed(self._queues), self._arrivals]

    def _decide_early(self, taken: list[list[Impressions]]) -> Stages:
        """The stages that are left for impressions, given those of the last stage first."""
        decided: list[Impressions] = []
        for number, joining in enumerate(reversed(taken)):
            decided = [*joining, *decided]
            if any(map(len, decided)):
                decided = [one_after_the_other(decided).in_order()]
                yield number, decided[0]
        for part in decided:
            self._let_go(part)
            self._forget_impressions(zip(part.ts.tolist(), part.ids.tolist(), strict=True))

    def _let_go(self, impressions: Impressions) -> None:
        self.open -= len(impressions)
        self.impression_bytes -= impressions.size_bytes

    def _forget_impressions(self, found: Iterable[tuple[float, int]]) -> None:
        held = self._held
        for ts, impression in found:
            if held.get(impression) == ts:
                del held[impression]

    def expire(self, watermark: float) -> Interactions:
        """The interactions whose impression can no longer come."""
        self._forget_impressions(self._out_of_reach(watermark - 2 * self._attribution))
        expired = self._waiting.expire(self._attribution, watermark)
        self.waiting -= expired.size
        self._forget(expired)
        return expired

    def _out_of_reach(self, before: float) -> Iterator[tuple[float, int]]:
        """Settled impressions of before a time: no click that can still be waited for was theirs."""
        settled = self._settled
        while settled and settled[0][0] < before:
            yield settled.popleft()

    def evict_waiting(self, number_of: int) -> Interactions:
        """Give up the oldest interactions that wait; fewer than asked for if there are not so many."""
        evicted = self._waiting.evict(number_of)
        self.waiting -= evicted.size
        self._forget(evicted)
        return evicted

    def _mark(self, marks: list[int]) -> Bools | bool:
        """Mark interactions; which of them were not yet."""
        known = self._marks
        if len(set(marks)) == len(marks) and known.isdisjoint(marks):
            known.update(marks)
            return True
        is_new = np.zeros(len(marks), dtype=bool)
        for row, mark in enumerate(marks):
            is_new[row] = mark not in known
            known.add(mark)
        return is_new

    def _forget(self, done: Interactions) -> None:
        """Interactions have their fate."""
        if not done.size:
            return
        self.pending -= done.size
        self._marks.difference_update(done.marks())

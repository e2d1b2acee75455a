"""Joining: impressions held until their last deadline, and interactions that meet them, in any order."""

import math
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import islice
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from monitor.stream.plan import Plan

CLICK, DWELL, OUTCOME = range(3)
KINDS = ("click", "dwell", "outcome")
_ts = attrgetter("ts")

Interaction = tuple[int, int, bool, float]
"""Kind, key's hash or position, whether it is a position, and ts: two that agree in all are one."""
Payload = tuple[float, float]
"""Dwell seconds and nothing; of an outcome, success (1, 0) and scroll position. NaN where not told."""


class Held:
    """An impression that still has deadlines to come."""

    __slots__ = (
        "embeddings",
        "id",
        "interactions",
        "label_set",
        "latency",
        "query",
        "ranked",
        "shown",
        "ts",
        "was_judged",
    )

    def __init__(
        self,
        id: int,  # noqa: A002 - what else would one call it
        query: int,
        ts: float,
        ranked: "array[int]",
        label_set: int,
    ) -> None:
        self.id = id
        self.query = query
        self.ts = ts
        self.ranked = ranked
        """64-bit hashes of the keys; a key that stood twice is here once."""
        self.label_set = label_set
        self.latency = math.nan
        self.shown: array[int] | None = None
        """The ranking as sent, where a key stood in it twice: positions count in this one."""
        self.embeddings: NDArray[np.float32] | None = None
        self.interactions: dict[Interaction, Payload] | None = None
        self.was_judged = False

    def rank(self, reference: int, is_position: bool) -> int:
        """The 0-based rank that an interaction means; -1 if it is not among the ranked."""
        if is_position:
            shown = self.shown or self.ranked
            if reference > len(shown):
                return -1
            reference = shown[reference - 1]
        try:
            return self.ranked.index(reference)
        except ValueError:
            return -1


def _passed(queue: list[Held], delay: float, watermark: float) -> int:
    """How many of a queue have a deadline that the watermark has passed."""
    return bisect_left(queue, watermark, key=lambda held: held.ts + delay)


class Task:
    """The impressions and interactions of one partition number, and what is due when time passes.

    An impression goes through one queue for each stage. Only the first has to be sorted: what comes out of
    it is in the order of ts, since nothing older than the watermark is let in.
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._held: dict[int, Held] = {}
        self._arrivals: dict[int, list[Held]] = {}
        """Second of event time -> impressions that came for it, in no order."""
        self._queues: list[list[Held]] = [[] for _ in plan.stages[1:]]
        self._waiting: dict[int, dict[Interaction, Payload]] = {}
        self._waiting_by_ts: list[tuple[float, int, Interaction]] = []
        self.open = 0
        """Impressions that are not settled."""
        self.pending = 0
        """Interactions without a fate: those that wait, and those of held impressions."""

    def held(self, impression: int) -> Held | None:
        return self._held.get(impression)

    def hold(self, held: Held) -> None:
        """Take an impression in, with the interactions that were waiting for it.

        An id may come again when the deadlines of the first have passed; from then on it means the second,
        also while the first has to wait for other tasks before it is decided.
        """
        self._held[held.id] = held
        self.open += 1
        self._arrivals.setdefault(int(held.ts), []).append(held)
        waiting = self._waiting.get(held.id)
        if waiting:
            mine = [i for i in waiting if abs(i[3] - held.ts) <= self._plan.attribution]
            held.interactions = {i: waiting.pop(i) for i in mine}
            if not waiting:
                del self._waiting[held.id]

    def interact(self, impression: int, interaction: Interaction, payload: Payload, watermark: float) -> str:
        """Take an interaction in; its fate if it has one already, else an empty string."""
        ts = interaction[3]
        attribution = self._plan.attribution
        held = self._held.get(impression)
        if held is not None and abs(ts - held.ts) <= attribution and held.ts + attribution >= watermark:
            if held.interactions is None:
                held.interactions = {}
            known = held.interactions
        elif ts + attribution < watermark:
            return "unmatched"
        else:
            known = self._waiting.setdefault(impression, {})
            if interaction not in known:
                heappush(self._waiting_by_ts, (ts, impression, interaction))
        if interaction in known:
            return "duplicate"
        known[interaction] = payload
        self.pending += 1
        return ""

    def due(self, watermark: float) -> list[tuple[int, list[Held]]]:
        """The stages whose deadline the watermark has passed, each with its impressions by ts."""
        decided = self._arrived(watermark)
        stages = [(0, decided)]
        for number, queue in enumerate(self._queues, start=1):
            queue.extend(decided)
            delay = self._plan.stages[number].delay
            due = _passed(queue, delay, watermark)
            decided = queue[:due]
            del queue[:due]
            stages.append((number, decided))
        self._release(decided)
        return [(number, decided) for number, decided in stages if decided]

    def _arrived(self, watermark: float) -> list[Held]:
        """Take out what arrived for the time before the watermark."""
        arrived: list[Held] = []
        for second in [second for second in self._arrivals if second < watermark]:
            bucket = self._arrivals.pop(second)
            if second + 1 > watermark:
                if rest := [held for held in bucket if held.ts >= watermark]:
                    self._arrivals[second] = rest
                bucket = [held for held in bucket if held.ts < watermark]
            arrived += bucket
        arrived.sort(key=_ts)
        return arrived

    def oldest(self, number_of: int) -> list[float]:
        """When those impressions were shown that would be evicted next."""
        return [held.ts for held in islice(self._oldest_first(), number_of)]

    def evict(self, number_of: int) -> list[tuple[int, list[Held]]]:
        """Decide the oldest impressions early, as if time had passed: the stages they had left."""
        taken: list[list[Held]] = []
        for queue in reversed(self._queues):
            taken.append(queue[:number_of])
            del queue[:number_of]
            number_of -= len(taken[-1])
        taken.append(self._take_arrivals(set(islice(self._oldest_first(), number_of))))
        return self._decide_early(taken)

    def evict_holding(self, interactions: int) -> list[tuple[int, list[Held]]]:
        """The same for the oldest impressions that hold interactions, until so many have their fate."""
        chosen: set[Held] = set()
        for held in self._oldest_first():
            if interactions <= 0:
                break
            if held.interactions:
                chosen.add(held)
                interactions -= len(held.interactions)
        taken: list[list[Held]] = []
        for queue in reversed(self._queues):
            taken.append([held for held in queue if held in chosen])
            if taken[-1]:
                queue[:] = [held for held in queue if held not in chosen]
        taken.append(self._take_arrivals(chosen))
        return self._decide_early(taken)

    def _oldest_first(self) -> Iterator[Held]:
        """All impressions that are held: the further through the stages, the older."""
        for queue in reversed(self._queues):
            yield from queue
        for second in sorted(self._arrivals):
            yield from sorted(self._arrivals[second], key=_ts)

    def _take_arrivals(self, chosen: set[Held]) -> list[Held]:
        taken: list[Held] = []
        for second in sorted(self._arrivals) if chosen else ():
            bucket = self._arrivals.pop(second)
            taken += [held for held in bucket if held in chosen]
            if rest := [held for held in bucket if held not in chosen]:
                self._arrivals[second] = rest
            if len(taken) == len(chosen):
                break
        taken.sort(key=_ts)
        return taken

    def _decide_early(self, taken: list[list[Held]]) -> list[tuple[int, list[Held]]]:
        """The stages that are left for impressions, given those of the last stage first."""
        stages: list[tuple[int, list[Held]]] = []
        decided: list[Held] = []
        for number, joining in enumerate(reversed(taken)):
            decided = joining + decided
            if decided:
                stages.append((number, decided))
        self._release(decided)
        return stages

    def _release(self, settled: list[Held]) -> None:
        self.open -= len(settled)
        for held in settled:
            if self._held.get(held.id) is held:
                del self._held[held.id]

    def expire(self, watermark: float) -> list[Interaction]:
        """The interactions whose impression can no longer come."""
        attribution = self._plan.attribution
        expired: list[Interaction] = []
        while self._waiting_by_ts and self._waiting_by_ts[0][0] + attribution < watermark:
            expired.extend(self._take_oldest_waiting())
        return expired

    def evict_waiting(self, number_of: int) -> list[Interaction]:
        """Give up the oldest interactions that wait; fewer than asked for if there are not so many."""
        evicted: list[Interaction] = []
        while self._waiting_by_ts and len(evicted) < number_of:
            evicted.extend(self._take_oldest_waiting())
        return evicted

    def _take_oldest_waiting(self) -> list[Interaction]:
        """The oldest one, or nothing where its impression has come meanwhile."""
        _, impression, interaction = heappop(self._waiting_by_ts)
        waiting = self._waiting.get(impression, {})
        if waiting.pop(interaction, None) is None:
            return []
        if not waiting:
            del self._waiting[impression]
        self.pending -= 1
        return [interaction]

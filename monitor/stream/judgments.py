"""The judgment table: who graded what, read as it stood at any deadline that is still to come."""

import math
from collections.abc import Iterator

import numpy as np

from monitor.metrics import Floats, Ints
from monitor.stream.query_grades import NO_TARGET, Combine, Qrels
from monitor.stream.query_judgments import QueryJudgments

MAX_CACHED_GRADES = 1_000_000
VIEW_GRADES = 20
"""What a cached view takes by itself, in grades of 32 bytes."""
MAX_READ_GRADES = 1_000_000
"""Grades of different views that are handed out together."""
SLACK = 0.01
"""Of a bound: what is forgotten beyond it, or it would begin again with every judgment."""


class JudgmentTable:
    """All judgments, bounded. Over the bound the history goes first, then the queries judged longest ago."""

    def __init__(self, combine: Combine, limit: int) -> None:
        self.horizon = -math.inf
        """No deadline before this will be asked for any more: what was replaced by then can go."""
        self.live = 0
        """Judgments that hold now."""
        self.size = 0
        """Judgments in memory: those, and the ones they replaced that a deadline may still ask for."""
        self.size_bytes = 0
        """About what they take in memory."""
        self._combine = combine
        self._limit = limit
        self._queries: dict[int, QueryJudgments] = {}
        self._cached_grades = 0
        self._viewed: list[QueryJudgments] = []
        """Queries with a cached view."""

    def apply(
        self, query: int, key: int, assessor: int, ts: float, grade: float | None, target: int = NO_TARGET
    ) -> str:
        """Take a judgment in; its fate."""
        entry = self._queries.get(query)
        current = entry.newest(key, assessor) if entry else None
        graded = current is not None and not math.isnan(current[4])
        if grade is None:
            if not graded:
                return "duplicate"
            fate = "withdrawn"
        elif current is None or not graded:
            fate = "applied"
        elif current[4] == grade and current[2] == target and current[3] <= ts:
            return "duplicate"
        else:
            fate = "regraded"
        # Taken out and put back: the order of the dict is the order of last judging, for the bound.
        entry = self._queries.pop(query, None) or self._new_query()
        self._queries[query] = entry
        before = entry.size, entry.size_bytes
        entry.append((key, assessor, target, ts, math.nan if grade is None else grade), self.horizon)
        self._resized(entry, *before)
        change = {"applied": 1, "withdrawn": -1}.get(fate, 0)
        entry.live += change
        self.live += change
        return fate

    @property
    def is_full(self) -> bool:
        """Whether there are more than the bound allows."""
        return self.size > self._limit

    def evict(self, max_bytes: float = math.inf) -> int:
        """Come down to the bounds; how many judgments that held were forgotten, with their whole queries."""
        if not self.is_full and self.size_bytes <= max_bytes:
            return 0
        for entry in self._queries.values():
            if entry.live < entry.size:
                before = entry.size, entry.size_bytes
                entry.compact(math.inf)
                entry.forget_view()
                self._resized(entry, *before)
        before_live = self.live
        if self.is_full or self.size_bytes > max_bytes:
            self._forget_oldest(self._limit - int(self._limit * SLACK), max_bytes * (1 - SLACK))
        return before_live - self.live

    def _forget_oldest(self, size: int, size_bytes: float) -> None:
        forgotten: list[int] = []
        for query, entry in self._queries.items():
            if self.size <= size and self.size_bytes <= size_bytes:
                break
            forgotten.append(query)
            self.size -= entry.size
            self.size_bytes -= entry.size_bytes
            self.live -= entry.live
            entry.forget_view()
        for query in forgotten:
            del self._queries[query]

    def at_deadlines(self, queries: Ints, deadlines: Floats) -> Iterator[tuple[Ints, list[Qrels]]]:
        """The rows whose query had judgments at its deadline, and what was known of each then.

        Mostly all at once; in several parts where the views are so many and large that memory matters.
        """
        known = self._queries
        found: dict[int, Qrels] = {}
        views: dict[int, int] = {}
        asked = queries.tolist()
        # One deadline after the other, so that of one query each is read with what the one before has read.
        order = np.argsort(deadlines, kind="stable")
        for row, deadline in zip(order.tolist(), deadlines[order].tolist(), strict=True):
            if asked[row] in known and (qrels := self.at(asked[row], deadline)):
                found[row] = qrels
                views[id(qrels)] = len(qrels.keys)
                if len(views) > 1 and sum(views.values()) > MAX_READ_GRADES:
                    yield _by_row(found)
                    found, views = {}, {}
        if found:
            yield _by_row(found)
        for query in set(asked) & known.keys():
            known[query].end_timeline()

    def at(self, query: int, deadline: float) -> Qrels | None:
        """The judgments of a query as they stood at a deadline; None if there were none."""
        entry = self._queries.get(query)
        if entry is None:
            return None
        if not entry.since <= deadline < entry.until:
            self._look(entry, deadline)
        return entry.view

    def _look(self, entry: QueryJudgments, deadline: float) -> None:
        before = entry.size, entry.size_bytes
        is_new = entry.view is None
        entry.look(deadline, self._combine)
        self._resized(entry, *before)
        if is_new and entry.view is not None:
            self._cached_grades += VIEW_GRADES + len(entry.view.keys)
            self._viewed.append(entry)
            if self._cached_grades > MAX_CACHED_GRADES:
                self._forget_views(entry)

    def _forget_views(self, latest: QueryJudgments) -> None:
        for entry in self._viewed:
            if entry is not latest:
                entry.forget_view()
        self._cached_grades, self._viewed = 0, []

    def _new_query(self) -> QueryJudgments:
        entry = QueryJudgments()
        self.size_bytes += entry.size_bytes
        return entry

    def _resized(self, entry: QueryJudgments, size: int, size_bytes: int) -> None:
        self.size += entry.size - size
        self.size_bytes += entry.size_bytes - size_bytes


def _by_row(found: dict[int, Qrels]) -> tuple[Ints, list[Qrels]]:
    rows = sorted(found)
    return np.array(rows, dtype=np.int64), [found[row] for row in rows]

"""The judgment table: who graded what, read as it stood at any deadline that is still to come."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from monitor.metrics import Bools, Floats, Ints

Combine = Literal["mean", "median"]
Rows = NDArray[np.void]
NO_TARGET = 0
Row = tuple[int, int, int, float, float]
ROW = np.dtype([("key", "i8"), ("assessor", "i8"), ("target", "i8"), ("ts", "f8"), ("grade", "f8")])
"""One judgment, 40 bytes; keys, assessors and targets are 64-bit hashes. A NaN grade is a withdrawal."""
MAX_CACHED_GRADES = 1_000_000


@dataclass(frozen=True, slots=True)
class Qrels:
    """What is known of one query at one deadline, by key in ascending order."""

    keys: Ints
    grades: Floats
    targets: Ints
    """The identity of each document: its target, or its own key."""
    ideal: Floats
    """All grades, highest first."""
    relevant: int
    relevant_targets: int
    """Distinct identities among the relevant; -1 where no judgment names a target."""
    first_ts: float
    """When the earliest of them was made."""


class _Query:
    """The judgments of one query in the order in which they came, replaced ones among them for a while."""

    __slots__ = ("live", "rows", "since", "size", "until", "view")

    def __init__(self) -> None:
        self.rows: Rows = np.empty(4, dtype=ROW)
        self.size = 0
        self.live = 0
        """How many of them hold now: neither replaced nor withdrawn."""
        self.view: Qrels | None = None
        self.since, self.until = math.inf, -math.inf
        """The deadlines that the cached view is good for: since <= deadline < until."""

    def newest(self, key: int, assessor: int) -> Row | None:
        rows = self.rows[: self.size]
        of_key = (rows["key"] == key).nonzero()[0]
        for i in reversed(of_key.tolist()):
            row: Row = rows[i].item()
            if row[1] == assessor:
                return row
        return None

    def append(self, row: Row, horizon: float) -> None:
        if self.size == len(self.rows):
            if self.live < self.size:
                self.compact(horizon)
            grown = np.empty(max(4, self.size + self.size // 2 + 1), dtype=ROW)
            grown[: self.size] = self.rows[: self.size]
            self.rows = grown
        self.rows[self.size] = row
        self.size += 1
        self.forget_view()

    def compact(self, horizon: float) -> None:
        """Drop what no deadline from the horizon on can see."""
        self.rows = _still_needed(self.rows[: self.size], horizon)
        self.size = len(self.rows)
        self.forget_view()

    def forget_view(self) -> None:
        self.view, self.since, self.until = None, math.inf, -math.inf


class JudgmentTable:
    """All judgments, bounded. Over the bound the history goes first, then the queries judged longest ago."""

    def __init__(self, combine: Combine, limit: int) -> None:
        self.horizon = -math.inf
        """No deadline before this will be asked for any more: what was replaced by then can go."""
        self.live = 0
        """Judgments that hold now."""
        self.size = 0
        """Judgments in memory: those, and the ones they replaced that a deadline may still ask for."""
        self._combine = combine
        self._limit = limit
        self._queries: dict[int, _Query] = {}
        self._cached_grades = 0

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
        entry = self._queries.pop(query, None) or _Query()
        self._queries[query] = entry
        before = entry.size
        entry.append((key, assessor, target, ts, math.nan if grade is None else grade), self.horizon)
        self.size += entry.size - before
        change = {"applied": 1, "withdrawn": -1}.get(fate, 0)
        entry.live += change
        self.live += change
        return fate

    @property
    def is_full(self) -> bool:
        """Whether there are more than the bound allows."""
        return self.size > self._limit

    def evict(self) -> int:
        """Come down to the bound; how many judgments that held were forgotten, with their whole queries."""
        if not self.is_full:
            return 0
        for entry in self._queries.values():
            if entry.live < entry.size:
                self.size -= entry.size
                entry.compact(math.inf)
                self.size += entry.size
        before = self.live
        while self.size > self._limit:
            oldest = self._queries.pop(next(iter(self._queries)))
            self.size -= oldest.size
            self.live -= oldest.live
        return before - self.live

    def at_deadlines(self, queries: Ints, deadlines: Floats) -> tuple[Ints, list[Qrels]]:
        """The rows whose query had judgments at its deadline, and what was known of each then."""
        known = self._queries
        rows: list[int] = []
        found: list[Qrels] = []
        for row, (query, deadline) in enumerate(zip(queries.tolist(), deadlines.tolist(), strict=True)):
            if query in known and (qrels := self.at(query, deadline)):
                rows.append(row)
                found.append(qrels)
        return np.array(rows, dtype=np.int64), found

    def at(self, query: int, deadline: float) -> Qrels | None:
        """The judgments of a query as they stood at a deadline; None if there were none."""
        entry = self._queries.get(query)
        if entry is None:
            return None
        if not entry.since <= deadline < entry.until:
            self._look(entry, deadline)
        return entry.view

    def _look(self, entry: _Query, deadline: float) -> None:
        rows = entry.rows[: entry.size]
        known = rows["ts"] <= deadline
        entry.since = rows["ts"][known].max(initial=-math.inf)
        entry.until = rows["ts"][~known].min(initial=math.inf)
        entry.view = _qrels(rows[known], self._combine)
        self._cached_grades += len(entry.view.keys) if entry.view else 0
        if self._cached_grades > MAX_CACHED_GRADES:
            self._cached_grades = 0
            for other in self._queries.values():
                if other is not entry:
                    other.forget_view()


def _still_needed(rows: Rows, horizon: float) -> Rows:
    """Drop what no deadline from the horizon on can see."""
    keep = np.ones(len(rows), dtype=bool)
    hidden_from: dict[tuple[int, int], float] = {}
    for i in range(len(rows) - 1, -1, -1):
        key, assessor, _, ts, grade = rows[i].item()
        replaced = hidden_from.get((key, assessor), math.inf)
        keep[i] = ts < replaced and (replaced > horizon or replaced == math.inf)
        hidden_from[key, assessor] = min(replaced, ts)
        if math.isnan(grade) and ts <= horizon:
            keep[i] = False
    return rows[keep]


def _qrels(rows: Rows, combine: Combine) -> Qrels | None:
    # Stable, so that of one key and assessor the newest by arrival stands last.
    rows = rows[np.lexsort((rows["assessor"], rows["key"]))]
    keys, assessors = rows["key"], rows["assessor"]
    newest = np.ones(len(rows), dtype=bool)
    newest[:-1] = (keys[:-1] != keys[1:]) | (assessors[:-1] != assessors[1:])
    rows = rows[newest & ~np.isnan(rows["grade"])]
    if not len(rows):
        return None
    keys = np.ascontiguousarray(rows["key"])
    grades = np.ascontiguousarray(rows["grade"])
    first = np.ones(len(keys), dtype=bool)
    first[1:] = keys[1:] != keys[:-1]
    targets = _targets(rows, first)
    if not first.all():
        grades = _combined(grades, np.flatnonzero(first), combine)
        keys = keys[first]
    told = targets != NO_TARGET
    identities = np.where(told, targets, keys)
    relevant = grades > 0
    return Qrels(
        keys=keys,
        grades=grades,
        targets=identities,
        ideal=np.sort(grades)[::-1],
        relevant=int(np.count_nonzero(relevant)),
        relevant_targets=len(np.unique(identities[relevant])) if told.any() else -1,
        first_ts=float(rows["ts"].min()),
    )


def _targets(rows: Rows, first: Bools) -> Ints:
    """The identity of each key, where any of its assessors told one; of several the last."""
    targets: Ints = np.zeros(np.count_nonzero(first), dtype=np.int64)
    place = np.cumsum(first) - 1
    told = rows["target"] != NO_TARGET
    targets[place[told]] = rows["target"][told]
    return targets


def _combined(grades: Floats, starts: Ints, combine: Combine) -> Floats:
    """One grade for each key from those of its assessors."""
    parts = np.split(grades, starts[1:])
    return np.array([part.mean() if combine == "mean" else np.median(part) for part in parts])

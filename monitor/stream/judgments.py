"""The judgment table: who graded what, read as it stood at any deadline that is still to come."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from monitor.metrics import Floats

Combine = Literal["mean", "median"]
Rows = NDArray[np.void]
NO_TARGET = 0
ROW = np.dtype([("key", "i8"), ("assessor", "i8"), ("target", "i8"), ("ts", "f8"), ("grade", "f8")])
"""One judgment, 40 bytes; keys, assessors and targets are 64-bit hashes. A NaN grade is a withdrawal."""
MAX_CACHED_GRADES = 1_000_000


@dataclass(frozen=True, slots=True)
class Qrels:
    """What is known of one query at one deadline."""

    grades: dict[int, float]
    ideal: Floats
    """All grades, highest first."""
    relevant: int
    targets: dict[int, int]
    """Key to identity, where one was told."""
    relevant_targets: int
    """Distinct identities among the relevant; -1 where no judgment names a target."""
    first_ts: float
    """When the earliest of them was made."""


class _Query:
    """The judgments of one query in the order in which they came."""

    __slots__ = ("rows", "since", "size", "until", "view")

    def __init__(self) -> None:
        self.rows: Rows = np.empty(4, dtype=ROW)
        self.size = 0
        self.view: Qrels | None = None
        self.since, self.until = math.inf, -math.inf
        """The deadlines that the cached view is good for: since <= deadline < until."""

    def newest(self, key: int, assessor: int) -> Rows | None:
        rows = self.rows[: self.size]
        found = np.flatnonzero((rows["key"] == key) & (rows["assessor"] == assessor))
        return rows[found[-1]] if len(found) else None

    def append(self, row: tuple[int, int, int, float, float], horizon: float) -> None:
        if self.size == len(self.rows):
            kept = _still_needed(self.rows, horizon)
            self.size = len(kept)
            self.rows = np.empty(max(4, self.size + self.size // 2 + 1), dtype=ROW)
            self.rows[: self.size] = kept
        self.rows[self.size] = row
        self.size += 1
        self.forget_view()

    def forget_view(self) -> None:
        self.view, self.since, self.until = None, math.inf, -math.inf


class JudgmentTable:
    """All judgments, bounded; the queries that were judged longest ago are forgotten first."""

    def __init__(self, combine: Combine, limit: int) -> None:
        self.horizon = -math.inf
        """No deadline before this will be asked for any more: what was replaced by then can go."""
        self.size = 0
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
        graded = current is not None and not math.isnan(current["grade"])
        if grade is None:
            if not graded:
                return "duplicate"
            fate = "withdrawn"
        elif current is None or not graded:
            fate = "applied"
        elif current["grade"] == grade and current["target"] == target and current["ts"] <= ts:
            return "duplicate"
        else:
            fate = "regraded"
        # Taken out and put back: the order of the dict is the order of last judging, for the bound.
        entry = self._queries.pop(query, None) or _Query()
        self._queries[query] = entry
        before = entry.size
        entry.append((key, assessor, target, ts, math.nan if grade is None else grade), self.horizon)
        self.size += entry.size - before
        return fate

    def evict(self) -> int:
        """Forget whole queries, those judged longest ago, down to the bound; how many judgments went."""
        before = self.size
        while self.size > self._limit:
            oldest = next(iter(self._queries))
            self.size -= self._queries.pop(oldest).size
        return before - self.size

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
        self._cached_grades += len(entry.view.grades) if entry.view else 0
        if self._cached_grades > MAX_CACHED_GRADES:
            self._cached_grades = 0
            for other in self._queries.values():
                if other is not entry:
                    other.forget_view()


def _newest(rows: Rows) -> Rows:
    """The newest by arrival for each key and assessor."""
    last = {(key, assessor): i for i, (key, assessor) in enumerate(zip(*_pair(rows), strict=True))}
    return rows[list(last.values())]


def _pair(rows: Rows) -> tuple[list[int], list[int]]:
    return rows["key"].tolist(), rows["assessor"].tolist()


def _still_needed(rows: Rows, horizon: float) -> Rows:
    """Drop what no deadline from the horizon on can see."""
    keep = np.ones(len(rows), dtype=bool)
    hidden_from: dict[tuple[int, int], float] = {}
    for i in range(len(rows) - 1, -1, -1):
        key, assessor, _, ts, grade = rows[i].item()
        replaced = hidden_from.get((key, assessor), math.inf)
        keep[i] = ts < replaced and replaced > horizon
        hidden_from[key, assessor] = min(replaced, ts)
        if math.isnan(grade) and ts <= horizon:
            keep[i] = False
    return rows[keep]


def _qrels(rows: Rows, combine: Combine) -> Qrels | None:
    rows = _newest(rows)
    rows = rows[~np.isnan(rows["grade"])]
    if not len(rows):
        return None
    keys = rows["key"].tolist()
    grades = dict(zip(keys, rows["grade"].tolist(), strict=True))
    if len(grades) < len(keys):
        grades = dict(_combined(rows, combine))
    targets = {int(row["key"]): int(row["target"]) for row in rows if row["target"] != NO_TARGET}
    identities = {targets.get(key, key) for key, grade in grades.items() if grade > 0}
    ideal = np.sort(np.fromiter(grades.values(), dtype=float))[::-1]
    return Qrels(
        grades=grades,
        ideal=ideal,
        relevant=int(np.count_nonzero(ideal > 0)),
        targets=targets,
        relevant_targets=len(identities) if targets else -1,
        first_ts=float(rows["ts"].min()),
    )


def _combined(rows: Rows, combine: Combine) -> Iterator[tuple[int, float]]:
    middle = np.mean if combine == "mean" else np.median
    for key in np.unique(rows["key"]):
        yield int(key), float(middle(rows["grade"][rows["key"] == key]))

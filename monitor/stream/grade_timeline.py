"""The judgments of one query while the deadline moves on: a step costs what it changes, not all there is."""

import math
from bisect import bisect_left, insort
from fractions import Fraction

import numpy as np

from monitor.metrics import Floats, Ints
from monitor.stream.query_grades import (
    MANY_ASSESSORS,
    NO_TARGET,
    Combine,
    Qrels,
    Rows,
    combined,
    is_first_of_key,
    is_last_of_pair,
    qrels,
    targets_of,
)

MANY_KEYS = 64
"""If one step changes more keys than this, all of them are combined again at once."""


class _Mean:
    """The mean of grades that come and go, without the rounding errors that would add up."""

    def __init__(self, grades: list[float]) -> None:
        total = math.fsum(grades)
        self._total = Fraction(total) + Fraction(math.fsum([*grades, -total]))
        self._count = len(grades)

    def replace(self, added: list[float], removed: list[float]) -> None:
        self._total += sum(map(Fraction, added)) - sum(map(Fraction, removed))
        self._count += len(added) - len(removed)

    @property
    def grade(self) -> float:
        return float(self._total) / self._count if self._count else math.nan


class _Median:
    """The median of grades that come and go."""

    def __init__(self, grades: list[float]) -> None:
        self._grades = sorted(grades)

    def replace(self, added: list[float], removed: list[float]) -> None:
        for grade in added:
            insort(self._grades, grade)
        for grade in removed:
            del self._grades[bisect_left(self._grades, grade)]

    @property
    def grade(self) -> float:
        grades, count = self._grades, len(self._grades)
        return (grades[(count - 1) // 2] + grades[count // 2]) / 2 if count else math.nan


class GradeTimeline:
    """Reads judgments at one deadline after the other, each no earlier than the one before.

    They are as `qrels_at` takes them, and of each key and assessor only those that some deadline sees: so
    their times ascend, and each replaces the one before it.
    """

    def __init__(self, rows: Rows, deadline: float, combine: Combine) -> None:
        self._rows = rows
        self._combine = combine
        self._grades = np.ascontiguousarray(rows["grade"])
        is_first = is_first_of_key(rows)
        self._begins = is_first.nonzero()[0]
        self._ends = np.append(self._begins[1:], len(rows))
        self._key_of = np.cumsum(is_first) - 1
        self._keys = rows["key"][self._begins]
        self._names_targets = bool((rows["target"] != NO_TARGET).any())
        self._replaces = np.append(False, ~is_last_of_pair(rows)[:-1])
        """Whether a row replaces the one before it."""
        self._order = np.argsort(rows["ts"], kind="stable")
        self._times = rows["ts"][self._order]
        self._reached = int(np.searchsorted(self._times, deadline, side="right"))
        """How many of these the deadline has passed."""
        self._first = 0
        """The place of the earliest grade that holds, among these; none before it does."""
        known = rows["ts"] <= deadline
        self._holds = known & ~np.append(self._replaces[1:] & known[1:], False)
        self._running: dict[int, _Mean | _Median] = {}
        """Of keys with many assessors."""
        self._combined = self._combine_all()
        self.deadline = deadline

    @property
    def until(self) -> float:
        """The deadline from which on something changes."""
        return float(self._times[self._reached]) if self._reached < len(self._times) else math.inf

    @property
    def since(self) -> float:
        """The deadline at which something changed last."""
        return float(self._times[self._reached - 1]) if self._reached else -math.inf

    def advance(self, deadline: float) -> Qrels | None:
        """Move on to a deadline; what was known then."""
        self.deadline = deadline
        end = int(np.searchsorted(self._times, deadline, side="right"))
        changed = self._order[self._reached : end]
        self._reached = end
        replaced = changed[self._replaces[changed]] - 1
        self._holds[changed] = True
        self._holds[replaced] = False
        keys = np.unique(self._key_of[changed])
        if len(keys) > MANY_KEYS:
            self._running.clear()
            self._combined = self._combine_all()
        else:
            for key in keys.tolist():
                self._combined[key] = self._combine_one(key, changed, replaced)
        return self._view()

    def _combine_all(self) -> Floats:
        holding = (self._holds & ~np.isnan(self._grades)).nonzero()[0]
        found = np.full(len(self._keys), math.nan)
        if len(holding):
            keys, begins = np.unique(self._key_of[holding], return_index=True)
            found[keys] = combined(self._grades[holding], begins, self._combine)
        return found

    def _combine_one(self, key: int, changed: Ints, replaced: Ints) -> float:
        if key in self._running:
            running = self._running[key]
            running.replace(self._graded(key, changed), self._graded(key, replaced))
            return running.grade
        within = slice(self._begins[key], self._ends[key])
        grades = self._grades[within][self._holds[within]]
        grades = grades[~np.isnan(grades)]
        if not len(grades):
            return math.nan
        if len(grades) < MANY_ASSESSORS:
            return float(combined(grades, np.zeros(1, dtype=np.int64), self._combine)[0])
        kind = _Mean if self._combine == "mean" else _Median
        running = self._running[key] = kind(grades.tolist())
        return running.grade

    def _graded(self, key: int, rows: Ints) -> list[float]:
        grades = self._grades[rows[self._key_of[rows] == key]]
        found: list[float] = grades[~np.isnan(grades)].tolist()
        return found

    def _view(self) -> Qrels | None:
        present = ~np.isnan(self._combined)
        if not present.any():
            return None
        targets = self._targets() if self._names_targets else None
        return qrels(self._keys[present], self._combined[present], targets, self._first_ts())

    def _targets(self) -> Ints | None:
        rows = self._rows[self._holds & ~np.isnan(self._grades)]
        return targets_of(rows, is_first_of_key(rows).nonzero()[0])

    def _first_ts(self) -> float:
        # What comes later is later, so the earliest never goes back.
        while not self._holds[row := self._order[self._first]] or math.isnan(self._grades[row]):
            self._first += 1
        return float(self._times[self._first])

"""What is known of one query at one deadline: one grade for each judged document."""

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
MANY_ASSESSORS = 64
"""From so many grades of one key on, their mean is exact whatever their order, and can be kept up to date."""


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


def qrels_at(rows: Rows, deadline: float, combine: Combine) -> Qrels | None:
    """Read judgments as they stood at a deadline; None if there were none.

    They are in the order of key and assessor, and of one pair in the order in which they came.
    """
    known = rows["ts"] <= deadline
    rows = rows if known.all() else rows[known]
    holds = is_last_of_pair(rows) & ~np.isnan(rows["grade"])
    rows = rows if holds.all() else rows[holds]
    if not len(rows):
        return None
    begins = is_first_of_key(rows).nonzero()[0]
    keys = rows["key"][begins]
    grades = combined(np.ascontiguousarray(rows["grade"]), begins, combine)
    return qrels(keys, grades, targets_of(rows, begins), float(rows["ts"].min()))


def qrels(keys: Ints, grades: Floats, targets: Ints | None, first_ts: float) -> Qrels:
    """Add to the combined grades what the metrics ask for; `targets` is None where no judgment names one."""
    relevant = grades > 0
    identities = keys if targets is None else np.where(targets != NO_TARGET, targets, keys)
    return Qrels(
        keys=keys,
        grades=grades,
        targets=identities,
        ideal=np.sort(grades)[::-1],
        relevant=int(np.count_nonzero(relevant)),
        relevant_targets=-1 if targets is None else len(np.unique(identities[relevant])),
        first_ts=first_ts,
    )


def is_last_of_pair(rows: Rows) -> Bools:
    """Whether each row is the last of its key and assessor."""
    last = np.ones(len(rows), dtype=bool)
    keys, assessors = rows["key"], rows["assessor"]
    last[:-1] = (keys[:-1] != keys[1:]) | (assessors[:-1] != assessors[1:])
    return last


def is_first_of_key(rows: Rows) -> Bools:
    """Whether each row is the first of its key."""
    first = np.ones(len(rows), dtype=bool)
    first[1:] = rows["key"][1:] != rows["key"][:-1]
    return first


def targets_of(rows: Rows, begins: Ints) -> Ints | None:
    """The target of each key, where an assessor names one; of several the last. None if no judgment does."""
    named = (rows["target"] != NO_TARGET).nonzero()[0]
    if not len(named):
        return None
    targets: Ints = np.full(len(begins), NO_TARGET, dtype=np.int64)
    targets[np.searchsorted(begins, named, side="right") - 1] = rows["target"][named]
    return targets


def combined(grades: Floats, begins: Ints, combine: Combine) -> Floats:
    """One grade for each key from those of its assessors, which begin where `begins` says.

    >>> combined(np.array([1.0, 5.0, 0.0, 3.0]), np.array([0, 1]), "median")
    array([1., 3.])
    """
    if len(begins) == len(grades):
        return grades
    counts = np.diff(begins, append=len(grades))
    if combine == "median":
        by_grade = grades[np.lexsort((grades, np.repeat(np.arange(len(begins)), counts)))]
        medians: Floats = (by_grade[begins + (counts - 1) // 2] + by_grade[begins + counts // 2]) / 2
        return medians
    sums: Floats = np.add.reduceat(grades, begins)
    for key in (counts >= MANY_ASSESSORS).nonzero()[0].tolist():
        sums[key] = math.fsum(grades[begins[key] : begins[key] + counts[key]].tolist())
    return sums / counts

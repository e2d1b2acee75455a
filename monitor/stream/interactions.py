"""Interactions: what users did with impressions, side by side as columns."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from monitor.metrics import Bools, Floats, Ints

CLICK, DWELL, OUTCOME = range(3)
KINDS = ("click", "dwell", "outcome")

Identity = tuple[int, int, bool, float]
"""An interaction among those of its impression: kind, key or position, whether it is a position, and ts."""
_MIX = np.array(
    [0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93, 0x2545F4914F6CDD1D],
    dtype=np.uint64,
)
"""Odd numbers, by which unlike things are told apart in a sum."""
JOINED_BYTES, WAITING_BYTES = 300, 1000
"""About what is held of an interaction whose impression is held, and of one that waits for it."""
_TYPES = (np.int64, np.float64, np.int8, np.int64, np.bool_, np.float64, np.float64, np.float64)
"""Of the columns, in their order."""


class Interaction(NamedTuple):
    """One interaction, as the columns below have it."""

    impression: int
    shown: float
    kind: int
    reference: int
    is_position: bool
    ts: float
    told: float
    scrolled: float

    @property
    def identity(self) -> Identity:
        return self[2:6]


class Interactions(NamedTuple):
    """One row for each interaction."""

    impressions: Ints
    """What each belongs to: the id of the impression, or its row where it is scored."""
    shown: Floats
    """When that was shown; NaN where it has not come yet."""
    kinds: Ints
    references: Ints
    """The key's hash, or the position."""
    are_positions: Bools
    ts: Floats
    told: Floats
    """Dwell seconds; of an outcome success, 1 or 0. NaN where not told."""
    scrolled: Floats
    """Of an outcome how far down. NaN where not told."""

    @property
    def size(self) -> int:
        return len(self.ts)

    def only(self, rows: slice | Ints | Bools) -> "Interactions":
        """Some of the rows."""
        return Interactions._make(column[rows] for column in self)

    def one_by_one(self) -> list[Interaction]:
        """The same as objects."""
        return list(map(Interaction._make, zip(*(column.tolist() for column in self), strict=True)))

    def marks(self) -> list[int]:
        """A number for each, by which one that comes again is known.

        It is the same for two that agree in kind, reference and ts, and belong to one impression or wait for
        one of the same id.
        """
        what = (self.kinds * 2 + self.are_positions).astype(np.int64)
        parts = (meetings(self.impressions, self.ts), self.references, what, np.nan_to_num(self.shown))
        mixed = sum(part.view(np.uint64) * mix for part, mix in zip(parts, _MIX[1:], strict=True))
        marks: list[int] = np.asarray(mixed).tolist()
        return marks


def meetings(impressions: Ints, ts: Floats) -> Ints:
    """A number for each pair of id and time: an id can mean one impression now and another one later."""
    mixed: Ints = (impressions.view(np.uint64) * _MIX[0] + ts.view(np.uint64)).view(np.int64)
    return mixed


def side_by_side(interactions: Sequence[Interaction]) -> Interactions:
    """Interactions as columns, given one by one."""
    columns = zip(*interactions, strict=True) if interactions else ((),) * len(Interactions._fields)
    return Interactions(*(np.array(column, t) for column, t in zip(columns, _TYPES, strict=True)))


NOTHING_DONE = side_by_side([])


def one_after_the_other(parts: Sequence[Interactions]) -> Interactions:
    """All rows of all parts, at least one."""
    return parts[0] if len(parts) == 1 else Interactions(*map(np.concatenate, zip(*parts, strict=True)))


def ended(kinds: Ints, fate: str) -> Counter[tuple[str, str]]:
    """So many of each kind came to a fate.

    >>> ended(np.array([CLICK, OUTCOME, CLICK]), "joined")
    Counter({('click', 'joined'): 2, ('outcome', 'joined'): 1})
    """
    counts = np.bincount(kinds, minlength=len(KINDS)).tolist()
    return Counter({(kind, fate): count for kind, count in zip(KINDS, counts, strict=True) if count})

"""Impressions side by side, as columns: what is held of each until its last deadline."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monitor.metrics import Bools, Floats, Ints

Objects = NDArray[np.object_]
NO_KEY = -1
"""What no key is: hash() never gives it."""
IMPRESSION_BYTES, KEY_BYTES, OBJECT_BYTES = 300, 12, 200
"""About what is held of an impression: by itself, for each ranked key, and beside an array of its own."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Impressions:
    """One row for each impression. Ids, queries and keys are 64-bit hashes."""

    ids: Ints
    queries: Ints
    ts: Floats
    label_sets: Ints
    latency: Floats
    """Seconds; NaN where not told."""
    lengths: Ints
    """How many keys each has ranked; one that stood twice counts once."""
    keys: Ints
    """The ranked keys of all rows, one row after the other."""
    was_judged: Bools
    """Set when a maturity has found a judgment of the query."""
    shown: Objects | None = None
    """The ranking as sent, in rows where a key stood twice: positions count in this one."""
    embeddings: Objects | None = None
    """One matrix, or None, for each row; None where no row has any."""

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def size_bytes(self) -> int:
        """About what they take in memory while they are held, on the high side."""
        own = [each for column in (self.shown, self.embeddings) if column is not None for each in column]
        arrays: int = sum(each.nbytes + OBJECT_BYTES for each in own if each is not None)
        return IMPRESSION_BYTES * len(self) + KEY_BYTES * len(self.keys) + arrays

    def __getitem__(self, rows: slice | Ints | Bools) -> "Impressions":
        """Some of the rows; of a slice no number is copied."""
        lengths = self.lengths[rows]
        if isinstance(rows, slice):
            before = self.lengths[: rows.start].sum() if rows.start else 0
            keys = self.keys[before : before + lengths.sum()]
        else:
            keys = self.keys[_places(self.lengths, lengths, rows)]
        return Impressions(
            ids=self.ids[rows],
            queries=self.queries[rows],
            ts=self.ts[rows],
            label_sets=self.label_sets[rows],
            latency=self.latency[rows],
            lengths=lengths,
            keys=keys,
            was_judged=self.was_judged[rows],
            # Copied, for a view would keep the objects of all rows.
            shown=None if self.shown is None else self.shown[rows].copy(),
            embeddings=None if self.embeddings is None else self.embeddings[rows].copy(),
        )

    def in_order(self) -> "Impressions":
        """The same by time; those of one time stay as they are."""
        if (self.ts[1:] >= self.ts[:-1]).all():
            return self
        return self[np.argsort(self.ts, kind="stable")]

    def rankings(self, depth: int) -> Ints:
        """The first `depth` keys of each row as the rows of a matrix, NO_KEY behind a shorter one."""
        if (self.lengths == depth).all():
            return self.keys.reshape(len(self), depth)
        matrix = np.full((len(self), depth), NO_KEY, dtype=np.int64)
        shown = np.minimum(self.lengths, depth)
        matrix[np.arange(depth) < shown[:, np.newaxis]] = self.first_keys(shown)
        return matrix

    def first_keys(self, counts: Ints) -> Ints:
        """Of each row so many of its first keys, one row after the other."""
        if (counts == self.lengths).all():
            return self.keys
        keys: Ints = self.keys[_places(self.lengths, counts, slice(None))]
        return keys


def _places(lengths: Ints, counts: Ints, rows: slice | Ints | Bools) -> Ints:
    """Where the first `counts` keys of these rows are, among the keys of all rows, which have `lengths`."""
    begins = (np.cumsum(lengths) - lengths)[rows]
    places: Ints = np.repeat(begins - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
    return places


def one_after_the_other(parts: Sequence[Impressions]) -> Impressions:
    """All rows of all parts, at least one."""
    if len(parts) == 1:
        return parts[0]

    def joined(name: str) -> NDArray[Any]:
        return np.concatenate([getattr(part, name) for part in parts])

    def joined_objects(name: str) -> Objects | None:
        if all(getattr(part, name) is None for part in parts):
            return None
        columns = [getattr(part, name) for part in parts]
        return np.concatenate(
            [np.full(len(p), None) if c is None else c for p, c in zip(parts, columns, strict=True)]
        )

    return Impressions(
        ids=joined("ids"),
        queries=joined("queries"),
        ts=joined("ts"),
        label_sets=joined("label_sets"),
        latency=joined("latency"),
        lengths=joined("lengths"),
        keys=joined("keys"),
        was_judged=joined("was_judged"),
        shown=joined_objects("shown"),
        embeddings=joined_objects("embeddings"),
    )

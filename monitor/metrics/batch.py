"""Rankings side by side: the padded arrays that every kernel works on."""

from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Floats32 = NDArray[np.float32]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Batch:
    """Rankings side by side, one row each, padded on the right to one depth.

    A batch carries only the fields that its metrics need; the rest stay `None`. The depth may be
    smaller or larger than any cut-off: what is missing counts as padding.
    """

    lengths: Ints
    """(n,) how many keys were ranked."""
    grades: Floats | None = None
    """(n, depth) the grade at each rank; NaN where unjudged, and in the padding."""
    ideal: Floats | None = None
    """(n, m) all judged grades of the row's query, retrieved or not, highest first, padded with 0; one
    below 0 is worth no more than that."""
    relevant: Ints | None = None
    """(n,) how many judgments of the query have a grade above 0."""
    targets: Ints | None = None
    """(n, depth) the identity of each ranked document; anything in the padding."""
    relevant_targets: Ints | None = None
    """(n,) distinct identities among the relevant judgments; -1 where the judgments name no target."""
    embeddings: Sequence[Floats32 | None] | None = None
    """Per row (length, dimensions), `None` where the impression brought none."""
    label_delay: Floats | None = None
    """(n,) seconds from impression to judgment; NaN where there is nothing to observe."""
    clicks: Bools | None = None
    """(n, depth) whether the rank was clicked; False in the padding."""
    dwell: Floats | None = None
    """(n, depth) the longest dwell in seconds at the rank; NaN where there was none."""
    outcome: Floats | None = None
    """(n,) 1 successful, 0 unsuccessful, NaN where none was told."""
    scroll: Floats | None = None
    """(n,) the deepest position scrolled to; NaN where none was told."""
    latency: Floats | None = None
    """(n,) seconds; NaN where none was told."""

    def __len__(self) -> int:
        return len(self.lengths)

    def condensed(self) -> "Batch":
        """Return the same rankings without their unjudged documents; ranks close up."""
        grades = require(self.grades, "grades")
        judged = ~np.isnan(grades)
        lengths: Ints = np.count_nonzero(judged, axis=1)
        kept = np.arange(grades.shape[1]) < lengths[:, np.newaxis]
        closed_up = np.full_like(grades, np.nan)
        closed_up[kept] = grades[judged]
        targets = None
        if self.targets is not None:
            targets = np.zeros_like(self.targets)
            targets[kept] = self.targets[judged]
        embeddings = self.embeddings
        if embeddings is not None:
            embeddings = [
                None if vectors is None else vectors[np.flatnonzero(judged[row, : len(vectors)])]
                for row, vectors in enumerate(embeddings)
            ]
        return replace(self, lengths=lengths, grades=closed_up, targets=targets, embeddings=embeddings)


def require(field: T | None, name: str) -> T:
    """Return a batch's field, or say which one the caller forgot to fill."""
    if field is None:
        raise TypeError(f"the batch has no {name}, which the metric needs")
    return field


def judged_batch(
    rankings: Sequence[Sequence[float | None]],
    judged: Sequence[Sequence[float]] | None = None,
    *,
    targets: Sequence[Sequence[int]] | None = None,
    relevant_targets: Sequence[int] | None = None,
    embeddings: Sequence[Floats32 | None] | None = None,
) -> Batch:
    """Build a batch from the grades at each rank (`None`: unjudged) and all judged grades of each query.

    Without `judged` the ranked documents are all that was judged.

    >>> batch = judged_batch([[0, None, 2]], [[2, 1, 0]])
    >>> batch.grades, batch.ideal, batch.relevant
    (array([[ 0., nan,  2.]]), array([[2., 1., 0.]]), array([2]))
    """
    if judged is None:
        judged = [[grade for grade in row if grade is not None] for row in rankings]
    lengths = lengths_of(rankings)
    grades = (np.nan if grade is None else grade for grade in chain.from_iterable(rankings))
    ideal, relevant = best_order(chain.from_iterable(judged), lengths_of(judged))
    numbered = None
    if targets is not None:
        numbered = padded(chain.from_iterable(targets), lengths_of(targets), 0).astype(np.int64)
    return Batch(
        lengths=lengths,
        grades=padded(grades, lengths, np.nan),
        ideal=ideal,
        relevant=relevant,
        targets=numbered,
        relevant_targets=None if relevant_targets is None else np.array(relevant_targets, dtype=np.int64),
        embeddings=embeddings,
    )


def lengths_of(rows: Sequence[Sized]) -> Ints:
    """Return how long each row is."""
    return np.fromiter(map(len, rows), np.int64, len(rows))


def padded(values: Floats | Iterable[float], lengths: Ints, padding: float) -> Floats:
    """Lay values that come one after the other into rows of these lengths, padded on the right.

    >>> padded([1, 2, 3], np.array([2, 0, 1]), 0.0)
    array([[1., 2.],
           [0., 0.],
           [3., 0.]])
    """
    shape = len(lengths), int(lengths.max(initial=0))
    flat = values if isinstance(values, np.ndarray) else np.fromiter(values, np.float64, int(lengths.sum()))
    if flat.size == shape[0] * shape[1]:  # all are of one length
        return flat.reshape(shape)
    matrix = np.full(shape, padding)
    matrix[np.arange(shape[1]) < lengths[:, np.newaxis]] = flat
    return matrix


def best_order(grades: Iterable[float], judged: Ints) -> tuple[Floats, Ints]:
    """Return a batch's `ideal` and `relevant`, from the grades of its queries and how many each has.

    A grade below 0 gains as little as the padding, and stands as 0 among it.

    >>> best_order([0, 2, -1, 1], np.array([3, 1]))
    (array([[2., 0., 0.],
           [1., 0., 0.]]), array([1, 1]))
    """
    worst_first = padded(grades, judged, 0.0)
    np.fmax(worst_first, 0.0, out=worst_first)
    worst_first.sort(axis=1)
    ideal = np.ascontiguousarray(worst_first[:, ::-1])
    return ideal, np.count_nonzero(ideal, axis=1)

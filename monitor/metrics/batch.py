"""Rankings side by side: the padded arrays that every kernel works on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
    """(n, m) all judged grades of the row's query, retrieved or not, highest first, padded with 0."""
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
    return Batch(
        lengths=np.array([len(row) for row in rankings], dtype=np.int64),
        grades=_padded([[np.nan if grade is None else grade for grade in row] for row in rankings], np.nan),
        ideal=_padded([sorted(row, reverse=True) for row in judged], 0.0),
        relevant=np.array([sum(grade > 0 for grade in row) for row in judged], dtype=np.int64),
        targets=None if targets is None else _padded(targets, 0).astype(np.int64),
        relevant_targets=None if relevant_targets is None else np.array(relevant_targets, dtype=np.int64),
        embeddings=embeddings,
    )


def _padded(rows: Sequence[Sequence[float]], padding: float) -> Floats:
    matrix = np.full((len(rows), max(map(len, rows), default=0)), padding)
    for row, values in zip(matrix, rows, strict=True):
        row[: len(values)] = values
    return matrix

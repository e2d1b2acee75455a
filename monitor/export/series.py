"""What a closed window says: one series for each metric and label set that has samples in it."""

import math
from dataclasses import dataclass

from prometheus_client.utils import floatToGoString

from monitor.stream.plan import Column
from monitor.stream.windows import Window


def le(bound: float) -> str:
    """The upper bound of a bucket as the label says it.

    >>> le(0.0), le(0.1), le(86400.0), le(math.inf)
    ('0.0', '0.1', '86400.0', '+Inf')
    """
    return str(floatToGoString(bound))  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True)
class Series:
    """One metric of one label set in one window."""

    column: Column
    label_set: int
    """Its number among the label sets."""
    samples: int
    mean: float
    stddev: float | None
    """Of the sample (divided by n - 1); None of a single one, or where it is beyond all numbers."""
    cumulated: tuple[int, ...]
    """How many lie at or below each bound of the metric's buckets, and how many there are."""

    @property
    def bounds(self) -> list[str]:
        """What `cumulated` is counted up to."""
        return [le(bound) for bound in (*self.column.measure.metric.buckets, math.inf)]


def metric_name(column: Column) -> str:
    """What a column is called in the API and on the page: as in the config, without its cut-off."""
    if column.averaged:
        return column.family.removeprefix("vector_").removesuffix("_avg")
    return column.measure.metric.name


def series_of(window: Window, label_sets: int) -> list[Series]:
    """The series of a window, columns first, without those that have no samples.

    Only the label sets that the caller knows count: one that came up after he looked is left for next time.
    """
    cells = window.cells
    cumulated = cells.buckets[:label_sets].cumsum(axis=2).tolist()
    sums = cells.sums[:label_sets].tolist()
    squares = cells.squares[:label_sets].tolist()
    return [
        Series(
            column,
            row,
            samples := counts[i][-1],
            sums[row][i] / samples,
            _stddev(samples, sums[row][i], squares[row][i]),
            tuple(counts[i][: len(column.measure.metric.buckets) + 1]),
        )
        for i, column in enumerate(window.stage.columns)
        for row, counts in enumerate(cumulated)
        if counts[i][-1]
    ]


def _stddev(samples: int, total: float, squares: float) -> float | None:
    """Rounding can leave less than nothing where all values are equal; squares can be beyond all numbers.

    >>> _stddev(4, 2.0, 2.0), _stddev(3, 0.3, 0.1 * 0.3), _stddev(1, 0.5, 0.25), _stddev(2, 1e200, math.inf)
    (0.5773502691896257, 0.0, None, None)
    """
    if samples < 2 or math.isinf(squares):
        return None
    return math.sqrt(max(0.0, squares - total * total / samples) / (samples - 1))

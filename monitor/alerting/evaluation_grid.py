"""Evaluations of rules as numpy arrays: a row for each label set, NaN where there is no sample."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Function = Literal["sum", "avg", "last"]
"""Of the samples in a range, as `sum_over_time` and the others."""


@dataclass(slots=True)
class EvaluationGrid:
    """Evaluations at a fixed interval, and the series that were recorded at them."""

    start: int
    """Unix time of the first evaluation: a multiple of the longest step."""
    interval: int
    """Seconds between two evaluations."""
    baseline_rows: NDArray[np.intp]
    """For each row, the row of the baseline for the same metric; its own where it has none."""
    label_values: tuple[str | None, ...] = ()
    """For each row, its value of the compared label; none for the whole job."""
    recorded: dict[str, Floats] = field(default_factory=dict)
    at: slice = field(default_factory=lambda: slice(None))
    """The evaluations that are computed now."""
    slow_columns: dict[str, slice] = field(default_factory=dict)
    """For each series that is not recorded at every evaluation, at which ones it is."""
    newest: dict[tuple[str, int, int, int], Floats] = field(default_factory=dict)
    """The newest samples that were looked up: many rules read the same ones."""
    latest: tuple[object, Floats] | None = None
    """The expression that was computed last, and its result: often a part of the next one."""

    def record(self, name: str, values: Floats, slow_columns: slice | None = None) -> None:
        """Keep the samples of a series."""
        self.recorded[name] = values
        if slow_columns is not None:
            self.slow_columns[name] = slow_columns
        for key in [key for key in self.newest if key[0] == name]:
            del self.newest[key]

    def samples(self, name: str, ago: int = 0) -> Floats:
        """Those of a series some time before the evaluations that are computed now."""
        return shifted(self.recorded[name], self.columns(ago), self.at)

    def rows_with(self, label: tuple[str, str] | None) -> NDArray[np.bool_]:
        """Which rows have that value of the label; all of them if none is given."""
        if label is None:
            return np.ones(len(self.baseline_rows), dtype=bool)
        return np.array([value == label[1] for value in self.label_values])

    def columns(self, seconds: int) -> int:
        """How many evaluations there are in a time."""
        return seconds // self.interval


def shifted(values: Floats, columns: int, at: slice = slice(None)) -> Floats:
    """Some columns, of what was that many columns before."""
    if values.shape[1] == 1:
        return values  # a constant
    if columns == 0:
        return values[:, at]
    chosen = range(values.shape[1])[at]
    shifted = np.full((values.shape[0], len(chosen)), np.nan)
    before = max(0, -(-(columns - chosen.start) // chosen.step))
    if before < len(chosen):
        first = chosen[before] - columns
        shifted[:, before:] = values[:, first : chosen[-1] - columns + 1 : chosen.step]
    return shifted


def over_windows(function: Function, values: Floats, columns: int) -> Floats:
    """Over the last `columns` at each column; NaN without a sample."""
    missing = np.isnan(values)
    some = bool(missing.any())
    sums = _moving_sum(np.where(missing, 0.0, values) if some else values, columns)
    if not some and function == "sum":
        return sums
    counts = _moving_sum((~missing).astype(np.int32), columns)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(counts > 0, sums / counts if function == "avg" else sums, np.nan)


def _moving_sum(values: NDArray[Any], columns: int) -> NDArray[Any]:
    sums = np.cumsum(values, axis=1)
    moving = sums.copy()
    moving[:, columns:] -= sums[:, :-columns]
    return moving


def newest_sample(values: Floats, columns: int) -> Floats:
    """The newest sample of the last `columns` at each column."""
    missing = np.isnan(values)
    if not missing.any():
        return values
    numbers = np.arange(values.shape[1], dtype=np.int32)
    latest = np.maximum.accumulate(np.where(missing, np.int32(-1), numbers), axis=1)
    recent = (latest >= 0) & (numbers - latest < columns)
    return np.where(recent, np.take_along_axis(values, np.maximum(latest, 0), axis=1), np.nan)


def newest_of_slow(values: Floats, recorded: slice, columns: int, ago: int, at: slice) -> Floats:
    """The same for a series with a sample only at every n-th column."""
    first, every = recorded.start or 0, recorded.step or 1
    samples = values[:, recorded]
    wanted = np.arange(values.shape[1])[at] - ago
    number = (wanted - first) // every
    age = wanted - first - number * every
    found = np.full((values.shape[0], len(wanted)), np.nan)
    for back in range(-(-columns // every)):
        usable = (number >= back) & (age + back * every < columns)
        chosen = samples[:, np.where(usable, number - back, 0)]
        chosen = np.where(usable, chosen, np.nan)
        found = chosen if back == 0 else np.where(np.isnan(found), chosen, found)
    return found

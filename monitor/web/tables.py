"""What the page's tables say: the newest window of each metric, by label set."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from monitor.durations import in_words
from monitor.export.series import Series, metric_name, series_of
from monitor.metrics import Need
from monitor.stream.plan import Column, Plan, Stage
from monitor.stream.windows import Window

NEEDS = (Need.JUDGMENTS, Need.CLICKS, Need.IMPRESSION)
"""In the order in which people ask."""
CONFIDENCE = 1.96
"""Standard errors on each side of a mean that hold the true one in 95 of 100 cases."""


@dataclass(frozen=True, slots=True)
class Cell:
    """The mean of one metric and label set in the window."""

    mean: float
    samples: int
    margin: float | None
    """Half the width of its 95 % confidence interval."""


@dataclass(frozen=True, slots=True)
class Row:
    """One metric with its cut-off."""

    column: Column
    cells: dict[int, Cell]
    """By label set, where there are samples."""

    @property
    def name(self) -> str:
        k = dict(self.column.labels).get("k")
        return metric_name(self.column) + (f"@{k}" if k not in (None, "all") else "")

    @property
    def is_share(self) -> bool:
        """Whether the mean lies between 0 and 1, so that a bar can show it."""
        return self.column.measure.metric.bounds == (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Group:
    """The metrics that are decided together, and the newest window in which they were."""

    need: Need
    delay: str
    window: Window | None
    rows: list[Row]


def make_groups(plan: Plan, windows: Iterable[Window], size: float, label_sets: int) -> list[Group]:
    """Everything configured, also what has no window yet."""
    newest: dict[float, Window] = {}
    for window in windows:
        known = newest.get(window.stage.delay)
        if window.size == size and (known is None or window.start > known.start):
            newest[window.stage.delay] = window
    return [
        _group(need, stage, newest.get(stage.delay), label_sets)
        for need in NEEDS
        for stage in plan.stages
        if stage.measures(need)
    ]


def busiest(groups: Sequence[Group], label_sets: int, most: int) -> list[int]:
    """The label sets to show, at most so many, those with the most samples."""
    samples = [0] * label_sets
    for group in groups:
        for row in group.rows:
            for number, cell in row.cells.items():
                samples[number] += cell.samples
    return sorted(range(label_sets), key=lambda number: -samples[number])[:most]


def _group(need: Need, stage: Stage, window: Window | None, label_sets: int) -> Group:
    found: dict[Column, dict[int, Cell]] = {}
    for series in series_of(window, label_sets) if window else ():
        found.setdefault(series.column, {})[series.label_set] = _cell(series)
    rows = [
        Row(column, found.get(column, {})) for column in stage.columns if column.measure.metric.need is need
    ]
    return Group(need, in_words(stage.delay), window, rows)


def _cell(series: Series) -> Cell:
    margin = None
    if series.stddev is not None:
        margin = CONFIDENCE * series.stddev / math.sqrt(series.samples)
    return Cell(series.mean, series.samples, margin)

"""The detector computed with numpy over a grid of evaluations: what is recorded, and what fires."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from monitor.alerting.detector import PREFIX, Detector
from monitor.alerting.evaluation_grid import EvaluationGrid, Floats
from monitor.alerting.quality_inputs import quality_metrics
from monitor.durations import in_words

WARNING, CRITICAL = 1, 2


class Row(NamedTuple):
    """A label set that is watched: a metric, of one value of the label or of the whole job."""

    metric: str
    value: str | None = None


def evaluate(
    detector: Detector, rows: Sequence[Row], inputs: Mapping[str, Floats], start: int
) -> EvaluationGrid:
    """What the rules record, given `impressions`, `value` and `squares` of each row at each evaluation.

    A series that is among the inputs is not computed.
    """
    values = detector.values
    index = {row: number for number, row in enumerate(rows)}
    baseline = [index.get(Row(row.metric, values.baseline), number) for number, row in enumerate(rows)]
    grid = EvaluationGrid(
        start=start,
        interval=values.evaluation_interval,
        baseline_rows=np.array(baseline, dtype=np.intp),
        label_values=tuple(row.value for row in rows),
    )
    grid.recorded = {PREFIX + name: array for name, array in inputs.items()}
    constants = {metric.name: metric.constants for metric in quality_metrics(values)}
    for name in next(iter(constants.values())):
        grid.recorded[PREFIX + name] = np.array([[constants[row.metric][name]] for row in rows])
    shape = grid.recorded[PREFIX + "impressions"].shape
    every = detector.settings.slow_interval // grid.interval
    slow = slice(-(start // grid.interval) % every, None, every)
    for rule in detector.rules():
        if rule.key in grid.recorded:
            continue
        at = slow if rule.slow else slice(None)
        if at != grid.at:
            grid.at, grid.latest = at, None
        value = rule.expression.over(grid)
        grid.latest = (rule.expression, value)
        recorded = np.full(shape, np.nan) if rule.slow else np.empty(shape)
        recorded[:, grid.at] = value
        grid.record(rule.key, recorded, slow if rule.slow else None)
    grid.at, grid.latest = slice(None), None
    return grid


def firing(detector: Detector, grid: EvaluationGrid, rows: Sequence[Row], against: str) -> Floats:
    """For each row and evaluation whether the alert fires, and how bad it is; without `keep_firing_for`."""
    constants = {metric.name: metric.constants for metric in quality_metrics(detector.values)}
    critical = np.array([[constants[row.metric]["critical_size"]] for row in rows])
    min_change = grid.recorded[f"{PREFIX}min_change:{against}"]
    min_zscore = grid.recorded[f"{PREFIX}min_zscore:{against}"]
    severity = np.zeros(min_change.shape)
    settings = detector.settings
    for window in settings.windows if against == "history" else settings.baseline_windows:
        names = (f"{name}:{against}:{in_words(window)}" for name in ("change", "zscore"))
        read = detector.newest if detector.is_slow(window) else detector.series
        change, zscore = (read(name).over(grid) for name in names)
        grid.newest.clear()
        fires = (change >= min_change) & (zscore >= min_zscore)
        severity = np.maximum(severity, np.where(fires, np.where(change >= critical, CRITICAL, WARNING), 0))
    return severity

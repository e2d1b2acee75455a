"""The rules that are shipped, evaluated by the same expressions that are rendered for Prometheus."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.detection.traffic import Counts
from monitor.alerting.detector import PREFIX, Detector, Rule
from monitor.alerting.evaluation_grid import EvaluationGrid
from monitor.alerting.evaluator import Row, evaluate
from monitor.alerting.values import Values
from monitor.durations import in_words

Floats = NDArray[np.float64]
LABEL_SETS = 105
"""Of an installation: five metrics, each for the job and for 20 values of the label."""
AGAINST_BASELINE = 100
"""Comparisons with the baseline in an installation: five metrics of 20 values beside it."""


class Half(Detector):
    """The rules of one of the two comparisons, without those that only the other one reads."""

    def __init__(self, values: Values, against: str) -> None:
        super().__init__(values)
        self.against = against

    def rules(self) -> list[Rule]:
        return [
            rule
            for rule in super().rules()
            if rule.labels.get("against", self.against) == self.against and rule.name != "missing_impressions"
        ]


def record(detector: Half, rows: Sequence[Row], counts: Sequence[Counts]) -> EvaluationGrid:
    """What Prometheus records for these label sets, as if there were all those of an installation."""
    each = [one.increases() for one in counts]
    inputs = {name: np.array([increases[name] for increases in each]) for name in each[0]}
    inputs["compared"] = np.full((len(rows), 1), float(LABEL_SETS))
    return evaluate(detector, rows, inputs, 0)


def certainty(detector: Half, grid: EvaluationGrid) -> Floats:
    """For each row and minute the largest z-score of a change that matters, in units of what fires."""
    min_change = grid.recorded[f"{PREFIX}min_change:{detector.against}"]
    min_zscore = grid.recorded[f"{PREFIX}min_zscore:{detector.against}"]
    best = np.zeros(min_zscore.shape)
    with np.errstate(invalid="ignore"):
        settings = detector.settings
        for window in settings.windows if detector.against == "history" else settings.baseline_windows:
            name = f"{detector.against}:{in_words(window)}"
            read = detector.newest if detector.is_slow(window) else detector.series
            change, zscore = (read(f"{kind}:{name}").over(grid) for kind in ("change", "zscore"))
            grid.newest.clear()
            best = np.fmax(best, (change >= min_change) * zscore)
        found: Floats = best / min_zscore
    return found

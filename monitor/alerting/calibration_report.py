"""What was measured and what follows from it: how soon drops are found, and which values should differ."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from monitor.alerting.calibration import Measured, measure, worst_share
from monitor.alerting.detection_power import Found, Power, bound
from monitor.alerting.evaluator import Row
from monitor.alerting.hourly_history import MOST_VALUES, History
from monitor.alerting.quality_inputs import QualityMetric, quality_metrics
from monitor.alerting.values import BudgetBurn, Drop, Values
from monitor.durations import in_words
from monitor.visible import short, visible

CHANGES = (0.025, 0.05, 0.1)
"""The changes whose time to detection is reported: shares of the level, or points."""
MANY_VALUES = 50
"""Values of the label beyond which the rules are expensive."""
DAY_SECONDS = 86400
LEAST_OBJECTIVE = 0.1
"""Below it nearly every impression is low, and a budget means nothing."""
STEP = 0.005
"""A raised `min_drop` is rounded up to a multiple of this."""


@dataclass(frozen=True, slots=True)
class CalibratedMetric:
    """One metric of the job, or of one value of the label."""

    metric: QualityMetric
    value: str | None
    measured: Measured
    power: Power

    @property
    def found(self) -> list[Found]:
        """How soon each of the changes is found."""
        return [self.power.found(change) for change in CHANGES]


class Calibration:
    """Everything that was measured, for one set of values."""

    def __init__(self, values: Values, history: History) -> None:
        self.given, self.history = values, history
        self.bound = bound(values.detection, history.compared, baseline=values.label is not None)
        self.raised = dict(_raised(history))
        self.values = _with(values, self.raised)
        self.lines = [
            self._line(metric, row)
            for metric in quality_metrics(self.values)
            for row in history.rows
            if row.metric == metric.name
        ]

    def _line(self, metric: QualityMetric, row: Row) -> CalibratedMetric:
        measured = measure(self.history.rows[row], metric)
        return CalibratedMetric(
            metric, row.value, measured, Power(measured, metric, self.given.detection, self.bound)
        )

    @property
    def span(self) -> str:
        """From when to when."""
        start, end = (
            datetime.fromtimestamp(t, UTC).strftime("%Y-%m-%d %H:%M")
            for t in (self.history.start, self.history.end)
        )
        return f"{start} to {end} UTC"

    def notes(self) -> Iterator[str]:
        """What somebody should know or do."""
        history, detection = self.history, self.given.detection
        yield (
            f"The rules compare {history.compared} label sets, so a change needs {self.bound:.2f} standard "
            f"errors (min_zscore is {detection.min_zscore:g})."
        )
        if history.days < detection.days:
            yield (
                f"There are {history.days} days of data. Until there are {detection.days}, the rules need "
                f"{detection.first_week_zscore:g} standard errors and find changes later than shown here."
            )
        for metric in history.absent:
            yield f"{metric.title} is not configured: it has no series, so {metric.alert} never fires."
        yield from self._label_notes()
        yield from self._incident_notes()
        for metric, size in self.raised.items():
            yield (
                f"{metric.title} varies more from day to day than {metric.alert} allows "
                f"({_smallest(metric):g}): the values file raises it to {size:g}."
            )
        yield from self._objective_notes()

    def _label_notes(self) -> Iterator[str]:
        label, known, baseline = self.given.label, self.history.label_values, self.given.baseline
        if label is None:
            return
        number = len(known)
        if not number:
            yield f"{label} has no values but unknown and other, so only the whole job is watched."
        elif baseline not in known:
            yield (
                f"{label} has no value {baseline}, so nothing is compared with a baseline: set `baseline` to "
                f"one of its values, such as {visible(short(known[0]))}."
            )
        if number > MANY_VALUES:
            yield (
                f"{label} has {number} values. The rules compute every window for each value, which is "
                f"expensive beyond {MANY_VALUES}: set `label` to one with fewer values, or to null."
            )
        if number > MOST_VALUES:
            left_out = number - MOST_VALUES
            yield f"The {MOST_VALUES} busiest values of {label} are listed; {left_out} are left out."
        for metric in self.history.metrics:
            own = [line for line in self.lines if line.metric.name == metric.name and line.value is not None]
            blind = sum(line.found[-1].window is None for line in own)
            if blind:
                size = _size(metric, CHANGES[-1])
                longest = in_words(self.given.detection.windows[-1])
                yield (
                    f"{metric.title}: {blind} of {len(own)} values of {label} have too little traffic "
                    f"to find even {size} within {longest}."
                )
            for line in own:
                if _noisy(line.measured, metric):
                    yield (
                        f"{metric.title} of {visible(line.value or '')} varies by "
                        f"{_size(metric, line.measured.daily_noise)} from day to day, more than "
                        f"{metric.alert} allows ({_smallest(metric):g})."
                    )

    def _incident_notes(self) -> Iterator[str]:
        for line in self.lines:
            for day in line.measured.bad_days if line.value is None else ():
                start = self.history.start + day * DAY_SECONDS
                begin, end = (
                    datetime.fromtimestamp(t, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
                    for t in (start, start + DAY_SECONDS)
                )
                yield (
                    f"{line.metric.title} was far worse from {begin} to {end} than on other days. "
                    f"If it was an incident, set `detection: {{ignore: [{{from: {begin}, to: {end}}}]}}` "
                    "in --values, and calibrate again."
                )

    def objective(self) -> float | None:
        """The share of impressions above `low` on the worst day, rounded down; none if nearly all are low."""
        job = self.history.rows.get(Row("ndcg"))
        if job is None or self.history.low is None:
            return None
        worst = worst_share(self.history.low, job.count, self.given.comparison.min_samples)
        if worst is None:
            return None
        rounded = math.floor(worst * 100 + 1e-9) / 100
        return min(rounded, 0.99) if rounded >= LEAST_OBJECTIVE else None

    def _objective_notes(self) -> Iterator[str]:
        objective, burn = self.objective(), self.given.VectorNDCGBudgetBurn
        if objective is None or "VectorNDCGBudgetBurn" in self.given.left_out:
            return
        above = f"On the worst day {objective:.0%} of the impressions had an NDCG above {burn.low:g}"
        if burn.objective is None:
            yield f"{above}: VectorNDCGBudgetBurn is off until it has an objective, such as {objective:g}."
        elif objective < burn.objective:
            yield f"{above}, less than the objective of VectorNDCGBudgetBurn ({burn.objective:g})."


def _noisy(measured: Measured, metric: QualityMetric) -> bool:
    """Whether days differ by more than the alert counts, where chance does not hide that."""
    return measured.daily_chance < _smallest(metric) < measured.daily_noise


def _raised(history: History) -> Iterator[tuple[QualityMetric, float]]:
    """Metrics whose days differ by more than the smallest change of their alert, and a better size."""
    for metric in history.metrics:
        job = history.rows.get(Row(metric.name))
        if job is not None and _noisy(measured := measure(job, metric), metric):
            yield metric, min(round(math.ceil(measured.daily_noise / STEP) * STEP, 6), 0.5)


def _smallest(metric: QualityMetric) -> float:
    return metric.constants["warning_size"]


def _size(metric: QualityMetric, change: float) -> str:
    """A change in words: of the level, or in points."""
    return f"{100 * change:.2g}%" if isinstance(metric.size, Drop) else f"{100 * change:.2g} points"


def _with(values: Values, raised: dict[QualityMetric, float]) -> Values:
    """The same values where these alerts need a larger change, and keep the distance to a critical one."""
    changed = {}
    for metric, size in raised.items():
        warning, critical = (
            ("min_drop", "critical_drop") if isinstance(metric.size, Drop) else ("min_rise", "critical_rise")
        )
        factor = metric.constants["critical_size"] / metric.constants["warning_size"]
        changed[metric.alert] = metric.size.model_copy(
            update={warning: size, critical: round(min(size * factor, 0.99), 6)}
        )
    return values.model_copy(update=changed)


def suggested_budget(objective: float) -> BudgetBurn:
    """A budget with factors that can be reached: where much is allowed, all being bad is not much more."""
    try:
        return BudgetBurn.model_validate({"objective": objective})
    except ValueError:
        budget = 1 - objective
        fast, slow = (math.floor(100 * (1 + part * (1 - budget) / budget)) / 100 for part in (0.5, 0.25))
        return BudgetBurn.model_validate(
            {"objective": objective, "fast": {"factor": fast}, "slow": {"factor": slow}}
        )

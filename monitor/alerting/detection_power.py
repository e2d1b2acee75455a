"""Which changes the windows of the detector find, and how soon, at the measured traffic and noise."""

import math
from dataclasses import dataclass
from typing import NamedTuple

from monitor.alerting.calibration import HOUR, Measured
from monitor.alerting.detection_values import Detection
from monitor.alerting.quality_inputs import QualityMetric
from monitor.alerting.values import Drop

LARGEST, ROUNDS = 0.999, 50


class Found(NamedTuple):
    """How soon a change is found."""

    window: int | None
    """The shortest window that is sure of it; none if no window is."""
    missing: float = 0.0
    """How many more impressions the longest window would need; infinite where the level is 0."""
    too_small: bool = False
    """Whether the alert does not count a change of that size at all."""


def bound(settings: Detection, compared: int, *, baseline: bool) -> float:
    """Standard errors that a change needs, given the number of label sets that are compared."""
    return math.sqrt(settings.min_zscore**2 + 2 * math.log(max(1, compared) * (2 if baseline else 1)))


@dataclass(frozen=True, slots=True)
class Power:
    """Which changes of a label set the windows find, at its usual traffic."""

    measured: Measured
    metric: QualityMetric
    settings: Detection
    bound: float

    def impressions(self, window: int) -> float:
        """How many a window has."""
        return self.measured.traffic.mean * window / HOUR

    def smallest(self, window: int) -> float | None:
        """The smallest change that a window is sure of; none where it has too few impressions."""
        if self.impressions(window) < self.settings.min_samples:
            return None
        change = LARGEST
        for _ in range(ROUNDS):  # a share has another variance after the change
            change = math.sqrt(self._needed(min(change, LARGEST), window) / self.impressions(window))
        return change if change < LARGEST else None

    def found(self, change: float) -> Found:
        """How soon a change is found."""
        if change < self.min_change:
            return Found(None, too_small=True)
        for window in self.settings.windows:
            if self.impressions(window) >= max(
                self._needed(change, window) / change**2, self.settings.min_samples
            ):
                return Found(window)
        longest = self.settings.windows[-1]
        needed = max(self._needed(change, longest) / change**2, self.settings.min_samples)
        return Found(None, missing=needed - self.impressions(longest))

    @property
    def min_change(self) -> float:
        """The smallest change that the alert counts."""
        constants = self.metric.constants
        points = constants["min_points"] / self.measured.level if self.measured.level > 0 else math.inf
        return max(constants["warning_size"], points if constants["min_points"] else 0.0)

    def _needed(self, change: float, window: int) -> float:
        """Impressions times the squared change that they are sure of."""
        measured = self.measured
        unit = measured.level if isinstance(self.metric.size, Drop) else 1.0
        if unit <= 0:
            return math.inf
        mean = measured.level + (change / 2 if self.metric.rises else -change * unit / 2)
        variance = max(measured.variance, mean * (1 - mean) if self.metric.is_share else 0.0)
        inflation = measured.inflation_of(window)
        past = 1 + 1 / self.settings.days
        return self.bound**2 * variance * inflation * past / unit**2

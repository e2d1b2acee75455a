"""Other detectors that run as Prometheus rules and survive gaps, on the same sums of each minute."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.detection.episodes import held
from benchmarks.detection.shapes import DAY, WEEK
from benchmarks.detection.shipped import Half
from benchmarks.detection.traffic import Counts, Kind
from monitor.alerting.detector import PREFIX
from monitor.alerting.evaluation_grid import EvaluationGrid

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
SIZES = {"empty": 0.03}
"""What counts as a regression: 5% of the mean or 5 points, but 3 points of empty results."""
SMALLEST = {"abandonment": 0.02, "empty": 0.01}
"""The smallest one that a sum of evidence is made for: 2.5%, or these points."""
WINDOWS = (5, 10, 20, 45, 90, 180, 360, 720, 1440)
LLR_BOUND = 18.0
CUSUM_BOUND = 18.0


@dataclass(frozen=True)
class Series:
    """One label set: its counters, and what the shipped rules recorded of it."""

    counts: Counts
    kind: Kind
    detector: Half
    grid: EvaluationGrid
    row: int

    def recorded(self, name: str) -> Floats:
        samples: Floats = self.grid.recorded[PREFIX + name][self.row]
        return samples

    def newest(self, name: str) -> Floats:
        """Of a series that is recorded every ten minutes."""
        return filled(self.recorded(name), 15)

    def worse(self, now: Floats, then: Floats) -> Floats:
        """By how much: a share of what it was, or points."""
        return then - now if self.kind.rises else 1 - now / then


def yesterday(series: Series) -> Flags:
    """5 minutes against the same 5 minutes yesterday, the rule in most tutorials: worse by 5%."""
    now = _mean(series)
    return series.worse(now, ago(now, DAY)) >= SIZES.get(series.kind.name, 0.05)


def first_version(series: Series) -> Flags:
    """This project's rule in 0.1: 30 minutes, z-score 4, 5% worse than yesterday and last week, for 10m.

    Its correction for judged coverage is left out, which makes it faster.
    """
    increases = series.counts.increases(guarded=False)
    count, value, squares = (window(increases[name], 30) for name in ("impressions", "value", "squares"))
    mean = np.where(count >= 500, value / count, np.nan)
    error = (squares / count - mean**2) / count
    fires = np.ones(len(mean), dtype=bool)
    for distance in (DAY, WEEK):
        then, then_error = ago(mean, distance), ago(error, distance)
        sure = (then - mean) / np.sqrt(error + then_error) >= 4
        worse = series.worse(mean, then) >= SIZES.get(series.kind.name, 0.05)
        fires &= (sure & worse) | (np.isnan(then) if distance == WEEK else False)
    return held(fires, 10)


def grafana(series: Series) -> Flags:
    """grafana/promql-anomaly-detection, rules/adaptive.yml as published, on the mean of 5 minutes."""
    level = _mean(series)
    level = np.where(level > 0, level, np.nan)
    mean, spread = window_mean(level, 60), window_spread(level, 60)
    short_term = window_mean(np.where(spread > 0.5 * mean, spread, np.nan), 26 * 60)
    lower = [mean - 2 * short_term, 0.5 * mean]
    upper = [mean + 2 * short_term, 1.5 * mean]
    for distance in (DAY - 30, WEEK - 30):
        lower.append(ago(mean - 2 * spread, distance))
        upper.append(ago(mean + 2 * spread, distance))
    return held((level < np.fmin.reduce(lower)) | (level > np.fmax.reduce(upper)), 5)


def likelihood_ratio(series: Series) -> Flags:
    """Generalised log-likelihood ratio over windows (Lai, 1995), against the same hour of seven days."""
    usual = series.recorded("value:base") / series.recorded("impressions:base")
    impressions = series.recorded("impressions")
    loss = impressions * usual - series.recorded("value")
    variance = series.newest("variance") * series.recorded("base_noise")
    fires = np.zeros(len(loss), dtype=bool)
    for minutes in WINDOWS:
        lost, count = window(loss, minutes), window(impressions, minutes)
        fires |= (lost > 0) & (count >= 50) & (lost**2 / (2 * variance * count) >= LLR_BOUND)
    return fires


def cusum(series: Series) -> Flags:
    """CUSUM (Page, 1954) of the evidence for the smallest drop, with weekday factor and inflation."""
    expected, loss = series.recorded("expected"), series.recorded("loss")
    impressions = series.recorded("impressions")
    least = SMALLEST.get(series.kind.name)
    size = 0.025 * expected if least is None else least * impressions
    variance = series.newest("variance") * np.fmax(series.newest("inflation:6h"), 1.0)
    gained = size * (loss - size / 2) / (variance * impressions)
    total = np.cumsum(np.nan_to_num(gained, posinf=0.0, neginf=0.0))
    least_so_far = np.minimum.accumulate(np.minimum(total, 0.0))
    reached: Flags = total - least_so_far >= CUSUM_BOUND
    return reached


RIVALS: Mapping[str, Callable[[Series], Flags]] = {
    "5m against yesterday": yesterday,
    "rule of 0.1": first_version,
    "grafana/promql-anomaly-detection": grafana,
    "LLR over windows": likelihood_ratio,
    "CUSUM": cusum,
}


def fires(rival: Callable[[Series], Flags], series: Series) -> Flags:
    """When it fires; a comparison with nothing is false."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return rival(series)


def _mean(series: Series) -> Floats:
    increases = series.counts.increases(guarded=False)
    mean: Floats = increases["value"] / increases["impressions"]
    return 1 - mean if series.kind.rises else mean


def ago(values: Floats, minutes: int) -> Floats:
    return np.concatenate([np.full(minutes, np.nan), values[:-minutes]])


def filled(values: Floats, minutes: int) -> Floats:
    """The newest sample of the last minutes."""
    numbers = np.arange(len(values))
    latest = np.maximum.accumulate(np.where(np.isnan(values), -1, numbers))
    return np.where((latest >= 0) & (numbers - latest < minutes), values[latest], np.nan)


def window(values: Floats, minutes: int) -> Floats:
    """The sum of the samples of the last minutes; 0 without any."""
    sums = np.cumsum(np.nan_to_num(values))
    sums[minutes:] -= sums[:-minutes].copy()
    return sums


def window_mean(values: Floats, minutes: int) -> Floats:
    mean: Floats = window(values, minutes) / window((~np.isnan(values)).astype(float), minutes)
    return mean


def window_spread(values: Floats, minutes: int) -> Floats:
    mean = window_mean(values, minutes)
    return np.sqrt(np.maximum(window_mean(values**2, minutes) - mean**2, 0.0))

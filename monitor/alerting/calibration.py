"""What the last weeks say about a label set: its level, its traffic and its noise."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.alerting.detection_values import Detection
from monitor.alerting.detector import MAX_SURPRISE
from monitor.alerting.evaluation_grid import Floats
from monitor.alerting.quality_inputs import QualityMetric
from monitor.alerting.values import Drop

Flags = NDArray[np.bool_]
HOUR = 3600
HOURS_OF_DAY = 24
SHORT, LONG, DAY = 1, 6, 24
"""Hours of the blocks over which noise is measured."""
MAD_TO_SD = 1.4826
INCIDENT = 4.0
"""Standard deviations by which a day must be worse to be taken for an incident."""


@dataclass(frozen=True, slots=True)
class HourlySums:
    """Sums of one label set, hour by hour; NaN where there are none. They begin with a whole day."""

    count: Floats
    value: Floats
    squares: Floats

    def without(self, left_out: Flags) -> "HourlySums":
        """The same, with nothing in the hours that are true."""
        return HourlySums(*(np.where(left_out, np.nan, a) for a in (self.count, self.value, self.squares)))

    @property
    def days(self) -> int:
        """Days with any impressions."""
        return int((np.nansum(self.count.reshape(-1, HOURS_OF_DAY), axis=1) > 0).sum())


class HourlyTraffic(NamedTuple):
    """Impressions an hour: the mean, and those of the quietest and the busiest hour of the day."""

    mean: float
    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Measured:
    """What a label set was like."""

    level: float
    variance: float
    """Of one impression, within a day."""
    traffic: HourlyTraffic
    inflation: float
    """How many times as large the variance of an hour is as independent impressions would make it."""
    long_inflation: float
    """The same of six hours."""
    daily_noise: float
    """Standard deviation of the days that chance does not explain: a share of the level, or points."""
    daily_chance: float
    """Standard deviation of the days by chance, in the same unit."""
    bad_days: tuple[int, ...] = ()
    """Days that were far worse than the others: probably incidents."""

    def inflation_of(self, seconds: int) -> float:
        """That of a window, on the line through those of one and six hours; it stays the same beyond six.

        Sessions inflate all windows alike. A level that wanders does so in proportion to the impressions.
        """
        longer = (min(seconds / HOUR, LONG) - SHORT) / (LONG - SHORT)
        return max(1.0, self.inflation + longer * (self.long_inflation - self.inflation))


def measure(sums: HourlySums, metric: QualityMetric) -> Measured:
    """Level, variance, traffic and noise."""
    count, value, squares = (
        np.nan_to_num(a).reshape(-1, HOURS_OF_DAY) for a in (sums.count, sums.value, sums.squares)
    )
    level = value.sum() / count.sum()
    by_day = count.sum(axis=1)
    spread = squares.sum(axis=1) - np.divide(
        value.sum(axis=1) ** 2, by_day, out=np.zeros_like(by_day), where=by_day > 0
    )
    variance = max(float(spread.sum() / count.sum()), 0.0)
    if metric.is_share:
        variance = max(variance, level * (1 - level))
    blocks = {hours: _changes(count, value, hours, variance, metric) for hours in (SHORT, LONG, DAY)}
    inflation = _inflation(blocks[SHORT], metric)
    return Measured(
        level=float(level),
        variance=variance,
        traffic=_traffic(sums.count),
        inflation=inflation,
        long_inflation=max(inflation, _inflation(blocks[LONG], metric) - _error(blocks[LONG])),
        daily_noise=_beyond_chance(blocks[DAY]),
        daily_chance=float(np.sqrt(np.mean(blocks[DAY].chance))) if blocks[DAY].chance.size else 0.0,
        bad_days=tuple(_bad_days(blocks[DAY], metric)),
    )


def _traffic(count: Floats) -> HourlyTraffic:
    by_hour = count.reshape(-1, HOURS_OF_DAY)
    known = np.isfinite(by_hour)
    seen = known.any(axis=0)
    means = np.where(known, by_hour, 0).sum(axis=0)[seen] / known.sum(axis=0)[seen]
    return HourlyTraffic(float(np.nanmean(count)), float(means.min()), float(means.max()))


class _Changes(NamedTuple):
    """For each block: how much worse it is than those hours of other days, and the variance by chance."""

    number: NDArray[np.intp]
    change: Floats
    chance: Floats


def _changes(count: Floats, value: Floats, hours: int, variance: float, metric: QualityMetric) -> _Changes:
    """As the detector computes them, with all other days as what is usual."""
    base = count.sum(axis=0) - count
    known = (base >= 1) & (count > 0)
    safe_base = np.where(known, base, 1.0)
    usual = (value.sum(axis=0) - value) / safe_base
    counted = np.where(known, count, 0.0)
    expected, actual = counted * usual, np.where(known, value, 0.0)
    noise = counted * (1 + np.minimum(counted / safe_base, 1.0))
    n, wanted, got, noisy = (a.reshape(-1, hours).sum(axis=1) for a in (counted, expected, actual, noise))
    unit = wanted if isinstance(metric.size, Drop) else n
    there = (n > 0) & (unit > 0)
    loss = (wanted - got)[there] * (-1.0 if metric.rises else 1.0)
    return _Changes(np.flatnonzero(there), loss / unit[there], variance * noisy[there] / unit[there] ** 2)


def _inflation(blocks: _Changes, metric: QualityMetric) -> float:
    """Mean of squared standard scores, each capped as in the rules: an incident is not noise."""
    if not blocks.change.size or not np.all(blocks.chance > 0):
        return 1.0
    most = np.maximum(metric.constants["warning_size"] ** 2 / blocks.chance, MAX_SURPRISE)
    return max(1.0, float(np.mean(np.minimum(blocks.change**2 / blocks.chance, most))))


def _error(blocks: _Changes) -> float:
    """Standard error of an inflation: with few long blocks, chance can make it look larger."""
    return math.sqrt(2 / max(blocks.change.size, 1))


def _beyond_chance(blocks: _Changes) -> float:
    """Without chance, and by the median, so that one incident does not count."""
    if blocks.change.size < 2:
        return 0.0
    deviation = np.median(np.abs(blocks.change - np.median(blocks.change))) * MAD_TO_SD
    return math.sqrt(max(0.0, float(deviation**2 - np.mean(blocks.chance))))


def _bad_days(days: _Changes, metric: QualityMetric) -> list[int]:
    """Days whose change is critical, and four times what days usually differ by."""
    if not days.change.size:
        return []
    change = days.change - np.median(days.change)
    usually = np.sqrt(days.chance + _beyond_chance(days) ** 2)
    bad = (change >= metric.constants["critical_size"]) & (change > INCIDENT * usually)
    return [int(number) for number in days.number[bad]]


def worst_share(low: Floats, count: Floats, min_samples: int) -> float | None:
    """Share of impressions that are not low, on the worst of the days."""
    known = np.isfinite(low) & np.isfinite(count)
    lows, counts = (np.where(known, a, 0).reshape(-1, HOURS_OF_DAY).sum(axis=1) for a in (low, count))
    enough = counts >= min_samples
    return float((1 - lows[enough] / counts[enough]).min()) if enough.any() else None


def hours_left_out(settings: Detection, ends: Sequence[int], value: str | None) -> Flags:
    """Hours (by their ends) that are no standard, because they are ignored or before an accepted level."""
    times = np.asarray(ends)
    left_out = np.zeros(times.shape, dtype=bool)
    for span in settings.left_out:
        if span.value in (None, value):
            left_out |= (times > span.since) & (times - HOUR < span.until)
    return left_out

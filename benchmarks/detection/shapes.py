"""What happens to a label set apart from regressions: waves, holidays, other queries, restarts, outages."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
DAY, WEEK = 1440, 7 * 1440
WAVE = 0.03
"""Daily amplitude of the quality, as a share of the mean."""
WEEKEND = 0.035
"""How much lower it is on Saturdays and Sundays."""
WANDER, WANDER_MINUTES = 0.007, 120
"""Standard deviation and correlation time of a query mix that changes all the time."""
NEWLY_JUDGED = 0.9
"""Quality of what is judged only when coverage is high, in units of what is always judged."""
LOW, HIGH, STEP = 0.5, 0.7, 0.58
"""Judged coverage: at least, at most, and after a step."""
OUTAGE, CATCH_UP, SETTLE = 120, 10, 6
"""Minutes that Prometheus or the monitor is away, that reading the backlog takes, and left out afterwards."""


@dataclass(frozen=True)
class Shape:
    """Which of these happen."""

    daily: bool = False
    weekly: bool = False
    holiday: bool = False
    """Every fourth week a Wednesday that looks like a Sunday."""
    sessions: bool = False
    wander: bool = False
    drift: bool = False
    """Coverage goes from 50% to 70% and back in 20 days."""
    steps: bool = False
    """Coverage goes from 50% to 58% at once, and back five days later."""
    restarts: bool = False
    """Each day up to 15 seconds of counts are lost."""
    away: bool = False
    """Each week Prometheus is away for two hours."""
    backlog: bool = False
    """Each week the monitor is away for two hours, then reads them in ten minutes."""

    def traffic(self, minutes: int) -> Floats:
        """Impressions in each minute, in units of their mean: a factor of 3 between night and day."""
        when = np.arange(minutes)
        traffic = np.ones(minutes)
        if self.daily:
            traffic += 0.5 * np.cos(2 * np.pi * when / DAY)
        if self.weekly:
            traffic = traffic * np.where(self._day_off(when), 0.7, 1.12)
        if self.drift or self.steps:
            traffic = traffic * self._coverage(when) / LOW
        return traffic

    def quality(self, rng: np.random.Generator, minutes: int) -> Floats:
        """The mean in each minute, as a factor around 1."""
        when = np.arange(minutes)
        quality = np.ones(minutes)
        if self.daily:
            quality += WAVE * np.sin(2 * np.pi * when / DAY)
        if self.weekly:
            quality = quality * np.where(self._day_off(when), 1 - WEEKEND, 1.0)
        if self.wander:
            quality = quality * (1 + autocorrelated(rng, minutes))
        if self.drift or self.steps:
            coverage = self._coverage(when)
            quality = quality * (LOW + (coverage - LOW) * NEWLY_JUDGED) / coverage
        return quality

    def losses(self, rng: np.random.Generator, minutes: int) -> Floats:
        """The share of each minute that is counted."""
        counted = np.ones(minutes)
        if self.restarts:
            starts = np.arange(0, minutes - DAY + 1, DAY)
            counted[starts + rng.integers(0, DAY, len(starts))] -= rng.uniform(0, 0.25, len(starts))
        return counted

    def gaps(self, rng: np.random.Generator, rates: Floats) -> tuple[Flags, Flags, Floats]:
        """Minutes without samples, minutes behind, and the rates at which counters grow around them."""
        away, behind = np.zeros(len(rates), dtype=bool), np.zeros(len(rates), dtype=bool)
        if not (self.away or self.backlog):
            return away, behind, rates
        rates = rates.copy()
        for week in range(0, len(rates) - WEEK + 1, WEEK):
            begin = week + int(rng.integers(0, WEEK - OUTAGE - CATCH_UP - SETTLE))
            end = begin + OUTAGE
            away[begin:end] = True
            if self.backlog:
                caught_up = end + CATCH_UP
                rates[end:caught_up] += rates[begin:end].sum() / CATCH_UP
                behind[end : caught_up + SETTLE] = True
            rates[begin:end] = 0.0
        return away, behind, rates

    def _day_off(self, when: NDArray[np.int64]) -> Flags:
        day = when // DAY
        weekend = day % 7 >= 5
        return weekend | (day % 28 == 16) if self.holiday else weekend

    def _coverage(self, when: NDArray[np.int64]) -> Floats:
        if self.steps:
            return np.where(when % (10 * DAY) < 5 * DAY, LOW, STEP)
        phase = when % (20 * DAY) / (20 * DAY)
        return LOW + (HIGH - LOW) * (1 - np.abs(2 * phase - 1))


def autocorrelated(rng: np.random.Generator, minutes: int) -> Floats:
    """An AR(1) process: exact every ten minutes, with straight lines between."""
    every = 10
    keep = np.exp(-every / WANDER_MINUTES)
    noise = rng.standard_normal(minutes // every + 2) * np.sqrt(1 - keep**2)
    noise[0] /= np.sqrt(1 - keep**2)
    steps = np.empty_like(noise)
    level = 0.0
    for index, one in enumerate(noise):
        level = keep * level + one
        steps[index] = level
    levels: Floats = WANDER * np.interp(np.arange(minutes), every * np.arange(len(steps)), steps)
    return levels


SHAPES = {
    "steady": Shape(),
    "daily": Shape(daily=True),
    "weekly": Shape(daily=True, weekly=True),
    "holiday": Shape(daily=True, weekly=True, holiday=True),
    "sessions": Shape(daily=True, sessions=True),
    "wander": Shape(daily=True, wander=True),
    "coverage drifts": Shape(daily=True, drift=True),
    "coverage steps": Shape(daily=True, steps=True),
    "restarts": Shape(daily=True, restarts=True),
    "Prometheus away": Shape(daily=True, away=True),
    "backlog": Shape(daily=True, backlog=True),
}

"""Simulated impressions of one label set: their count, sum and sum of squares in each minute."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.detection.shapes import DAY, Shape

Floats = NDArray[np.float64]
QUANTILES = 1 << 16
EXACT_UP_TO = 200.0
"""Impressions a minute that are drawn one by one; the sum of more is drawn from a normal distribution."""
SESSION_LENGTH = 5.0
"""Impressions of a session, on average; the distribution is geometric."""
SAME_IN_SESSION = 0.5
"""Share of a session's impressions that have the session's own value."""
SESSION_GAP = 0.5
"""Minutes between two impressions of a session, on average; the distribution is exponential."""
SESSION_INFLATION = 1 + SAME_IN_SESSION**2 * 2 * (SESSION_LENGTH - 1)
"""Variance of a sum with sessions, in units of the variance of as many independent impressions."""


@dataclass(frozen=True)
class Kind:
    """The distribution of a metric. Values are turned so that less is worse, as the rules turn them."""

    name: str
    mean: float
    is_share: bool = True
    rises: bool = False
    """Whether more of the metric is worse: its changes are points, not shares of the mean."""

    def levels(self, quality: Floats, lost: Floats) -> Floats:
        """The mean in each minute, from a factor around 1 and the size of the regression."""
        if self.rises:
            return 1 - ((1 - self.mean) * (2 - quality) + lost)
        return self.mean * quality * (1 - lost)


NDCG = Kind("ndcg", 0.6, is_share=False)
CTR = Kind("ctr", 0.2)
ABANDONMENT = Kind("abandonment", 0.25, rises=True)
EMPTY = Kind("empty", 0.99, rises=True)


def _ndcg_quantiles() -> NDArray[np.float32]:
    """15% are 0, 25% are 1, the rest is Beta(2.8, 2) distributed: mean 0.60, standard deviation 0.35."""
    between = np.sort(np.random.default_rng(0).beta(2.8, 2.0, round(0.6 * QUANTILES)))
    zeros = np.zeros(round(0.15 * QUANTILES))
    ones = np.ones(QUANTILES - len(between) - len(zeros))
    values = np.concatenate([zeros, between, ones])
    scaled: NDArray[np.float32] = (values * (NDCG.mean / values.mean())).astype(np.float32)
    return scaled


NDCG_QUANTILES = _ndcg_quantiles()
NDCG_MEAN = float(NDCG_QUANTILES.mean(dtype=float))
NDCG_SQUARES = float(np.square(NDCG_QUANTILES, dtype=float).mean())


@dataclass(frozen=True)
class Counts:
    """What the counters add in each minute, and in which minutes something is missing."""

    impressions: Floats
    value: Floats
    squares: Floats
    away: NDArray[np.bool_]
    """Prometheus, or the monitor, is away: there is no sample."""
    behind: NDArray[np.bool_]
    """Event time is behind, now or within the range of the increases; the rules leave these minutes out."""

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.impressions + other.impressions,
            self.value + other.value,
            self.squares + other.squares,
            self.away | other.away,
            self.behind | other.behind,
        )

    def increases(self, *, guarded: bool = True) -> dict[str, Floats]:
        """`increase[5m] / 5` of each series; without samples in minutes that are left out."""
        missing = self.away | self.behind if guarded else self.away
        return {
            name: np.where(missing, np.nan, smoothed(getattr(self, name)))
            for name in ("impressions", "value", "squares")
        }


def smoothed(values: Floats, minutes: int = 5) -> Floats:
    """The mean of the last minutes."""
    sums = np.cumsum(np.concatenate([np.zeros(minutes), values]))
    moving: Floats = (sums[minutes:] - sums[:-minutes]) / minutes
    return moving


def simulate(
    rng: np.random.Generator,
    kind: Kind,
    shape: Shape,
    rate: float,
    lost: Floats,
    *,
    quality: Floats | None = None,
) -> Counts:
    """One label set with `rate` impressions a second, and a regression of the given size in each minute.

    `quality` is what several label sets have in common; without it the label set has its own.
    """
    minutes = len(lost)
    levels = kind.levels(shape.quality(rng, minutes) if quality is None else quality, lost)
    rates = 60 * rate * shape.traffic(minutes) * shape.losses(rng, minutes)
    away, behind, rates = shape.gaps(rng, rates)
    if shape.sessions and 60 * rate <= EXACT_UP_TO:
        counts, value, squares = _sessions(rng, kind, rates, levels)
    else:
        counts = rng.poisson(rates).astype(float)
        value, squares = _independent(rng, kind, counts, levels)
        if shape.sessions:
            value += _session_noise(rng, kind, counts, levels)
    return Counts(counts, value, squares, away, behind)


def _independent(
    rng: np.random.Generator, kind: Kind, counts: Floats, levels: Floats
) -> tuple[Floats, Floats]:
    if kind.is_share:
        value = rng.binomial(counts.astype(np.int64), np.clip(levels, 0.0, 1.0)).astype(float)
        return value, value.copy()
    scale = levels / NDCG_MEAN
    if counts.mean() > EXACT_UP_TO:
        sd = np.sqrt(NDCG_SQUARES - NDCG_MEAN**2)
        value = counts * NDCG_MEAN + sd * np.sqrt(counts) * rng.standard_normal(len(counts))
        return scale * value, scale**2 * NDCG_SQUARES * counts
    drawn = NDCG_QUANTILES[rng.integers(0, QUANTILES, int(counts.sum()), dtype=np.uint16)]
    return scale * _sums(drawn, counts), scale**2 * _sums(drawn * drawn, counts)


def _sums(drawn: NDArray[np.float32], counts: Floats) -> Floats:
    """Of consecutive parts, given how many belong to each."""
    starts = (np.cumsum(counts) - counts).astype(np.int64)
    # The zero at the end is for parts of nothing there; others of nothing would get their neighbour's first.
    sums = np.add.reduceat(np.append(drawn, np.float32(0)), starts)
    return np.where(counts > 0, sums, 0.0)


def _sessions(
    rng: np.random.Generator, kind: Kind, rates: Floats, levels: Floats
) -> tuple[Floats, Floats, Floats]:
    """Every impression is drawn: some have their session's value, others one of their own."""
    begun = rng.poisson(rates / SESSION_LENGTH)
    starts = np.repeat(np.arange(len(rates), dtype=float), begun)
    starts += rng.random(len(starts))
    lengths = rng.geometric(1 / SESSION_LENGTH, len(starts))
    session = np.repeat(np.arange(len(starts)), lengths)
    gaps = np.cumsum(rng.standard_exponential(len(session)) * SESSION_GAP)
    first = np.cumsum(lengths) - lengths
    minute = (starts[session] + gaps - gaps[first][session]).astype(np.int64)
    own = rng.integers(0, QUANTILES, len(starts), dtype=np.uint16)[session]
    drawn = rng.integers(0, QUANTILES, len(session), dtype=np.uint16)
    drawn = np.where(rng.random(len(session), dtype=np.float32) < SAME_IN_SESSION, own, drawn)
    inside = minute < len(rates)
    minute, drawn = minute[inside], drawn[inside]
    counts = np.bincount(minute, minlength=len(rates)).astype(float)
    value: Floats
    if kind.is_share:
        value = np.bincount(minute, drawn < levels[minute] * QUANTILES, len(rates)).astype(float)
        return counts, value, value.copy()
    values, scale = NDCG_QUANTILES[drawn], levels / NDCG_MEAN
    value = scale * np.bincount(minute, values, len(rates))
    return counts, value, scale**2 * np.bincount(minute, values * values, len(rates))


def _session_noise(rng: np.random.Generator, kind: Kind, counts: Floats, levels: Floats) -> Floats:
    """What sessions add to the noise of many impressions: correlated over a session's duration."""
    if kind.is_share:
        sd = np.sqrt(np.clip(levels * (1 - levels), 0.0, 1.0))
    else:
        sd = levels / NDCG_MEAN * np.sqrt(NDCG_SQUARES - NDCG_MEAN**2)
    weights = np.exp(-np.arange(12) / (SESSION_LENGTH * SESSION_GAP))
    noise = np.convolve(rng.standard_normal(len(counts)), weights / weights.sum())[: len(counts)]
    extra: Floats = sd * np.sqrt((SESSION_INFLATION - 1) * counts) * noise
    return extra


def sudden(minutes: int, at: int, size: float) -> Floats:
    """Nothing, and from one minute on all of it."""
    return np.where(np.arange(minutes) >= at, size, 0.0)


def gradual(minutes: int, at: int, size: float, over: int = DAY // 4) -> Floats:
    """It grows for six hours, and stays."""
    return size * np.clip((np.arange(minutes) - at) / over, 0.0, 1.0)


def after_improvement(minutes: int, at: int, size: float, days: int) -> Floats:
    """It was better for some days, and is then what it was before."""
    when = np.arange(minutes)
    return np.where((when >= at - days * DAY) & (when < at), -size, 0.0)

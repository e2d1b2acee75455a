"""Simulated impressions with a known level, variance and length of sessions, summed over equal times."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from monitor.alerting.calibration import HourlySums
from monitor.alerting.quality_inputs import quality_metrics
from monitor.alerting.values import Values

Floats = NDArray[np.float64]
VALUES = Values.model_validate({"label": None})
METRICS = {metric.name: metric for metric in quality_metrics(VALUES)}
NDCG, CTR, EMPTY = METRICS["ndcg"], METRICS["ctr"], METRICS["empty"]
LEVEL, VARIANCE = 0.6, 0.1256
"""Mean and variance of `scores`."""


def scores(rng: np.random.Generator, number: int) -> Floats:
    """As NDCG is: some 0, some 1, the rest between."""
    kind = rng.random(number)
    return np.where(kind < 0.2, 0.0, np.where(kind < 0.4, 1.0, rng.beta(4, 2, number)))


def slots(
    number: int,
    per_slot: float,
    seed: int,
    *,
    session: int = 1,
    factor: Callable[[Floats], Floats] | None = None,
) -> HourlySums:
    """Sums over equal times: sessions of impressions with the same score, times a factor of the slot's."""
    rng = np.random.default_rng(seed)
    sessions = rng.poisson(per_slot / session, number)
    slot = np.repeat(np.arange(number), sessions)
    score = scores(rng, slot.size)
    if factor is not None:
        score = score * factor(slot.astype(float))
    return HourlySums(
        session * sessions.astype(float),
        session * np.bincount(slot, score, number),
        session * np.bincount(slot, score**2, number),
    )


def hours(days: int, per_hour: float, seed: int = 1, **how: object) -> HourlySums:
    return slots(days * 24, per_hour, seed, **how)  # type: ignore[arg-type]

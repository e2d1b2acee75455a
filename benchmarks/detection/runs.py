"""Runs a cell: counts false alarms, or measures how long it takes to find a regression."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.detection.cells import SHARES, Cell, Regression
from benchmarks.detection.episodes import episodes
from benchmarks.detection.rivals import RIVALS, Series, fires
from benchmarks.detection.shapes import DAY, SHAPES
from benchmarks.detection.shipped import Half, certainty, record
from benchmarks.detection.traffic import Counts, simulate
from monitor.alerting.evaluator import CRITICAL, Row, firing
from monitor.alerting.values import Values

Floats = NDArray[np.float64]
SHIPPED = "shipped rules"
BURN_IN = 9 * DAY
COUNTED = 90 * DAY
FOUND_WITHIN = 2 * DAY
NEAR = (0.6, 0.7, 0.8, 0.9)
"""Shares of the z-score that fires, at which it is counted what comes near."""
CANDIDATE, CONTROL = "candidate", "control"


class Simulated(NamedTuple):
    """One run of a cell: the label set that is watched, and the baseline if there is one."""

    watched: Counts
    baseline: Counts | None


@dataclass
class Alarms:
    """Of one detector in one cell."""

    series_days: float = 0.0
    alarms: int = 0
    critical: int = 0
    first_days: int = 0
    """Alarms in the days before, while there is no week of history."""
    near: dict[float, int] = field(default_factory=dict)
    """Share of the z-score that fires -> how often so much was reached."""


def run(cell: Cell, rng: np.random.Generator, lost: Floats) -> Simulated:
    """Simulate one; what changes the queries changes them for the baseline too."""
    shape = SHAPES[cell.shape]
    if not cell.split:
        return Simulated(simulate(rng, cell.kind, shape, cell.rate, lost), None)
    share, quality = SHARES[cell.split], shape.quality(rng, len(lost))
    watched = simulate(rng, cell.kind, shape, cell.rate * share, lost, quality=quality)
    steady = np.zeros(len(lost))
    baseline = simulate(rng, cell.kind, shape, cell.rate * (1 - share), steady, quality=quality)
    return Simulated(watched, baseline)


def false_alarms(cell: Cell, seed: Sequence[int], *, values: Values | None = None) -> dict[str, Alarms]:
    """Of every detector, in 90 days after nine to learn from."""
    against = "baseline" if cell.split else "history"
    detector = Half(values or Values(), against)
    one = run(cell, np.random.default_rng(seed), np.zeros(BURN_IN + COUNTED))
    rows, counts = _rows(cell, [one])
    grid = record(detector, rows, counts)
    reached = certainty(detector, grid)[-1]
    mine = _count(reached >= 1)
    mine.near = {share: episodes(reached >= share, BURN_IN) for share in NEAR}
    if mine.alarms:
        mine.critical = episodes(firing(detector, grid, rows, against)[-1] >= CRITICAL, BURN_IN)
    found = {SHIPPED: mine}
    if not cell.split:
        series = Series(one.watched, cell.kind, detector, grid, 0)
        found |= {name: _count(fires(rival, series)) for name, rival in RIVALS.items()}
    return found


def _count(fired: NDArray[np.bool_]) -> Alarms:
    return Alarms(COUNTED / DAY, episodes(fired, BURN_IN), first_days=episodes(fired, 0, BURN_IN))


def delays(
    regression: Regression, seed: int, runs: int, *, values: Values | None = None
) -> Mapping[str, list[float]]:
    """Minutes until each detector finds it, for each run; infinite where it does not within 48 hours."""
    cell, begin = regression.cell, regression.learned_days * DAY
    found: dict[str, list[float]] = {}
    rng = np.random.default_rng(seed)
    starts = begin + rng.integers(0, DAY, runs)
    for batch in np.array_split(starts, runs if cell.split else -(-runs // 10)):
        minutes = begin + DAY + FOUND_WITHIN
        ones = [run(cell, rng, regression.change(minutes, int(at), regression.size)) for at in batch]
        for against in ("history", "baseline") if cell.split else ("history",):
            detector = Half(values or Values(), against)
            rows, counts = _rows(cell, ones)
            grid = record(detector, rows, counts)
            reached = certainty(detector, grid) >= 1
            name = f"{SHIPPED}, {against}" if cell.split else SHIPPED
            for number, (at, one) in enumerate(zip(batch, ones, strict=True)):
                row = number if not cell.split else 1
                found.setdefault(name, []).append(_delay(reached[row], int(at)))
                if cell.split:
                    continue
                series = Series(one.watched, cell.kind, detector, grid, row)
                for rival, detect in RIVALS.items():
                    found.setdefault(rival, []).append(_delay(fires(detect, series), int(at)))
    return found


def _rows(cell: Cell, ones: Sequence[Simulated]) -> tuple[list[Row], list[Counts]]:
    """All label sets beside each other; or one, after its baseline."""
    if cell.split:
        (one,) = ones
        assert one.baseline is not None
        return [Row(cell.kind.name, CONTROL), Row(cell.kind.name, CANDIDATE)], [one.baseline, one.watched]
    rows = [Row(cell.kind.name, str(number)) for number in range(len(ones))]
    return rows, [one.watched for one in ones]


def _delay(fired: NDArray[np.bool_], at: int) -> float:
    minutes = np.flatnonzero(fired[at : at + FOUND_WITHIN])
    return float(minutes[0]) if len(minutes) else float("inf")

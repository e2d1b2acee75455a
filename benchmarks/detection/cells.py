"""The cells of the tables: what is simulated, for false alarms and for delays."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from benchmarks.detection.shapes import SHAPES
from benchmarks.detection.traffic import (
    ABANDONMENT,
    CTR,
    EMPTY,
    NDCG,
    Kind,
    after_improvement,
    gradual,
    sudden,
)

Change = Callable[[int, int, float], NDArray[np.float64]]
RATES = (100.0, 1.0, 0.1)
SHARES = {"50/50": 0.5, "95/5": 0.05}


@dataclass(frozen=True)
class Cell:
    """One label set, or one beside its baseline."""

    kind: Kind
    shape: str
    rate: float
    """Impressions a second: of the label set, or of both together."""
    split: str = ""
    """Traffic of the baseline and of the label set that is compared with it; none for history alone."""

    @property
    def name(self) -> str:
        split = f", {self.split}" if self.split else ""
        return f"{self.kind.name}, {self.shape}, {self.rate:g}/s{split}"


@dataclass(frozen=True)
class Regression:
    """A cell in which something gets worse."""

    cell: Cell
    size: float
    how: str = "sudden"
    change: Change = field(default=sudden, compare=False)
    learned_days: int = 9
    """Days before it."""

    @property
    def name(self) -> str:
        unit = " points" if self.cell.kind.rises else "%"
        how = "" if self.how == "sudden" else f", {self.how}"
        return f"{self.cell.name}, {100 * self.size:g}{unit}{how}"


def quiet_cells() -> Iterator[Cell]:
    """Where every alarm is false."""
    for rate in RATES:
        yield from (Cell(NDCG, shape, rate) for shape in SHAPES)
        for kind in (CTR, ABANDONMENT, EMPTY):
            yield from (Cell(kind, shape, rate) for shape in ("weekly", "sessions"))
    for rate in RATES:
        for split in SHARES:
            yield from (Cell(NDCG, shape, rate, split) for shape in ("weekly", "sessions", "wander"))
            yield from (Cell(kind, "weekly", rate, split) for kind in (CTR, EMPTY))


def regressions() -> Iterator[Regression]:
    """What is to be found."""
    for rate in RATES:
        yield from (Regression(Cell(NDCG, "daily", rate), size) for size in (0.02, 0.05, 0.1))
        yield Regression(Cell(NDCG, "daily", rate), 0.05, "over six hours", gradual)
    yield Regression(Cell(NDCG, "sessions", 1.0), 0.05)
    yield Regression(Cell(NDCG, "wander", 1.0), 0.05)
    for rate in RATES:
        yield Regression(Cell(CTR, "daily", rate), 0.1)
        yield Regression(Cell(ABANDONMENT, "daily", rate), 0.05)
        yield Regression(Cell(EMPTY, "daily", rate), 0.03)
    for days in (3, 10):
        how = f"back to normal {days} days after an improvement"
        change = partial(after_improvement, days=days)
        for rate in RATES:
            yield Regression(Cell(NDCG, "daily", rate), 0.05, how, change, 9 + days)
    for rate in RATES:
        for split in SHARES:
            yield from (Regression(Cell(NDCG, "daily", rate, split), size) for size in (0.05, 0.1))

"""What a comparison finds: each system on its own, and each against the baseline."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from monitor.evaluation.latency import Latency
from monitor.metrics import Floats
from monitor.stats import Comparison, stars, verdict

TIE = 1e-9
"""Scores that are no further apart than this are the same: sums of floats differ in their last digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSummary:
    """One system on its own."""

    name: str
    mean: float | None
    """Over the compared queries where the measure is defined; `None` where it nowhere is."""
    low: float | None
    high: float | None
    """Student's interval of the mean, within the measure's bounds; `None` with fewer than two queries."""
    queries: int
    """Compared queries where the measure is defined."""
    undefined: int
    """Compared queries where it is not."""
    left_out: int
    """Queries of this system that another one lacks."""
    missing: int
    """Judged queries that the run lacks."""
    unjudged: int
    """Queries of the run that nobody judged."""
    band: str | None
    latency: Latency | None


class Mover(NamedTuple):
    """A query whose score moved."""

    query: str
    baseline: float
    system: float

    @property
    def difference(self) -> float:
        return self.system - self.baseline


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SystemComparison:
    """One system against the baseline, over the queries where both have a value."""

    system: str
    baseline: str
    result: Comparison
    p_adjusted: float
    """Holm's correction of the p-value over all comparisons that were made together."""
    undefined: int
    """Compared queries where either has no value; they are left out."""
    latency_difference: float | None
    """Mean of the differences in seconds, over the queries where both runs tell it."""
    queries: list[str]
    baseline_scores: Floats
    system_scores: Floats

    @property
    def differences(self) -> Floats:
        """System minus baseline, one a query; 0 where they tie."""
        found = self.system_scores - self.baseline_scores
        found[np.abs(found) <= TIE] = 0.0
        return found

    @property
    def wins(self) -> int:
        return int(np.count_nonzero(self.differences > 0))

    @property
    def losses(self) -> int:
        return int(np.count_nonzero(self.differences < 0))

    @property
    def ties(self) -> int:
        return len(self.queries) - self.wins - self.losses

    @property
    def stars(self) -> str:
        """Of the corrected p-value."""
        return stars(self.p_adjusted)

    @property
    def verdict(self) -> str:
        """The direction and how sure it is, by the corrected p-value: `better, significant at .01`."""
        words = verdict(self.p_adjusted)
        if words == "not significant":
            return words
        return f"{'better' if self.result.difference > 0 else 'worse'}, {words}"

    def movers(self, most: int) -> tuple[list[Mover], list[Mover]]:
        """The queries that gained most, and those that lost most; the largest move first."""
        moved = self.differences
        order = np.argsort(moved, kind="stable")
        up = [row for row in order[::-1][:most] if moved[row] > 0]
        down = [row for row in order[:most] if moved[row] < 0]
        return self._moves(up), self._moves(down)

    def _moves(self, rows: Sequence[int]) -> list[Mover]:
        return [
            Mover(self.queries[row], float(self.baseline_scores[row]), float(self.system_scores[row]))
            for row in rows
        ]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ComparisonReport:
    """What a comparison by one measure found."""

    measure: str
    baseline: str
    test: str
    confidence: float
    seed: int
    queries: int
    """How many queries all systems have."""
    corrected_over: int
    """How many comparisons Holm's correction took together."""
    systems: list[SystemSummary]
    """The baseline first."""
    comparisons: list[SystemComparison]

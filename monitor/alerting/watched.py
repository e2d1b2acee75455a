"""What is watched, and what the rules call it: `level:metric:operations`.

Levels are `job`, and `job_<label>` for each value of the configured label. `k` and `maturity` have one value
each and stay as labels. The ranges are values and not part of the names: dashboards need not know them.
"""

from dataclasses import dataclass

from monitor.alerting.promql import Selector, select
from monitor.alerting.values import Values
from monitor.durations import in_words
from monitor.metrics import METRICS, Metric, Need

COVERAGE = METRICS["judged"]
JUDGED = "ranking_monitor_judged"
IMPRESSIONS = "vector_impressions"


@dataclass(frozen=True, slots=True)
class Watched:
    """The recorded series of one metric at one level."""

    metric: Metric
    values: Values
    level: tuple[str, ...] = ("job",)

    @property
    def labels(self) -> dict[str, str]:
        """Those that select one series of the family for each replica and set of configured labels."""
        own = {"job": self.values.job}
        if self.metric.takes_k:
            own["k"] = str(self.values.k)
        if self.judged:
            own["maturity"] = in_words(self.values.maturity)
        return own

    @property
    def judged(self) -> bool:
        """Whether it depends on what is judged."""
        return self.metric.need is Need.JUDGMENTS

    @property
    def by(self) -> tuple[str, ...]:
        """The labels that its recorded series have."""
        return (*self.level, *(name for name in self.labels if name not in self.level))

    def raw(self, suffix: str) -> Selector:
        """The family as the monitor exports it."""
        return select(self.metric.family + suffix, **self.labels)

    @property
    def squares(self) -> Selector:
        return select(self.metric.family.removesuffix("_avg") + "_squares_total", **self.labels)

    def recorded(self, operation: str, suffix: str = "") -> Selector:
        return recorded(self.metric.family + suffix, operation, self.values, self.level)

    @property
    def count(self) -> Selector:
        """Impressions that the mean is of."""
        return self.recorded("increase", "_count")

    @property
    def mean(self) -> Selector:
        return self.recorded("mean")


def recorded(name: str, operation: str, values: Values, level: tuple[str, ...] = ("job",)) -> Selector:
    """A series that a rule recorded."""
    return select(f"{'_'.join(level)}:{name}:{operation}", job=values.job)

"""What is watched, and what the rules call it: `level:metric:operations`.

Levels are `job`, and `job_<label>` for each value of the configured label. `k` and `maturity` have one value
each and stay as labels. The ranges are values and not part of the names: dashboards need not know them.
"""

from dataclasses import dataclass

from monitor.alerting.promql import Selector, quoted, select
from monitor.alerting.values import Values
from monitor.durations import in_words
from monitor.metrics import METRICS, Metric, Need
from monitor.stream.labels import OTHER, UNKNOWN

COVERAGE = METRICS["judged"]
FALLING = tuple(METRICS[name] for name in ("ndcg", "mrr", "ctr"))
"""Metrics of which less is worse."""
RISING = tuple(METRICS[name] for name in ("abandonment", "empty"))
"""Metrics of which more is worse."""
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

    @property
    def variance(self) -> Selector:
        """Its root is the standard error of the mean."""
        return self.recorded("variance_of_mean")

    @property
    def change(self) -> Selector:
        """By how much it is worse: a share of the reference for what falls, points for what rises."""
        return self.recorded("relative_drop" if self.metric in FALLING else "rise")

    @property
    def explainable(self) -> Selector:
        """How much of it a change of coverage can explain at most."""
        return self.recorded("explainable_drop")

    @property
    def unexplained(self) -> Selector:
        """What is left of it, at least, when coverage moved."""
        return self.recorded("unexplained_drop") if self.judged else self.change

    @property
    def zscore(self) -> Selector:
        """The change in standard errors of the difference."""
        return self.recorded("zscore")


def recorded(name: str, operation: str, values: Values, level: tuple[str, ...] = ("job",)) -> Selector:
    """A series that a rule recorded."""
    return select(f"{'_'.join(level)}:{name}:{operation}", job=values.job)


def baseline(series: Selector, values: Values) -> Selector:
    """That of the baseline."""
    return series.where(f"{values.label}={quoted(values.baseline)}")


def others(series: Selector, values: Values) -> Selector:
    """Those that are compared with the baseline; values that nobody chose are not."""
    return series.where(f"{values.label}!={quoted(values.baseline)}", f'{values.label}!~"{UNKNOWN}|{OTHER}"')

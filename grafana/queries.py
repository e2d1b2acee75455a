"""PromQL from the catalogue: a family's own labels decide what a query selects and groups by."""

from dataclasses import dataclass

from monitor.config import Config
from monitor.export.catalogue import Family, families
from monitor.stream.plan import make_plan

_CONFIG = Config()
FAMILIES = families(make_plan(_CONFIG).columns, _CONFIG.labels)
LABEL = _CONFIG.labels[0]
"""The configured label; on a dashboard `$label` names it, for teams that configure another."""

TARGET = 'job=~"$job",instance=~"$instance"'
CHOSEN = '$label=~"$variant"'
OTHERS = '$label=~"$variant",$label!="$baseline"'
BASELINE = '$label="$baseline"'

Z = 1.96
"""Standard errors on each side of a mean that hold the true one in 95 of 100 cases."""


def select(name: str, part: str = "", *, variants: str = CHOSEN, where: str = "") -> str:
    """A selector of a family, or of a part of a histogram, by every variable that it has a label for.

    >>> select("ranking_monitor_ready")
    'ranking_monitor_ready{job=~"$job",instance=~"$instance"}'
    >>> select("vector_ctr_avg", "_sum")
    'vector_ctr_avg_sum{job=~"$job",instance=~"$instance",k=~"$k",$label=~"$variant"}'
    """
    matchers = [TARGET, *(f'{label}=~"${label}"' for label in identity(FAMILIES[name]))]
    if LABEL in FAMILIES[name].labels:
        matchers.append(variants)
    if where:
        matchers.append(where)
    return f"{name}{part}{{{','.join(matchers)}}}"


def identity(family: Family) -> tuple[str, ...]:
    """The labels over which nothing may ever be summed: that would mix different metrics."""
    return tuple(label for label in family.labels if label in ("k", "maturity"))


def rate(name: str, *by: str, part: str = "", where: str = "") -> str:
    """How often a second, over what one step of the graph spans."""
    return f"sum by ({', '.join(by)}) (rate({select(name, part, where=where)}[$__rate_interval]))"


def ratio(part: str, whole: str) -> str:
    """A quotient that does not exist where nothing was observed, rather than being NaN.

    >>> ratio("a", "b")
    '(a / (b > 0))'
    """
    return f"({part} / ({whole} > 0))"


def quantile(q: float, name: str, *by: str) -> str:
    """A quantile of a histogram over `$window`, interpolated within its bucket."""
    buckets = f"rate({select(name, '_bucket')}[$window])"
    return f"histogram_quantile({q:g}, sum by ({', '.join(('le', *by))}) ({buckets}))"


def named(expression: str, metric: str) -> str:
    """The same series with the label `metric`, so that several can stand in one table.

    >>> named("up", "NDCG")
    'label_replace(up, "metric", "NDCG", "", "")'
    """
    return f'label_replace({expression}, "metric", "{metric}", "", "")'


@dataclass(frozen=True, slots=True)
class Average:
    """The mean of an `_avg` family over `$window`, over all replicas, and how sure it is."""

    name: str
    by: tuple[str, ...] = ()
    variants: str = CHOSEN
    offset: str = ""

    @property
    def group(self) -> str:
        """Of which labels each combination has a mean of its own, besides `by`."""
        return ", ".join(identity(FAMILIES[self.name]))

    def _sum(self, function: str, name: str, part: str = "", where: str = "") -> str:
        labels = ", ".join((*identity(FAMILIES[self.name]), *self.by))
        when = f" offset {self.offset}" if self.offset else ""
        series = select(name, part, variants=self.variants, where=where)
        return f"sum by ({labels}) ({function}({series}[$window]{when}))"

    @property
    def mean(self) -> str:
        return ratio(self._sum("rate", self.name, "_sum"), self._sum("rate", self.name, "_count"))

    @property
    def samples(self) -> str:
        """How many impressions it is the mean of."""
        return self._sum("increase", self.name, "_count")

    @property
    def variance(self) -> str:
        """The square of the mean's standard error; none for a single impression.

        The mean of the squares minus the square of the mean, by n - 1. Rounding can bring it below 0.
        """
        squares = self._sum("rate", self.name.removesuffix("_avg") + "_squares_total")
        spread = f"{ratio(squares, self._sum('rate', self.name, '_count'))} - {self.mean} ^ 2"
        return f"(clamp_min({spread}, 0) / ({self.samples} - 1 > 0))"

    @property
    def margin(self) -> str:
        """Half of the 95% interval, if impressions are independent of each other."""
        return f"{Z} * sqrt({self.variance})"

    @property
    def low(self) -> str:
        return f"clamp_min({self.mean} - {self.margin}, 0)"

    @property
    def high(self) -> str:
        return f"clamp_max({self.mean} + {self.margin}, 1)"

    def share_up_to(self, le: str) -> str:
        """The share of impressions with at most this value, which has to be one of the bounds."""
        assert float(le) in FAMILIES[self.name].buckets
        buckets = self._sum("rate", self.name, "_bucket", where=f'le="{le}"')
        return ratio(buckets, self._sum("rate", self.name, "_count"))


@dataclass(frozen=True, slots=True)
class Difference:
    """One mean minus another, which has the same labels or, besides k and maturity, none."""

    one: Average
    other: Average

    @property
    def _matching(self) -> str:
        return f" on ({self.one.group}) group_left ()" if self.one.by != self.other.by else ""

    @property
    def value(self) -> str:
        return f"({self.one.mean} -{self._matching} {self.other.mean})"

    @property
    def margin(self) -> str:
        return f"{Z} * sqrt({self.one.variance} +{self._matching} {self.other.variance})"

    @property
    def low(self) -> str:
        return f"{self.value} - {self.margin}"

    @property
    def high(self) -> str:
        return f"{self.value} + {self.margin}"

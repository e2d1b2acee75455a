"""The rules that every mean needs: of how many, the mean, and how sure it is."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from monitor.alerting.promql import lines, summed_increase
from monitor.alerting.values import Values
from monitor.alerting.watched import Watched


@dataclass(frozen=True, slots=True)
class Record:
    """One recording rule."""

    name: str
    expr: str
    labels: Mapping[str, str] = field(default_factory=dict)


def references(values: Values) -> dict[str, int]:
    """What now is compared with, by the name that the label `against` has."""
    return {"yesterday": values.comparison.yesterday, "last_week": values.comparison.last_week}


def mean(watched: Watched) -> Iterator[Record]:
    """Summed over replicas before it is divided; nothing where there are no impressions."""
    seconds, by = watched.values.comparison.range, watched.by
    yield Record(watched.count.name, summed_increase(watched.raw("_count"), seconds, by))
    total = summed_increase(watched.raw("_sum"), seconds, by)
    yield Record(watched.mean.name, lines(total, f"/ ({watched.count} > 0)"))

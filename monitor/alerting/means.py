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


def variance(watched: Watched) -> Record:
    """Mean of the squares minus square of the mean, by how many; its root is the standard error.

    Rounding can leave less than nothing where all values are equal, so it is clamped.
    """
    squares = summed_increase(watched.squares, watched.values.comparison.range, watched.by)
    return Record(
        watched.variance.name,
        f"clamp_min(\n  {squares}\n    / ({watched.count} > 0)\n    - {watched.mean} ^ 2,\n  0\n)"
        f" / {watched.count}",
    )


def on_all_but_label(watched: Watched) -> str:
    """How a variant is matched with the baseline."""
    return f"on ({', '.join(name for name in watched.by if name != watched.values.label)})"

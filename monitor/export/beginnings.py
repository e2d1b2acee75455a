"""The beginnings of lines, `name{label="value"} `, kept from scrape to scrape: only numbers change."""

import math
from collections.abc import Iterator, Mapping, Sequence

from prometheus_client.openmetrics.exposition import UNDERSCORES

from monitor.export.catalogue import Family, Kind
from monitor.export.series import le
from monitor.export.text import beginning

Labels = tuple[tuple[str, str], ...]


class Beginnings:
    """Writes each line of a series up to its number once, for the label sets of one engine.

    New label sets come behind those that are there, and none ever goes: what is kept grows with the series.
    """

    def __init__(self, label_names: tuple[str, ...], escaping: str = UNDERSCORES) -> None:
        self.label_names = label_names
        self._escaping = escaping
        self._kept: dict[tuple[str, Labels], list[str]] = {}

    def of(self, family: Family, own: Labels, label_sets: Sequence[tuple[str, ...]]) -> list[str]:
        """The lines of the series that have these labels of their own, one label set after the other."""
        kept = self._kept.get((family.name, own), [])
        each = lines_of_a_series(family)
        if len(kept) < each * len(label_sets):
            # A new list: another thread may be reading this one, or making it longer.
            kept = kept + [
                line
                for values in label_sets[len(kept) // each :]
                for line in self._write(family, (*own, *zip(self.label_names, values, strict=True)))
            ]
            self._kept[family.name, own] = kept
        return kept[: each * len(label_sets)]

    def one(self, family: Family, labels: Labels) -> list[str]:
        """The lines of a single series, which has none of the label sets."""
        if (family.name, labels) not in self._kept:
            self._kept[family.name, labels] = self._write(family, labels)
        return self._kept[family.name, labels]

    def _write(self, family: Family, pairs: Labels) -> list[str]:
        return [self.line(name, labels) for name, labels in series_names(family, dict(pairs))]

    def line(self, name: str, labels: Mapping[str, str]) -> str:
        """A line up to its number."""
        return beginning(name, labels, self._escaping)


def series_names(family: Family, labels: Mapping[str, str]) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Name and labels of each line that a series of a family has."""
    if family.kind is not Kind.HISTOGRAM:
        yield family.name, labels
        return
    for bound in (*family.buckets, math.inf):
        yield f"{family.name}_bucket", {**labels, "le": le(bound)}
    for what in ("count", "sum"):
        yield f"{family.name}_{what}", labels


def lines_of_a_series(family: Family) -> int:
    """One, or those of a histogram: a bucket for each bound and +Inf, the count and the sum."""
    return len(family.buckets) + 3 if family.kind is Kind.HISTOGRAM else 1

"""What a counter grew by, from the raw samples of a real Prometheus: resets counted, nothing guessed."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from tests.support.prometheus import Prometheus

Key = tuple[str, tuple[tuple[str, str], ...]]
SELECTOR = (
    '{__name__=~"vector_.+|ranking_monitor_(events|rejected|judged|records|duplicate_keys)_total"}[24h]'
)


class Grown(NamedTuple):
    """One series of one instance."""

    total: float
    """As `increase()` says over raw samples: the sum of all steps up; a step down is a reset to 0."""
    last_steps: float
    """Of `total`, the steps right before resets: what a process showed last before it ended."""
    resets: int
    first: float
    """The first value ever seen, which no query can know the increase of."""


def grown(values: Iterable[float]) -> Grown:
    """What raw samples say.

    >>> grown([0, 2, 5, 0, 4, 4])
    Grown(total=9.0, last_steps=3.0, resets=1, first=0)
    >>> grown([7, 9, 1])
    Grown(total=3.0, last_steps=2.0, resets=1, first=7)
    """
    samples = list(values)
    total = last_steps = step = 0.0
    resets = 0
    for before, value in pairwise(samples):
        if value < before:
            resets += 1
            last_steps += step
            step = value
        else:
            step = value - before
        total += step
    return Grown(total, last_steps, resets, samples[0])


class Samples:
    """Every counter that Prometheus has of the monitors it scrapes."""

    def __init__(self, matrix: Iterable[Mapping[str, Any]]) -> None:
        self.by_instance: dict[Key, dict[str, list[tuple[float, float]]]] = defaultdict(dict)
        for series in matrix:
            labels = dict(series["metric"])
            name, instance = labels.pop("__name__"), labels.pop("instance")
            labels.pop("job")
            if not name.startswith("vector_window_"):
                key = (name, tuple(sorted(labels.items())))
                samples = [(float(at), float(value)) for at, value in series["values"]]
                self.by_instance[key][instance] = samples

    def increases(self, *, with_first: bool = False) -> dict[Key, float]:
        """Summed over the instances; with the first values, as if each series had begun at 0."""
        return {
            key: sum(
                growth.total + growth.first * with_first
                for samples in instances.values()
                for growth in [grown(value for _, value in samples)]
            )
            for key, instances in self.by_instance.items()
        }

    def last_steps(self) -> dict[Key, float]:
        """What the processes showed last before they ended, summed over processes and instances."""
        return {
            key: sum(grown(value for _, value in samples).last_steps for samples in instances.values())
            for key, instances in self.by_instance.items()
        }

    def last_increase(self, keys: Collection[Key]) -> float:
        """When the last of these counters went up, by the clock of the scraper."""
        return max(
            at
            for key in keys
            for samples in self.by_instance[key].values()
            for (_, before), (at, value) in pairwise(samples)
            if value > before
        )

    def not_born_at_zero(self) -> list[Key]:
        return [key for key, found in self.by_instance.items() if any(s[0][1] for s in found.values())]


def raw_samples(server: Prometheus) -> Samples:
    """All raw samples of the counters, as they were scraped."""
    return Samples(server.get("query", query=SELECTOR)["result"])

"""Watched searches minute by minute: counters for promtool, and the same as inputs of the numpy form."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from monitor.alerting.evaluator import Row
from tests.rules.world import JOB, label

Floats = NDArray[np.float64]
FAMILY_LABELS: Mapping[str, dict[str, str]] = {
    "ndcg": {"k": "10", "maturity": "1m"},
    "mrr": {"k": "10", "maturity": "1m"},
    "ctr": {"k": "10"},
    "abandonment": {},
    "empty": {},
}
SHORT_DAYS = {
    "windows": ["5m", "10m", "20m", "30m", "40m"],
    "day": "1h",
    "days": 2,
    "around": "10m",
    "weekday_around": "30m",
    "chunk": "2m",
    # Promtool evaluates every group as often as the fastest.
    "slow_interval": "1m",
}
"""Days of an hour and weeks of two: to the rules it is all the same."""
USUAL = {"ndcg": 0.6, "mrr": 0.7, "ctr": 0.4, "abandonment": 0.3, "empty": 0.01}
SD = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Searches:
    """What the searches of one variant are like in one minute."""

    count: float = 60.0
    means: Mapping[str, float] = field(default_factory=lambda: USUAL)


Story = Callable[[int, str], Searches]
"""What searches are like in a minute, of a variant."""


def steady(minute: int, variant: str) -> Searches:
    """Nothing happens."""
    return Searches()


def means(**changed: float) -> Mapping[str, float]:
    """The usual means, but for some."""
    return {**USUAL, **changed}


def from_minute(minute: int, after: Searches, *variants: str, before: Searches | None = None) -> Story:
    """Different from a minute on, for these variants or for all."""

    def story(now: int, variant: str) -> Searches:
        return after if now >= minute and (not variants or variant in variants) else before or Searches()

    return story


def counters(
    story: Story, minutes: int, variants: Sequence[str], seed: int = 1
) -> dict[tuple[str, str], Floats]:
    """By metric and variant: count, sum and squares at each minute, from 0 on."""
    rng = np.random.default_rng(seed)
    grown: dict[tuple[str, str], Floats] = {}
    for variant in variants:
        told = [story(minute, variant) for minute in range(minutes)]
        for metric in FAMILY_LABELS:
            count = rng.poisson([now.count for now in told]).astype(float)
            mean = np.array([now.means[metric] for now in told])
            if metric in ("ndcg", "mrr"):
                total = np.clip(count * mean + SD * np.sqrt(count) * rng.normal(size=minutes), 0, count)
                squares = count * (mean**2 + SD**2)
            else:
                total = rng.binomial(count.astype(int), mean).astype(float)
                squares = total
            growth = np.stack([count, total, squares])
            growth[:, 0] = 0.0
            grown[metric, variant] = growth.cumsum(axis=1).round(6)
    return grown


def scraped(found: Mapping[tuple[str, str], Floats], minutes: int) -> dict[str, Sequence[float | str]]:
    """As Prometheus scrapes it each minute; and what the monitor says of itself when all is well."""
    monitor = {"job": JOB, "instance": "a"}
    samples: dict[str, Sequence[float | str]] = {
        label("up", **monitor): [1.0] * minutes,
        label("ranking_monitor_ready", **monitor): [1.0] * minutes,
        label("process_start_time_seconds", **monitor): [0.0] * minutes,
        label("ranking_monitor_watermark_timestamp_seconds", task="0", **monitor): [
            60.0 * minute - 10 for minute in range(minutes)
        ],
    }
    for (metric, variant), growth in found.items():
        labels = {**FAMILY_LABELS[metric], "variant": variant, **monitor}
        names = (f"{metric}_avg_count", f"{metric}_avg_sum", f"{metric}_squares_total")
        for name, values in zip(names, growth, strict=True):
            samples[label(f"vector_{name}", **labels)] = values.tolist()
    for variant in {variant for _, variant in found}:
        labels = {**FAMILY_LABELS["ndcg"], "variant": variant, **monitor}
        for name, growth in (("sum", 54.0), ("count", 60.0)):
            documents = label(f"vector_judged_avg_{name}", **labels)
            samples[documents] = [growth * minute for minute in range(minutes)]
    return samples


def inputs(
    found: Mapping[tuple[str, str], Floats], variants: Sequence[str], range_minutes: int = 5
) -> tuple[list[Row], dict[str, Floats]]:
    """What the first rules record of it: increases over the range, as one minute's share of it."""
    rows: list[Row] = []
    arrays: list[Floats] = []
    for metric in FAMILY_LABELS:
        growths = [found[metric, variant] for variant in variants]
        for value, growth in [(None, np.sum(growths, axis=0)), *zip(variants, growths, strict=True)]:
            before = np.concatenate([np.repeat(growth[:, :1], range_minutes, axis=1), growth], axis=1)
            share = (growth - before[:, : growth.shape[1]]) / range_minutes
            share[:, 0] = np.nan
            if metric in ("abandonment", "empty"):
                count, total, squares = share
                share = np.stack([count, count - total, count - 2 * total + squares])
            rows.append(Row(metric, value))
            arrays.append(share)
    stacked = np.stack(arrays)
    return rows, {name: stacked[:, i] for i, name in enumerate(("impressions", "value", "squares"))}

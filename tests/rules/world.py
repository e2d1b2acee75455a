"""A search as Prometheus sees it: counters of two replicas and two variants, with real noise in them."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from monitor.alerting.promql import select

STEP = 300
TROUBLE, END = 2.0, 2.75
"""The hour at which something happens, and the one at which the story ends."""
JOB = "ranking-monitor"
REPLICAS = ("a", "b")
VARIANTS = ("control", "candidate")
SPREAD = 4.0
"""Of the beta distribution that scores are drawn from: a standard deviation of about 0.18."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What the searches of one variant are like."""

    searches: int = 120
    """In a step, at each replica."""
    ndcg: float = 0.8
    mrr: float = 0.85
    judged: float = 0.8
    """Share of the impressions that are judged."""
    judged_documents: float = 0.9
    """Share of their documents that are judged."""
    ctr: float = 0.5
    abandonment: float = 0.4
    empty: float = 0.02


Story = Callable[[float, str], Search]
"""What searches are like at an hour, of a variant."""
Samples = Mapping[str, Sequence[float | str]]
Gaps = Collection[tuple[float, float]]
"""From which hour to which nothing could be scraped."""


def steady(hour: float, variant: str) -> Search:
    """Nothing happens."""
    return Search()


def turn(after: Search, before: Search | None = None, *, variants: Collection[str] = VARIANTS) -> Story:
    """Different from the hour of trouble on, for some variants or all."""

    def story(hour: float, variant: str) -> Search:
        return after if hour >= TROUBLE and variant in variants else before or Search()

    return story


def scraped(
    story: Story,
    hours: float = END,
    *,
    seed: int = 7,
    step: int = STEP,
    restarts: Collection[tuple[float, str]] = (),
    gaps: Gaps = (),
) -> dict[str, list[float | str]]:
    """What was scraped: counters begin at 0 again after restarts (an hour and a replica)."""
    rng = np.random.default_rng(seed)
    grown: dict[str, list[float]] = {}
    steps = int(hours * 3600 / step)
    for i in range(steps):
        for replica in REPLICAS:
            for variant in VARIANTS:
                for name, more in _observed(story(i * step / 3600, variant), rng, replica, variant):
                    grown.setdefault(name, []).append(more)
    counters = {
        name: _counter(
            growth, [int(at * 3600 / step) for at, replica in restarts if f'instance="{replica}"' in name]
        )
        for name, growth in grown.items()
    }
    own = {name: values for replica in REPLICAS for name, values in _own(replica, steps, step, restarts)}
    return {name: _without(values, gaps, step) for name, values in (counters | own).items()} | {
        label("up", job=JOB, instance=replica): [
            0.0 if any(since <= i * step / 3600 < until for since, until in gaps) else 1.0
            for i in range(steps)
        ]
        for replica in REPLICAS
    }


def label(name: str, **labels: str) -> str:
    """A series as promtool reads it."""
    return str(select(name, **labels))


def _observed(
    now: Search, rng: np.random.Generator, replica: str, variant: str
) -> Iterable[tuple[str, float]]:
    """What one step adds to each counter."""
    own = {"job": JOB, "instance": replica, "variant": variant}
    judged_at = {"k": "10", "maturity": "1m", **own}
    searches = int(rng.poisson(now.searches))
    judged = int(rng.binomial(searches, now.judged))
    ndcg = rng.beta(now.ndcg * SPREAD, (1 - now.ndcg) * SPREAD, judged)
    yield label("vector_ndcg_avg_bucket", le="0.5", **judged_at), float((ndcg <= 0.5).sum())
    yield from _family("ndcg", ndcg, judged_at)
    yield from _family("mrr", rng.beta(now.mrr * SPREAD, (1 - now.mrr) * SPREAD, judged), judged_at)
    yield from _family("judged", rng.binomial(10, now.judged_documents, judged) / 10, judged_at)
    yield from _family("ctr", _coins(rng, now.ctr, searches), {"k": "10", **own})
    yield from _family("abandonment", _coins(rng, now.abandonment, searches), own)
    yield from _family("empty", _coins(rng, now.empty, searches), own)
    # The monitor does not count these by variant; to a sum it is all the same.
    for fate, count in (("judged", judged), ("unjudged", searches - judged)):
        yield label("ranking_monitor_judged_total", maturity="1m", fate=fate, **own), float(count)
    yield label("ranking_monitor_records_total", topic="search-events", **own), 3.0 * searches


def _coins(rng: np.random.Generator, share: float, count: int) -> Floats:
    return (rng.random(count) < share).astype(float)


def _family(name: str, values: Floats, labels: dict[str, str]) -> Iterable[tuple[str, float]]:
    yield label(f"vector_{name}_avg_sum", **labels), float(values.sum())
    yield label(f"vector_{name}_avg_count", **labels), float(len(values))
    yield label(f"vector_{name}_squares_total", **labels), float((values**2).sum())


def _own(
    replica: str, steps: int, step: int, restarts: Collection[tuple[float, str]]
) -> Iterable[tuple[str, list[float]]]:
    """What a replica says of itself when all is well."""
    own = {"job": JOB, "instance": replica}
    partition = str(REPLICAS.index(replica))
    starts = [0.0, *(at * 3600 for at, which in restarts if which == replica)]
    begun = [max(at for at in starts if at <= i * step) for i in range(steps)]
    yield label("process_start_time_seconds", **own), begun
    yield label("ranking_monitor_ready", **own), [1.0] * steps
    watermark = label("ranking_monitor_watermark_timestamp_seconds", task=partition, **own)
    yield watermark, [i * step - 60.0 for i in range(steps)]
    yield (
        label("ranking_monitor_consumer_lag", topic="search-events", partition=partition, **own),
        [9.0] * steps,
    )
    yield (
        label("ranking_monitor_committed_timestamp_seconds", **own),
        [max(begun[i], (i - 1) * float(step)) for i in range(steps)],
    )
    yield (
        label("ranking_monitor_skipped_records_total", topic="search-events", partition=partition, **own),
        [0.0] * steps,
    )
    yield label("ranking_monitor_rejected_total", reason="not_json", **own), [0.0] * steps
    yield label("ranking_monitor_events_total", type="impression", fate="evicted", **own), [0.0] * steps


def _counter(growth: Sequence[float], begins: Collection[int]) -> list[float]:
    total, values = 0.0, []
    for i, more in enumerate(growth):
        total = more if i in begins else total + more
        values.append(total)
    return values


def _without(values: Sequence[float], gaps: Gaps, step: int) -> list[float | str]:
    """Prometheus marks the first scrape that fails, and then has nothing."""
    left: list[float | str] = list(values)
    for since, until in gaps:
        first, end = int(since * 3600 / step), min(int(until * 3600 / step), len(values))
        left[first:end] = ["stale", *["_"] * (end - first - 1)]
    return left

"""What the monitor exports about itself, as Prometheus sees it, until trouble begins."""

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from tests.rules.promtool import Fired, fired
from tests.rules.world import JOB, Samples, label

TROUBLE, END = 1.5, 2.75
STEPS, BEGIN = int(END * 12), int(TROUBLE * 12)
OWN = {"job": JOB, "instance": "a"}
UP_NAME = label("up", **OWN)
UP = {UP_NAME: [1.0] * STEPS}


def noisy(mean: float, seed: int = 3) -> list[float]:
    return [float(value) for value in np.random.default_rng(seed).poisson(mean, STEPS)]


def counter(growth: Iterable[float]) -> list[float | str]:
    return list(np.cumsum(list(growth)).tolist())


def since_trouble(before: Callable[[int], float], after: Callable[[int], float]) -> list[float]:
    return [before(i) if i < BEGIN else after(i) for i in range(STEPS)]


def seen(folder: Path, samples: Samples) -> list[Fired]:
    return fired(folder, samples, group="ranking-monitor")


def names(folder: Path, samples: Samples) -> set[str]:
    return {alert.name for alert in seen(folder, {**UP, **samples})}


RECORDS = label("ranking_monitor_records_total", topic="search-events", **OWN)
LAG = label("ranking_monitor_consumer_lag", topic="search-events", partition="0", **OWN)
WATERMARK = label("ranking_monitor_watermark_timestamp_seconds", task="0", **OWN)
REJECTED = label("ranking_monitor_rejected_total", reason="not_json", **OWN)
EVICTED = label("ranking_monitor_events_total", type="impression", fate="evicted", **OWN)
FORGOTTEN = label("ranking_monitor_evicted_judgments_total", **OWN)
STARTED = label("process_start_time_seconds", **OWN)
COMMITTED = label("ranking_monitor_committed_timestamp_seconds", **OWN)
SKIPPED = label("ranking_monitor_skipped_records_total", topic="search-events", partition="0", **OWN)
LEAD = label("ranking_monitor_event_lead_seconds", topic="search-events", **OWN)
CLOCK_SKEW = label("ranking_monitor_clock_skew_seconds", topic="search-events", **OWN)
LATE = label("ranking_monitor_events_total", type="impression", fate="late", **OWN)
LATE_BUCKET = label("ranking_monitor_late_impression_seconds_bucket", le="+Inf", **OWN)
DECIDED = label("ranking_monitor_decision_delay_seconds_count", delay="0s", **OWN)

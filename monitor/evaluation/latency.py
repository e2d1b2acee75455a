"""How long searches took, in a few numbers."""

from typing import NamedTuple

import numpy as np

from monitor.metrics import Floats


class Latency(NamedTuple):
    """Seconds a query, over the queries that tell them; percentiles lie between two where they have to."""

    mean: float
    p50: float
    p95: float
    p99: float
    queries: int


def latency_of(seconds: Floats) -> Latency | None:
    """Summarise seconds, NaN where nothing is told; `None` if it never is.

    >>> latency_of(np.array([0.1, np.nan, 0.3]))
    Latency(mean=0.2, p50=0.2, p95=0.29, p99=0.298, queries=2)
    """
    told = seconds[~np.isnan(seconds)]
    if not len(told):
        return None
    p50, p95, p99 = np.percentile(told, [50, 95, 99]).tolist()
    return Latency(float(told.mean()), p50, p95, p99, len(told))

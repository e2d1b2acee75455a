"""How late the late impressions were, so that `lateness_seconds` can be chosen from data."""

from bisect import bisect_left
from typing import Self

import numpy as np

from monitor.metrics import Ints

LATE_BUCKETS = (1.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 21600.0, 86400.0)


class LateHistogram:
    """Seconds by which event time was ahead of a late impression: more lateness would have kept it."""

    def __init__(self) -> None:
        self.buckets: Ints = np.zeros(len(LATE_BUCKETS) + 1, dtype=np.int64)
        """Not cumulated; the last is +Inf."""
        self.sum = 0.0

    def observe(self, seconds: float) -> None:
        self.buckets[bisect_left(LATE_BUCKETS, seconds)] += 1
        self.sum += seconds

    def merge(self, other: Self) -> None:
        """Add what another has observed."""
        self.buckets += other.buckets
        self.sum += other.sum

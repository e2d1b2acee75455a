"""Readings of the clocks around us: how far senders are ahead, and how far our own clock is off.

Both are the extremes of the last minutes, so that a sender that was mended, or a clock that was set, shows.
"""

import math

import numpy as np

from monitor.metrics import Floats

KEPT_SECONDS = 300.0
"""An extreme is kept for as long, and at most for twice as long."""


class RecentMaximum:
    """The largest of what came within the last minutes."""

    def __init__(self) -> None:
        self._begun = -math.inf
        self._before = self._latest = -math.inf

    def saw(self, value: float, now: float) -> None:
        self._forget(now)
        self._latest = max(self._latest, value)

    def value(self, now: float) -> float | None:
        """The largest, or None where nothing came."""
        self._forget(now)
        largest = max(self._before, self._latest)
        return largest if math.isfinite(largest) else None

    def _forget(self, now: float) -> None:
        age = now - self._begun
        if not 0 <= age < KEPT_SECONDS:
            self._before = self._latest if 0 <= age < 2 * KEPT_SECONDS else -math.inf
            self._begun, self._latest = now, -math.inf


class ClockReadings:
    """Leads and skews by topic."""

    def __init__(self) -> None:
        self._leads: dict[str, RecentMaximum] = {}
        self._slowness: dict[str, RecentMaximum] = {}
        """Of our clock, behind the broker's."""

    def saw(self, topic: str, ts: Floats, broker_times: Floats, fresh_at: float | None, now: float) -> None:
        """Compare the `ts` of records with the log's clock, and the log's clock with ours.

        `broker_times` are the broker's timestamps, NaN where a producer wrote them; `fresh_at` is our clock,
        where the records have just been written. A `ts` that is not known is NaN.
        """
        written = ~np.isnan(broker_times)
        log_times = broker_times if fresh_at is None else np.where(written, broker_times, fresh_at)
        leads = ts - log_times
        if not np.isnan(leads).all():
            self._leads.setdefault(topic, RecentMaximum()).saw(float(np.nanmax(leads)), now)
        if fresh_at is not None and written.any():
            newest = float(broker_times[written].max())
            self._slowness.setdefault(topic, RecentMaximum()).saw(newest - fresh_at, now)

    def leads(self, now: float) -> dict[str, float]:
        """Seconds by which the `ts` that is furthest ahead of the log's clock was ahead; 0 if none is."""
        return {topic: max(0.0, lead) for topic, lead in self._recent(self._leads, now).items()}

    def skews(self, now: float) -> dict[str, float]:
        """Seconds by which our clock is ahead of the broker's, give or take the time of a fetch."""
        return {topic: -behind for topic, behind in self._recent(self._slowness, now).items()}

    @staticmethod
    def _recent(found: dict[str, RecentMaximum], now: float) -> dict[str, float]:
        values = {topic: recent.value(now) for topic, recent in found.items()}
        return {topic: value for topic, value in values.items() if value is not None}

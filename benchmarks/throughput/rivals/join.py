"""A join in dicts: an impression is decided once, when event time has passed its delay."""

import heapq
from collections.abc import Sequence

from benchmarks.throughput.rivals.quality import Quality

ATTRIBUTION_SECONDS = 300.0
LATENESS_SECONDS = 60.0
DELAY_SECONDS = ATTRIBUTION_SECONDS + LATENESS_SECONDS


class Join:
    """The open impressions and the clicks of one partition number."""

    def __init__(self, quality: Quality, topics: Sequence[str]) -> None:
        self._quality = quality
        self._newest = dict.fromkeys(topics, 0.0)
        self._open: dict[str, tuple[str, list[str], tuple[str, str]]] = {}
        self._clicks: dict[str, list[int]] = {}
        self._due: list[tuple[float, str]] = []

    def impression(
        self, ident: str, ts: float, query_id: str, ranked: list[str], labels: dict[str, str]
    ) -> None:
        """Hold it until its clicks are in."""
        if ident not in self._open:
            label_set = labels.get("variant", "unknown"), labels.get("region", "unknown")
            self._open[ident] = (query_id, ranked[:10], label_set)
            heapq.heappush(self._due, (ts + DELAY_SECONDS, ident))

    def click(self, ident: str, position: int) -> None:
        """Hold it for its impression, which may come later: topics are read apart."""
        self._clicks.setdefault(ident, []).append(position)

    def advance(self, topic: str, ts: float) -> None:
        """A topic has come to this event time: decide what is due in both."""
        newest = self._newest
        newest[topic] = max(newest[topic], ts)
        watermark = min(newest.values())
        while self._due and self._due[0][0] <= watermark:
            _, ident = heapq.heappop(self._due)
            self._quality.observe(*self._open.pop(ident), self._clicks.pop(ident, ()))

"""A seeded stream of events whose exact result is known: what was sent, and how each of it must end."""

import heapq
import json
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, NamedTuple

ATTRIBUTION, MATURITIES, LATENESS = 4.0, (2.0, 6.0), 2.0
LATE_SECONDS = 900.0
"""Later than the longest time in which nothing is committed."""
QUERIES, VARIANTS = 30, ("red", "green", "blue", None)


class Event(NamedTuple):
    """One record to be: when it is sent (seconds since the start), where, and its bytes."""

    at: float
    number: int
    role: str
    key: bytes
    value: bytes


@dataclass
class Generator:
    """Makes events on demand, the same for a seed; `began` is the time of the first.

    Every kind of fate is in it: late impressions and such that come twice, clicks that come twice, for
    results that were not shown, for impressions that never were and after their time, and records that are
    no events.
    """

    seed: int
    began: float
    rate: float = 40.0
    """Impressions a second; there are about as many interactions."""
    late: bool = False
    """Whether some impressions come far too late; what is not counted yet must not be so late."""
    churn: bool = False
    """Whether labels, queries and documents are ever new."""
    fates: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How impressions and interactions must end, counted here without any of the monitor's code."""
    rejected: Counter[str] = field(default_factory=Counter)
    shown: Counter[str] = field(default_factory=Counter)
    """Impressions that are settled, by variant."""
    judged: Counter[float] = field(default_factory=Counter)
    """Impressions of a query that has judgments, by maturity."""

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)
        self._next = 0.0
        self._made = 0
        self._numbers = 0
        self._heap: list[Event] = []
        self._judged_at: dict[int, float] = {}

    def judgments_first(self) -> list[Event]:
        """The judgments that are there before anything is shown; half of the queries get none of these."""
        for query in range(QUERIES // 2):
            self._judge(query, -100.0 + query / 10)
        for query in range(QUERIES // 2, QUERIES - 5):
            self._judge(query, self._random.uniform(2.0, 20.0))
        return self.until(-1.0)

    def until(self, at: float) -> list[Event]:
        """What is to be sent before a moment, in its order."""
        while self._next < at:
            self._impression(self._next)
            self._next += self._random.expovariate(self.rate)
        events = []
        while self._heap and self._heap[0].at < at:
            events.append(heapq.heappop(self._heap))
        return events

    def rest(self) -> list[Event]:
        """What still belongs to the impressions that were shown."""
        return [heapq.heappop(self._heap) for _ in range(len(self._heap))]

    def _send(self, at: float, role: str, key: str, value: dict[str, Any] | bytes) -> None:
        raw = value if isinstance(value, bytes) else json.dumps(value).encode()
        self._numbers += 1
        heapq.heappush(self._heap, Event(at, self._numbers, role, key.encode(), raw))

    def _judge(self, query: int, at: float) -> None:
        self._judged_at[query] = at
        for document in range(0, 12, 2):
            judgment = {"type": "judgment", "query_id": f"q{query}", "key": f"q{query}d{document}"}
            graded = {"ts": self.began + at, "grade": (query + document) % 4}
            self._send(
                at, "judgments", json.dumps([f"q{query}", judgment["key"], ""]), {**judgment, **graded}
            )

    def _impression(self, at: float) -> None:
        draw, self._made = self._random, self._made + 1
        name, query = f"s{self.seed}i{self._made}", draw.randrange(QUERIES)
        variant = draw.choice(VARIANTS)
        # Out of order, but by less than the lateness.
        ts = at - draw.uniform(0.0, 0.8)
        space = f"q{query}" if not self.churn else f"q{query}-{self._made}"
        documents = [f"{space}d{d}" for d in draw.sample(range(12), draw.choice((0, 3, 10, 10, 10, 12)))]
        if documents and draw.random() < 0.02:
            documents.append(documents[0])
        event: dict[str, Any] = {"type": "impression", "impression_id": name, "query_id": space}
        event |= {"ts": self.began + ts, "ranked": documents, "latency_seconds": round(draw.random(), 3)}
        if variant:
            event["labels"] = {"variant": f"{variant}-{self._made}" if self.churn else variant}
        kind = draw.random()
        if self.late and kind < 0.02:
            event["ts"] = self.began + ts - LATE_SECONDS
            self._send(at, "impressions", name, event)
            self.fates["impression", "late"] += 1
            return
        self._send(at, "impressions", name, event)
        self._settles(variant or "unknown", query, ts)
        if kind > 0.97:
            self._send(at + 0.2, "impressions", name, {**event, "sent": "again"})
            self.fates["impression", "duplicate"] += 1
        if draw.random() < 0.02:
            self._reject(at)
        if draw.random() < 0.5:
            self._interact(name, documents, ts, at)

    def _settles(self, variant: str, query: int, ts: float) -> None:
        self.fates["impression", "settled"] += 1
        self.shown[variant] += 1
        for maturity in MATURITIES:
            if not self.churn and self._judged_at.get(query, float("inf")) <= ts + maturity:
                self.judged[maturity] += 1

    def _reject(self, at: float) -> None:
        reason, value = self._random.choice(
            [("not_json", b"{not json"), ("unknown_type", b'{"type": "unheard"}'), ("not_object", b"[1]")]
        )
        self._send(at, self._random.choice(["impressions", "interactions"]), f"bad{self._numbers}", value)
        self.rejected[reason] += 1

    def _interact(self, name: str, documents: list[str], shown: float, at: float) -> None:
        draw = self._random
        after = draw.uniform(0.1, 3.0)
        click: dict[str, Any] = {"type": "click", "impression_id": name, "ts": self.began + shown + after}
        sent, fate = at + after, "joined"
        kind = draw.random()
        if not documents or kind < 0.04:
            click["key"], fate = "nowhere", "unmatched"
        elif kind < 0.08:
            # As if sent for another impression, which never comes.
            click["impression_id"], fate = f"{name}-never", "unmatched"
            click["key"] = documents[0]
        elif kind < 0.12:
            click |= {"ts": self.began + shown + ATTRIBUTION + 1.5, "key": documents[0]}
            sent, fate = at + ATTRIBUTION + 1.5, "unmatched"
        elif kind < 0.3:
            click["position"] = draw.randint(1, len(set(documents)))
        else:
            click |= {"key": draw.choice(documents), "dwell_seconds": round(draw.uniform(1, 60), 2)}
        key = click["impression_id"]
        self._send(sent, "interactions", key, click)
        self.fates["click", fate] += 1
        if kind > 0.95:
            self._send(sent + 0.1, "interactions", key, {**click, "sent": "again"})
            self.fates["click", "duplicate"] += 1
        if fate == "joined" and kind > 0.6:
            when, given = after + 0.3, {"key": draw.choice(documents), "dwell_seconds": 31.5}
            dwell = {"type": "dwell", "impression_id": name, "ts": self.began + shown + when, **given}
            self._send(at + when, "interactions", key, dwell)
            self.fates["dwell", "joined"] += 1
        if fate == "joined" and kind > 0.8:
            when, given = after + 0.5, {"outcome": "successful", "max_scroll_position": 7}
            outcome = {"type": "outcome", "impression_id": name, "ts": self.began + shown + when, **given}
            self._send(at + when, "interactions", key, outcome)
            self.fates["outcome", "joined"] += 1

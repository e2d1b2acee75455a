"""An engine fed by hand: events at times counted from one hour, and what became of them."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from monitor.config import Config
from monitor.stream.engine import Engine
from monitor.stream.records import Chunk, Role, Start, TopicPartition
from monitor.stream.snapshot import Snapshot

HOUR = 1_767_225_600.0
"""Where the times of a test begin: a full hour, so that windows begin at 0."""
NOW = HOUR + 100_000
SETTINGS: dict[str, Any] = {
    "attribution_seconds": 10,
    "lateness_seconds": 0,
    "windows": [60],
    "labels": [],
    "metrics": ["ndcg@10", "ctr@10", "abandonment"],
    "judgments": {"maturities": [20, 100]},
}
"""Deadlines after 0, 10, 20 and 100 seconds, and no lateness: the watermark is the newest time."""
EVENTS = {"events": Role.EVENTS}
SPLIT = {"shown": Role.IMPRESSIONS, "done": Role.INTERACTIONS}

Event = dict[str, Any]


class Record(NamedTuple):
    """As much of a Kafka record as the engine reads."""

    value: bytes | None
    offset: int
    key: bytes | None = None
    timestamp: int = 0
    timestamp_type: int | None = None


class Arrival(NamedTuple):
    """A record of the log, in the order in which the first engine read it."""

    topic: str
    partition: int
    record: Record


def impression(name: str, at: float, ranked: Iterable[str] = "abc", query: str = "q", **more: Any) -> Event:
    return {
        "type": "impression",
        "impression_id": name,
        "query_id": query,
        "ts": HOUR + at,
        "ranked": list(ranked),
        **more,
    }


def click(name: str, at: float, key: str = "a", **more: Any) -> Event:
    return {"type": "click", "impression_id": name, "ts": HOUR + at, "key": key, **more}


def dwell(name: str, at: float, seconds: float, key: str = "a", **more: Any) -> Event:
    return {
        "type": "dwell",
        "impression_id": name,
        "ts": HOUR + at,
        "key": key,
        "dwell_seconds": seconds,
        **more,
    }


def outcome(name: str, at: float, **more: Any) -> Event:
    return {"type": "outcome", "impression_id": name, "ts": HOUR + at, **more}


def judgment(key: str, at: float, grade: float | None, query: str = "q", **more: Any) -> Event:
    return {"type": "judgment", "query_id": query, "key": key, "ts": HOUR + at, "grade": grade, **more}


def tick(at: float) -> Event:
    """Something that only moves time on: a judgment of a query that nobody searched for."""
    return judgment("x", at, 0, query="nobody's")


def settings(**changes: Any) -> Config:
    return Config.model_validate({**SETTINGS, **changes})


class Timeline:
    """One engine, and the log that it was fed from."""

    def __init__(
        self, roles: Mapping[str, Role] = EVENTS, partitions: int = 1, *, begin: bool = True, **changes: Any
    ) -> None:
        self.roles = roles
        self.config = settings(**changes)
        self.engine = Engine(self.config, roles)
        self.log: list[Arrival] = []
        self._ends: Counter[TopicPartition] = Counter()
        if begin:
            starts = (
                (topic, p) for topic, r in roles.items() if r is not Role.JUDGMENTS for p in range(partitions)
            )
            self.engine.assign(dict.fromkeys(starts, Start(0, "", fresh=True, from_beginning=True)), NOW)

    def bring(
        self,
        *events: Event | bytes,
        topic: str | None = None,
        partition: int = 0,
        now: float = NOW,
        timestamp: float | None = None,
    ) -> None:
        """What one poll brings from one partition, and what is due then."""
        self.add(*events, topic=topic, partition=partition, now=now, timestamp=timestamp)
        self.engine.advance(now)

    def add(
        self,
        *events: Event | bytes,
        topic: str | None = None,
        partition: int = 0,
        now: float = NOW,
        timestamp: float | None = None,
    ) -> None:
        """The same, and what is due waits."""
        topic = topic or next(iter(self.roles))
        records = []
        for event in events:
            value = event if isinstance(event, bytes) else json.dumps(event).encode()
            stamp = 0 if timestamp is None else int((HOUR + timestamp) * 1000)
            record = Record(value, self._ends[topic, partition], timestamp=stamp)
            self._ends[topic, partition] += 1
            records.append(record)
            self.log.append(Arrival(topic, partition, record))
        self.engine.ingest(Chunk(topic, partition, records), now)

    def tombstone(self, key: bytes, at: float) -> None:
        """A record without a value, in the first topic."""
        topic = next(iter(self.roles))
        record = Record(None, self._ends[topic, 0], key, int((HOUR + at) * 1000))
        self._ends[topic, 0] += 1
        self.log.append(Arrival(topic, 0, record))
        self.engine.ingest(Chunk(topic, 0, [record]), NOW)
        self.engine.advance(NOW)

    def idle(self, *partitions: TopicPartition, now: float) -> None:
        self.engine.idle(dict.fromkeys(partitions, HOUR + now))
        self.engine.advance(HOUR + now)

    def finish(self) -> "Timeline":
        self.engine.finish(NOW)
        return self

    # What became of it.

    @property
    def snapshot(self) -> Snapshot:
        return self.engine.snapshot()

    def fates(self, kind: str) -> dict[str, int]:
        """How many events of a type ended how; what never happened is left out."""
        return {fate: n for (of, fate), n in self.snapshot.fates.items() if of == kind and n}

    def rejected(self) -> dict[str, int]:
        return {reason.value: n for reason, n in self.snapshot.rejected.items() if n}

    def observed(self, family: str, **labels: str) -> list[tuple[int, float]]:
        """Count and sum of a family for every label set that has any."""
        snapshot = self.snapshot
        columns = [
            i
            for i, column in enumerate(snapshot.columns)
            if column.family == family and dict(column.labels).items() >= labels.items()
        ]
        assert columns, f"no {family} with {labels}"
        counts = snapshot.cells.counts[:, columns].sum(axis=1).tolist()
        sums = snapshot.cells.sums[:, columns].sum(axis=1).tolist()
        return [(count, total) for count, total in zip(counts, sums, strict=True) if count]

    def windows(self, family: str, delay: float | None = None) -> dict[float, tuple[int, float]]:
        """Start of each closed window with anything in it -> count and sum of a family."""
        found: dict[float, tuple[int, float]] = {}
        for window in self.engine.windows():
            for i, column in enumerate(window.stage.columns):
                count = int(window.cells.counts[:, i].sum())
                if column.family == family and delay in (None, window.stage.delay) and count:
                    found[window.start - HOUR] = (count, float(window.cells.sums[:, i].sum()))
        return found

    def assert_books_balance(self) -> None:
        """Every record that came in has one fate, was rejected, or is still held."""
        snapshot = self.snapshot
        ended = sum(snapshot.fates.values()) + sum(snapshot.rejected.values())
        held = snapshot.open_impressions + snapshot.pending_interactions
        assert sum(snapshot.records.values()) == ended + held

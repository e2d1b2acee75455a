"""Recorded traffic of a search backend, made from a seed: the same bytes in every run and for every program.

    python -m benchmarks.workload events.jsonl [events]

Impressions of depth 20 with uuids for ids, half of them clicked, most clicks with a dwell, some outcomes, and
a fifth of the queries judged. All judgments are older than the first impression and every interaction comes
within three minutes, so the result depends on no race between topics.
"""

import heapq
import random
import sys
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

START = 1_700_000_000.0
"""Long ago: what closes the stream is hours ahead of it, and must not be ahead of the clock."""
AHEAD_SECONDS = 7200.0
"""How far the closing events are ahead: every deadline of the default configuration has passed by then."""
ROLES = ("impressions", "interactions", "judgments")
EVENTS_EACH = 2.1
"""Events for each impression, itself among them."""
LABELS: Mapping[str, Sequence[str]] = {
    "variant": ("control", "treatment"),
    "region": ("eu", "us", "apac", "latam"),
}


class Record(NamedTuple):
    """One record, and the topic it belongs to."""

    role: str
    key: bytes
    value: bytes
    ts: float
    partition: int | None = None
    """None: where the hash of the key says."""


@dataclass(frozen=True)
class Workload:
    """So many events, judgments among them, and what they are like."""

    events: int = 500_000
    seed: int = 1
    depth: int = 20
    rate: float = 1000.0
    """Events in a second of event time."""
    queries: int = 5_000
    documents: int = 50_000
    labels: Mapping[str, Sequence[str]] = field(default_factory=lambda: LABELS)

    @cached_property
    def _world(self) -> tuple[list[str], list[list[str]]]:
        """The ids of the queries, and for each the documents that match it."""
        rng = random.Random(self.seed)
        documents = [_uuid(rng) for _ in range(self.documents)]
        ids = [f"{rng.getrandbits(64):016x}" for _ in range(self.queries)]
        return ids, [rng.sample(documents, 2 * self.depth) for _ in ids]

    def records(self) -> Iterator[Record]:
        """All judgments, then impressions and interactions in the order of their time."""
        yield from islice(self._all(), self.events)

    def judgments(self) -> Iterator[Record]:
        """Of every fifth query, for 10 to 20 of the documents that match it."""
        rng = random.Random(self.seed + 1)
        ids, matching = self._world
        for query_id, documents in list(zip(ids, matching, strict=True))[::5]:
            for key in rng.sample(documents, min(rng.randint(10, 20), len(documents))):
                ts = START - 86_400 + rng.randrange(80_000)
                yield Record(
                    "judgments",
                    msgspec.json.encode((query_id, key, "anna")),
                    _json("judgment", query_id=query_id, key=key, ts=ts, grade=_grade(rng), assessor="anna"),
                    ts,
                )

    def closers(self, partitions: int) -> Iterator[Record]:
        """An impression and a click far ahead in each partition; they stay open themselves."""
        ts = START + self.events / self.rate + AHEAD_SECONDS
        for partition in range(partitions):
            ident = f"close-{partition}"
            shown = _json("impression", impression_id=ident, query_id="close", ts=ts, ranked=["a"])
            yield Record("impressions", ident.encode(), shown, ts, partition)
            click = _json("click", impression_id=ident, ts=ts, position=1)
            yield Record("interactions", ident.encode(), click, ts, partition)

    def _all(self) -> Iterator[Record]:
        yield from self.judgments()
        waiting: list[tuple[float, int, Record]] = []
        made = count()
        rng = random.Random(self.seed + 2)
        ids, matching = self._world
        ts = START
        while True:
            number = int(self.queries * rng.random() ** 2)
            ranked = rng.sample(matching[number], self.depth)
            for record in self._impression(rng, round(ts, 3), ids[number], ranked):
                heapq.heappush(waiting, (record.ts, next(made), record))
            while waiting and waiting[0][0] <= ts:
                yield heapq.heappop(waiting)[2]
            ts += EVENTS_EACH / self.rate

    def _impression(self, rng: random.Random, ts: float, query_id: str, ranked: list[str]) -> list[Record]:
        """Show a ranking, and tell what the user did with it."""
        ident = _uuid(rng)
        shown = _json(
            "impression",
            impression_id=ident,
            query_id=query_id,
            ts=ts,
            ranked=ranked,
            labels={name: rng.choice(values) for name, values in self.labels.items()},
            latency_seconds=round(rng.lognormvariate(-3.5, 0.4), 4),
        )
        key = ident.encode()
        made = [Record("impressions", key, shown, ts)]

        def add(kind: str, at: float, **fields: Any) -> None:
            value = _json(kind, impression_id=ident, ts=at, **fields)
            made.append(Record("interactions", key, value, at))

        clicks = 0 if rng.random() < 0.5 else 1 if rng.random() < 0.9 else 2
        # Users look at the top: six in ten of the clicks are on the first three ranks of twenty.
        for rank in {int(self.depth * rng.random() ** 4) for _ in range(clicks)}:
            at = round(ts + rng.uniform(1.0, 30.0), 3)
            add("click", at, key=ranked[rank], position=rank + 1)
            if rng.random() < 0.85:
                dwell = round(rng.lognormvariate(3.0, 0.8) % 120.0, 1)
                add("dwell", round(at + dwell, 3), key=ranked[rank], position=rank + 1, dwell_seconds=dwell)
        if rng.random() < 0.1:
            outcome = "successful" if clicks else "unsuccessful"
            add("outcome", round(ts + 170.0, 3), outcome=outcome, max_scroll_position=rng.randint(1, 20))
        return made


def sized(events: int) -> Workload:
    """A workload of this size with as many queries for each event as a large one: few judgments if small."""
    return Workload(events, queries=max(events // 100, 50))


def write(workload: Workload, path: Path) -> None:
    """Write the same events as JSON lines."""
    with path.open("wb") as file:
        file.writelines(record.value + b"\n" for record in workload.records())


def _json(kind: str, **fields: Any) -> bytes:
    return msgspec.json.encode({"type": kind, **fields})


def _uuid(rng: random.Random) -> str:
    return str(uuid.UUID(int=rng.getrandbits(128), version=4))


def _grade(rng: random.Random) -> int:
    return rng.choice((0, 0, 0, 1, 1, 2, 3))


if __name__ == "__main__":
    write(sized(int(sys.argv[2]) if len(sys.argv) > 2 else 500_000), Path(sys.argv[1]))

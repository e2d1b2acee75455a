"""Hypothesis strategies for streams: what happened as records, in an order of arrival."""

import json
import zlib
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from hypothesis import strategies as st

from tests.property.happenings import BASE, KEYS, REJECTED, Value, choices, events, halves, settings
from tests.property.reference_model import Settings
from tests.property.reference_wire import Idle, Sent


class Planned(NamedTuple):
    """A record, not yet in its place in the order of arrival."""

    sent: Sent | Idle
    ts: float
    identity: object
    """Records with the same one compete: which of them counts depends on their order."""


class Stream(NamedTuple):
    """Records in the order of arrival, and what they are to be counted with."""

    settings: Settings
    planned: Sequence[Planned]

    @property
    def records(self) -> list[Sent | Idle]:
        return [planned.sent for planned in self.planned]


def identity(value: Value) -> object:
    match value["type"]:
        case "impression":
            return value["impression_id"]
        case "judgment":
            return value["query_id"], value["key"], value.get("assessor") or ""
        case kind:
            return value["impression_id"], kind, value.get("key", value.get("position")), value["ts"]


WRITERS: list[Callable[[float], object]] = [
    lambda ts: ts,
    lambda ts: int(ts * 1000),
    lambda ts: datetime.fromtimestamp(ts, UTC).isoformat(),
]


@st.composite
def planned(draw: st.DrawFn, settings: Settings, *, reuse_ids: bool) -> list[Planned]:
    """The records of a stream, with some that are rejected, tombstones and pauses among them, in no order."""
    odd = draw(choices(12))
    write = odd.pick(WRITERS)
    found = [
        Planned(send(value, settings, write), BASE + value["ts"], identity(value))
        for value in draw(events(settings, reuse_ids=reuse_ids))
    ]
    value, ts = odd.pick([None, *REJECTED]), odd.pick(halves(0, 30))
    if value is not None:
        found.append(Planned(Sent(settings.topics[0][0], 0, value), BASE + ts, None))
    if odd.pick([False, True]):
        found.append(tombstone("q1", odd.pick(KEYS), BASE + odd.pick(halves(0, 40)), settings))
    for _ in range(odd.pick([0, 1, 2])):
        topic, partition = odd.pick(quiet_partitions(settings))
        now = BASE + odd.pick(halves(5, 40))
        found.append(Planned(Idle(topic, partition, now), now, None))
    return found


def quiet_partitions(settings: Settings) -> list[tuple[str, int]]:
    """The event partitions that may fall silent."""
    topics = [topic for topic, role in settings.topics if role != "judgments"]
    return [(topic, partition) for topic in reversed(topics) for partition in range(settings.partitions)]


def send(value: Value, settings: Settings, write: Callable[[float], object]) -> Sent:
    """Put an event where its producer would: by role and by key."""
    topic, key = route(value, settings)
    return Sent(topic, zlib.crc32(key) % settings.partitions, {**value, "ts": write(BASE + value["ts"])}, key)


def route(value: Value, settings: Settings) -> tuple[str, bytes]:
    if value["type"] == "judgment":
        wanted, key = (
            "judgments",
            json.dumps([value["query_id"], value["key"], value.get("assessor", "")]).encode(),
        )
    else:
        wanted = "impressions" if value["type"] == "impression" else "interactions"
        key = value["impression_id"].encode()
    fitting = [topic for topic, role in settings.topics if role == wanted]
    fitting = fitting or [topic for topic, role in settings.topics if role == "events"]
    # Of several topics that carry everything, an id has one, clicks another than impressions: both must meet.
    return fitting[len(value["type"]) % len(fitting)], key


def tombstone(query: str, key: str, ts: float, settings: Settings) -> Planned:
    value = {"type": "judgment", "query_id": query, "key": key}
    topic, record_key = route(value, settings)
    sent = Sent(topic, zlib.crc32(record_key) % settings.partitions, None, record_key, timestamp=ts)
    return Planned(sent, ts, (query, key, ""))


@st.composite
def jitters(draw: st.DrawFn, settings: Settings, count: int, beyond: float = 0) -> list[float]:
    """How long after its time each record comes."""
    choice = draw(choices(count))
    return [choice.pick(halves(0, settings.lateness + beyond)) for _ in range(count)]


@st.composite
def streams(draw: st.DrawFn, *, beyond: float = 0, reuse_ids: bool = True) -> Stream:
    """A stream whose records come within the lateness of their time, or up to `beyond` seconds after that."""
    chosen = settings(draw(choices(9)))
    found = draw(planned(chosen, reuse_ids=reuse_ids))
    jitter = draw(jitters(chosen, len(found), beyond))
    return Stream(
        chosen, in_order_of([one.ts + late for one, late in zip(found, jitter, strict=True)], found)
    )


@st.composite
def rearranged(draw: st.DrawFn, stream: Stream) -> Stream:
    """The stream in another order within the lateness, in which records that compete keep theirs."""
    jitter = draw(jitters(stream.settings, len(stream.planned)))
    latest = [one.ts + stream.settings.lateness for one in stream.planned]
    arrival: list[float] = []
    for place, one in enumerate(stream.planned):
        rivals = [i for i, other in enumerate(stream.planned) if other.identity == one.identity is not None]
        after = max((arrival[i] for i in rivals if i < place), default=0)
        before = min((latest[i] for i in rivals if i > place), default=latest[place])
        arrival.append(min(max(one.ts + jitter[place], after), before, latest[place]))
    return Stream(stream.settings, in_order_of(arrival, stream.planned))


def in_order_of(arrival: Sequence[float], found: Sequence[Planned]) -> list[Planned]:
    return [found[i] for i in sorted(range(len(found)), key=arrival.__getitem__)]

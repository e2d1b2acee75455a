"""Events as they go over the wire: a key and a JSON value each."""

import base64
from typing import Any, Literal, NamedTuple, get_args

import msgspec
import numpy as np

from monitor.simulate.backend import Hit
from monitor.simulate.judging import Judgment
from monitor.simulate.traffic import Session
from monitor.simulate.world import Query, World

Role = Literal["impression", "interaction", "judgment"]
ROLES: tuple[Role, ...] = get_args(Role)

_encode = msgspec.json.Encoder().encode


class SimulatedEvent(NamedTuple):
    """One record to be; `key` is the Kafka record key that keeps what belongs together in one partition."""

    ts: float
    role: Role
    key: bytes
    value: bytes


class Page(NamedTuple):
    """A list of results, encoded once for all the impressions that show it."""

    query_id: str
    keys: tuple[str, ...]
    grades: tuple[int, ...]
    ranked: msgspec.Raw
    embeddings: msgspec.Raw | None


def page(world: World, query: Query, hits: list[Hit], *, embeddings: bool) -> Page:
    keys = tuple(hit.key for hit in hits)
    grades = tuple(query.grade(key) for key in keys)
    vectors = msgspec.Raw(_encode([_base64(world, key) for key in keys])) if embeddings else None
    return Page(query.query_id, keys, grades, msgspec.Raw(_encode(keys)), vectors)


def impression(
    ts: float, impression_id: str, page: Page, session: Session, latency_seconds: float
) -> SimulatedEvent:
    event = {
        "type": "impression",
        "impression_id": impression_id,
        "query_id": page.query_id,
        "ts": ts,
        "ranked": page.ranked,
        "labels": session.labels,
        "session_id": session.session_id,
        "latency_seconds": latency_seconds,
    }
    if page.embeddings is not None:
        event["embeddings"] = page.embeddings
    return SimulatedEvent(ts, "impression", impression_id.encode(), _encode(event))


def interaction(ts: float, kind: str, impression_id: str, fields: dict[str, Any]) -> SimulatedEvent:
    ts = round(ts, 3)
    event = {"type": kind, "impression_id": impression_id, "ts": ts} | fields
    return SimulatedEvent(ts, "interaction", impression_id.encode(), _encode(event))


def judgment(given: Judgment, target: str) -> SimulatedEvent:
    ts, query_id = round(given.ts, 3), given.query.query_id
    event = {"type": "judgment", "query_id": query_id, "key": given.key, "ts": ts, "grade": given.grade}
    if given.assessor is not None:
        event["assessor"] = given.assessor
    event["target"] = target
    key = _encode([query_id, given.key, given.assessor or ""])
    return SimulatedEvent(ts, "judgment", key, _encode(event))


def _base64(world: World, key: str) -> str:
    return base64.b64encode(world.embeddings[key].astype(np.dtype("<f4")).tobytes()).decode()

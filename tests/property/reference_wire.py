"""Reference: what a record on the wire says, or why it is rejected. Shares no code with monitor."""

import json
import math
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

AHEAD_SECONDS = 600
LONGEST_ID = 256
MOST_RANKED = 1000

Event = dict[str, Any]


class Sent(NamedTuple):
    """One record as a source hands it over."""

    topic: str
    partition: int
    value: Mapping[str, Any] | bytes | None
    """A dict is sent as JSON; None is a tombstone."""
    key: bytes | None = None
    timestamp: float | None = None
    """Kafka's time of the record in seconds; where there is none the clock counts."""
    timestamp_type: int | None = None


class Idle(NamedTuple):
    """Not a record: a partition was read to its end and brought nothing until this time of the clock."""

    topic: str
    partition: int
    now: float


class Rejection(Exception):  # noqa: N818 - reads as what happened
    """The record is not an event; the message is the reason."""


TYPES_OF_ROLE = {
    "events": {"impression", "click", "dwell", "outcome", "judgment"},
    "impressions": {"impression"},
    "interactions": {"click", "dwell", "outcome"},
    "judgments": {"judgment"},
}


def read(sent: Sent, role: str, clock: float) -> Event:
    """Return the event with `ts` in seconds, or raise Rejection with the reason."""
    now = clock if sent.timestamp is None else sent.timestamp
    event = read_tombstone(sent.key, now) if sent.value is None else read_value(sent.value, now)
    if event["type"] not in TYPES_OF_ROLE[role]:
        raise Rejection("wrong_topic")
    return event


def read_tombstone(key: bytes | None, now: float) -> Event:
    try:
        query, document, assessor = json.loads(key or b"")
    except ValueError:
        raise Rejection("not_json") from None
    return {
        "type": "judgment",
        "query_id": query,
        "key": document,
        "assessor": assessor,
        "ts": now,
        "grade": None,
    }


def read_value(value: Mapping[str, Any] | bytes, now: float) -> Event:
    raw = value if isinstance(value, bytes) else json.dumps(value).encode()
    if len(raw) > 1024 * 1024:
        raise Rejection("too_large")
    try:
        event = json.loads(raw, parse_constant=not_finite)
    except ValueError:
        raise Rejection("not_json") from None
    if not isinstance(event, dict):
        raise Rejection("not_object")
    if event.get("type") not in TYPES_OF_ROLE["events"]:
        raise Rejection("unknown_type" if "type" in event else "missing_field")
    for name in REQUIRED[event["type"]]:
        if name not in event:
            raise Rejection("missing_field")
    for name in REQUIRED[event["type"]] + OPTIONAL[event["type"]]:
        may_be_null = name in OPTIONAL[event["type"]] or name == "grade"
        if name in event and not (may_be_null and event[name] is None):
            event[name] = FIELDS[name](event[name])
    if event["ts"] > now + AHEAD_SECONDS:
        raise Rejection("future_ts")
    if event["type"] in {"click", "dwell"} and event.get("key") is None and event.get("position") is None:
        raise Rejection("missing_field")
    return event


REQUIRED = {
    "impression": ["impression_id", "query_id", "ts", "ranked"],
    "click": ["impression_id", "ts"],
    "dwell": ["impression_id", "ts", "dwell_seconds"],
    "outcome": ["impression_id", "ts"],
    "judgment": ["query_id", "key", "ts", "grade"],
}
OPTIONAL = {
    "impression": ["labels", "latency_seconds"],
    "click": ["key", "position", "dwell_seconds"],
    "dwell": ["key", "position"],
    "outcome": ["outcome", "max_scroll_position"],
    "judgment": ["assessor", "target"],
}


def not_finite(_: str) -> float:
    raise Rejection("not_finite")


def identifier(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise Rejection("invalid_field")
    if len(value) > LONGEST_ID:
        raise Rejection("id_too_long")
    return value


def text(value: object) -> str:
    return "" if value == "" else identifier(value)


def number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise Rejection("invalid_field")
    if not math.isfinite(value):
        raise Rejection("not_finite")
    return float(value)


def seconds(value: object) -> float:
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value).timestamp()
        except ValueError:
            raise Rejection("invalid_field") from None
    found = number(value)
    return found / 1000 if found > 1e11 else found


def whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise Rejection("invalid_field")
    return value


def position(value: object) -> int:
    if whole(value) == 0:
        raise Rejection("invalid_field")
    return whole(value)


def outcome(value: object) -> str:
    if value not in {"successful", "unsuccessful"}:
        raise Rejection("invalid_field")
    return str(value)


def ranked(value: object) -> list[str]:
    if not isinstance(value, list):
        raise Rejection("invalid_field")
    if len(value) > MOST_RANKED:
        raise Rejection("too_many_ranked")
    return [identifier(entry["key"] if isinstance(entry, dict) else entry) for entry in value]


def labels(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise Rejection("invalid_field")
    return {text(name): text(label) for name, label in value.items()}


FIELDS: dict[str, Callable[[Any], Any]] = {
    "impression_id": identifier,
    "query_id": identifier,
    "key": identifier,
    "assessor": text,
    "target": text,
    "ts": seconds,
    "ranked": ranked,
    "labels": labels,
    "latency_seconds": number,
    "dwell_seconds": number,
    "position": position,
    "outcome": outcome,
    "max_scroll_position": whole,
    "grade": number,
}

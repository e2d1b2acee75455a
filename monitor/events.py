"""The wire schema: bytes in, an event or the reason for its rejection out."""

import json
import math
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

MAX_RECORD_BYTES = 1 << 20
MAX_ID_LENGTH = 256
MAX_RANKED = 1000
AHEAD_SECONDS = 600.0
"""How far a `ts` may be ahead, where the configuration does not say."""
MILLISECONDS_ABOVE = 1e11
"""A numeric `ts` above this is in milliseconds: as seconds it would be the year 5138."""


class Reason(StrEnum):
    """Why a record was rejected."""

    TOO_LARGE = "too_large"
    NOT_JSON = "not_json"
    NOT_OBJECT = "not_object"
    UNKNOWN_TYPE = "unknown_type"
    MISSING_FIELD = "missing_field"
    INVALID_FIELD = "invalid_field"
    NOT_FINITE = "not_finite"
    ID_TOO_LONG = "id_too_long"
    TOO_MANY_RANKED = "too_many_ranked"
    FUTURE_TS = "future_ts"
    WRONG_TOPIC = "wrong_topic"


class Rejected(NamedTuple):
    """A record that is not an event."""

    reason: Reason
    ts: float | None = None
    """The event's time, where that is what is wrong with it."""


MAX_VALUE = 1e9
"""More than any grade, dwell or latency; sums of squares stay far from overflowing."""
Id = Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_ID_LENGTH)]
Text = Annotated[str, msgspec.Meta(max_length=MAX_ID_LENGTH)]
NotNegative = Annotated[float, msgspec.Meta(ge=0, le=MAX_VALUE)]
Position = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]

if TYPE_CHECKING:
    # What decode() leaves in the fields: seconds since the epoch, and one row of float32 for each key.
    Timestamp = float
    Embeddings = NDArray[np.float32]
    # Text, or None for a value that is missing.
    Label = str | None
else:
    Timestamp = (
        Annotated[datetime, msgspec.Meta(tz=True)]
        | Annotated[
            float, msgspec.Meta(ge=0, description="Seconds since the epoch; above 1e11, milliseconds.")
        ]
    )
    Embeddings = Annotated[list[list[float] | bytes], msgspec.Meta(max_length=MAX_RANKED)]
    Label = Text | None


class Ranked(msgspec.Struct, gc=False):
    """One result, where the score is sent along."""

    key: Id
    score: float | None = None


class Impression(msgspec.Struct, tag_field="type", tag="impression", gc=False):
    """What the search backend showed."""

    impression_id: Id
    query_id: Id
    ts: Timestamp
    ranked: Annotated[list[Id | Ranked], msgspec.Meta(max_length=MAX_RANKED)]
    labels: dict[Text, Label] | None = None
    session_id: Text | None = None
    latency_seconds: NotNegative | None = None
    embeddings: Embeddings | None = None


class Click(msgspec.Struct, tag_field="type", tag="click", gc=False):
    """A result was opened. `key` or `position` says which; of both, `key` wins."""

    impression_id: Id
    ts: Timestamp
    key: Id | None = None
    position: Position | None = None
    dwell_seconds: NotNegative | None = None


class Dwell(msgspec.Struct, tag_field="type", tag="dwell", gc=False):
    """How long the user stayed with a result."""

    impression_id: Id
    ts: Timestamp
    dwell_seconds: NotNegative
    key: Id | None = None
    position: Position | None = None


class Outcome(msgspec.Struct, tag_field="type", tag="outcome", gc=False):
    """How the search ended for the user."""

    impression_id: Id
    ts: Timestamp
    outcome: Literal["successful", "unsuccessful"] | None = None
    max_scroll_position: Annotated[int, msgspec.Meta(ge=0, le=1_000_000)] | None = None


class Judgment(msgspec.Struct, tag_field="type", tag="judgment", gc=False):
    """How relevant a document is for a query; a `null` grade withdraws it."""

    query_id: Id
    key: Id
    ts: Timestamp
    grade: NotNegative | None
    assessor: Text | None = None
    target: Text | None = None


Event = Impression | Click | Dwell | Outcome | Judgment
INTERACTIONS = (Click, Dwell, Outcome)
NAMING = (Click, Dwell)
"""Events that name a result."""
_DECODER: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


class _Timed(msgspec.Struct, gc=False):
    """Any event, of which only the time is of interest."""

    ts: Timestamp


_TIME_DECODER: msgspec.json.Decoder[_Timed] = msgspec.json.Decoder(_Timed)
_JUDGMENT_KEY = msgspec.json.Decoder(tuple[Id, Id, Text | None])


def decode(raw: bytes, now: float, ahead_seconds: float = AHEAD_SECONDS) -> Event | Rejected:
    """Decode and check one record; its `ts` may be `ahead_seconds` after `now`, and not more.

    >>> decode(b'{"type": "click", "impression_id": "i1", "ts": "2026-01-01T00:00:00Z", "position": 2}', 2e9)
    Click(impression_id='i1', ts=1767225600.0, key=None, position=2, dwell_seconds=None)
    >>> decode(b'{"type": "click", "impression_id": "i1", "ts": 1767225600000}', 2e9)
    Rejected(reason=<Reason.MISSING_FIELD: 'missing_field'>, ts=None)
    """
    if len(raw) > MAX_RECORD_BYTES:
        return Rejected(Reason.TOO_LARGE)
    try:
        event = _DECODER.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return Rejected(_reason(raw, error))
    ts: float | datetime = event.ts
    if not isinstance(ts, float) or not 0 <= ts <= MILLISECONDS_ABOVE or ts > now + ahead_seconds:
        event.ts = seconds = _seconds(ts)
        if seconds < 0:
            return Rejected(Reason.INVALID_FIELD)
        if seconds > now + ahead_seconds:
            return Rejected(Reason.FUTURE_TS, seconds)
    if isinstance(event, Impression):
        return event if event.embeddings is None else _with_matrix(event)
    if isinstance(event, NAMING) and event.key is None and event.position is None:
        return Rejected(Reason.MISSING_FIELD)
    return event


def decode_all(raws: Sequence[bytes], now: float, ahead_seconds: float = AHEAD_SECONDS) -> list[Event] | None:
    """Decode records together; `now` is the earliest of the times that their `ts` are compared with.

    None unless decode() would find an event in each: then look at each alone.
    """
    if max(map(len, raws)) > MAX_RECORD_BYTES:
        return None
    try:
        events = list(map(_DECODER.decode, raws))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    times: list[float] = [event.ts for event in events]
    if set(map(type, times)) != {float} or max(times) > MILLISECONDS_ABOVE:
        times = [_seconds(ts) for ts in times]
        for event, ts in zip(events, times, strict=True):
            event.ts = ts
    if min(times) < 0 or max(times) > now + ahead_seconds:
        return None
    for event in events:
        if isinstance(event, Impression):
            if event.embeddings is not None and isinstance(_with_matrix(event), Rejected):
                return None
        elif isinstance(event, NAMING) and event.key is None and event.position is None:
            return None
    return events


def times_of(raws: Sequence[bytes]) -> list[float]:
    """The `ts` of records, without looking at anything else in them; NaN where there is none.

    >>> times_of([b'{"ts": 1767225600000, "type": "click"}', b'{"ts": "2026-01-01T00:00:00Z"}', b"nonsense"])
    [1767225600.0, 1767225600.0, nan]
    """
    try:
        times: list[float] = [timed.ts for timed in map(_TIME_DECODER.decode, raws)]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return [_time_of(raw) for raw in raws]
    if set(map(type, times)) != {float} or max(times) > MILLISECONDS_ABOVE:
        return [_seconds(ts) for ts in times]
    return times


def _time_of(raw: bytes) -> float:
    try:
        return _seconds(_TIME_DECODER.decode(raw).ts)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return math.nan


def _seconds(ts: float | datetime) -> float:
    if isinstance(ts, datetime):
        return ts.timestamp()
    return ts / 1000.0 if ts > MILLISECONDS_ABOVE else ts


def decode_tombstone(key: bytes | None, now: float) -> Judgment | Rejected:
    """A record without a value withdraws the judgment that its key names."""
    try:
        query_id, document, assessor = _JUDGMENT_KEY.decode(key or b"")
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return Rejected(Reason.NOT_JSON)
    return Judgment(query_id=query_id, key=document, ts=now, grade=None, assessor=assessor or None)


def judgment_key(judgment: Judgment) -> bytes:
    """The record key that lets a compacted topic keep each assessor's newest judgment."""
    return msgspec.json.encode((judgment.query_id, judgment.key, judgment.assessor or ""))


def schema() -> dict[str, Any]:
    """The JSON Schema of a record."""
    found = msgspec.json.schema(Event)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ranking-monitor event",
        "description": "One record on Kafka or one line of a file. Unknown fields are ignored.",
        **found,
    }


def embedding_matrix(sent: Sequence[Sequence[float] | bytes], count: int) -> NDArray[np.float32] | Reason:
    r"""Turn `count` vectors (lists, or the bytes of little-endian float32) into the rows of one matrix.

    >>> embedding_matrix([[1.0, 0.0], b"\x00\x00\x80?\x00\x00\x00@"], 2)
    array([[1., 0.],
           [1., 2.]], dtype=float32)
    """
    if any(isinstance(vector, bytes) and len(vector) % 4 for vector in sent):
        return Reason.INVALID_FIELD
    rows = [np.frombuffer(vector, "<f4") if isinstance(vector, bytes) else vector for vector in sent]
    dimensions = {len(row) for row in rows}
    if len(rows) != count or len(dimensions) > 1 or 0 in dimensions:
        return Reason.INVALID_FIELD
    with np.errstate(over="ignore"):
        matrix = np.array(rows, dtype=np.float32).reshape(len(rows), max(dimensions, default=0))
    return matrix if np.isfinite(matrix).all() else Reason.NOT_FINITE


def _with_matrix(event: Impression) -> Event | Rejected:
    """Turn the vectors of an impression into one matrix."""
    sent: Any = event.embeddings
    matrix = embedding_matrix(sent, len(event.ranked))
    if isinstance(matrix, Reason):
        return Rejected(matrix)
    event.embeddings = matrix
    return event


def _reason(raw: bytes, error: Exception) -> Reason:
    message = str(error)
    if not isinstance(error, msgspec.ValidationError):
        return Reason.NOT_FINITE if _only_not_finite(raw) else Reason.NOT_JSON
    if message.startswith("Expected `object`") and " - at" not in message:
        return Reason.NOT_OBJECT
    if message.endswith("at `$.type`"):
        return Reason.UNKNOWN_TYPE
    if message.startswith("Object missing required field"):
        return Reason.MISSING_FIELD
    if message.startswith("Number out of range"):
        return Reason.NOT_FINITE
    if f"`str` of length <= {MAX_ID_LENGTH}" in message:
        return Reason.ID_TOO_LONG
    if f"`array` of length <= {MAX_RANKED}" in message:
        return Reason.TOO_MANY_RANKED
    return Reason.INVALID_FIELD


def _only_not_finite(raw: bytes) -> bool:
    """Many producers write NaN and Infinity, which JSON does not have: say so rather than 'not JSON'."""
    found: list[str] = []
    try:
        json.loads(raw, parse_constant=found.append)
    except (ValueError, RecursionError):
        return False
    return bool(found)

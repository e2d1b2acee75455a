"""What a commit remembers beside the offset: how far a task was counted. Read back as untrusted text."""

import math
from collections.abc import Iterable, Mapping
from typing import Annotated

import msgspec

VERSION = 1
Offset = Annotated[int, msgspec.Meta(ge=0)]


class Checkpoint(msgspec.Struct, frozen=True):
    """P and S of one task: the next offset of each topic, and the watermark. All before is counted."""

    positions: dict[str, Offset]
    watermark: float = -math.inf


class _Stored(msgspec.Struct, frozen=True):
    v: int
    p: dict[str, Offset]
    s: float | None


_DECODER = msgspec.json.Decoder(_Stored)


def encode(checkpoint: Checkpoint) -> str:
    """The text stored with each of the task's partitions.

    >>> encode(Checkpoint({"clicks": 12}, 1700000000.5))
    '{"v":1,"p":{"clicks":12},"s":1700000000.5}'
    """
    watermark = checkpoint.watermark if math.isfinite(checkpoint.watermark) else None
    return msgspec.json.encode(_Stored(VERSION, checkpoint.positions, watermark)).decode()


def decode(text: str) -> Checkpoint | None:
    """What was stored; None if it is absent, damaged or of another version."""
    try:
        stored = _DECODER.decode(text)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return None
    if stored.v != VERSION:
        return None
    return Checkpoint(stored.p, -math.inf if stored.s is None else stored.s)


def lower(checkpoints: Iterable[Checkpoint]) -> Checkpoint:
    """Of what the partitions of a task say, the lower counts: rather twice than never."""
    found = list(checkpoints)
    topics = set[str]().union(*(checkpoint.positions for checkpoint in found))
    return Checkpoint(
        {topic: min(c.positions.get(topic, 0) for c in found) for topic in topics},
        min((c.watermark for c in found), default=-math.inf),
    )


def higher(one: Checkpoint | None, other: Checkpoint | None) -> Checkpoint | None:
    """Of what the log and this process know of a task: all that either has counted is counted."""
    if one is None or other is None:
        return one or other
    topics = one.positions.keys() | other.positions.keys()
    return Checkpoint(
        {topic: max(one.positions.get(topic, 0), other.positions.get(topic, 0)) for topic in topics},
        max(one.watermark, other.watermark),
    )


def of_task(metadata: Mapping[str, str]) -> Checkpoint | None:
    """The checkpoint of a task from what was stored with the partition of each topic."""
    found = [decode(text) for text in metadata.values()]
    return None if not found or None in found else lower([c for c in found if c is not None])

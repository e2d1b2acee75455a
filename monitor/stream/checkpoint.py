"""What a commit remembers beside the offset: how far a task was counted. Read back as untrusted text."""

import math
from collections.abc import Collection, Iterable, Mapping
from typing import Annotated

import msgspec

VERSION = 2
MAX_CHARACTERS = 3000
"""Brokers take 4096 bytes, unless they are told otherwise."""
MAX_DELAY_SECONDS = 1e9
"""As long as any delay that can be configured."""
Offset = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
Delay = Annotated[float, msgspec.Meta(ge=0, le=MAX_DELAY_SECONDS)]


class Unreadable(ValueError):  # noqa: N818 - reads as what happened
    """Metadata that this program did not write, or that a newer one wrote; the message says which."""


class Delays(msgspec.Struct, frozen=True):
    """The delays under which was counted: a deadline is an impression's time and one of these."""

    attribution: Delay
    maturities: tuple[Delay, ...]

    @property
    def last(self) -> float:
        return max((self.attribution, *self.maturities))


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    """P and S of one task: the next offset of each topic, and the watermark. All before is counted."""

    positions: dict[str, Offset]
    watermark: float = -math.inf
    sequence: int = 0
    """How many commits of the task came before, by all its owners."""
    delays: Delays | None = None
    """None: those of the program that reads it."""
    apart: dict[str, float | None] = {}
    """Kinds of deadlines that were counted up to another time than the watermark, as after a change of the
    delays: `clicks`, `settled`, or a maturity in seconds. None: not at all."""
    late: dict[str, list[Offset]] = {}
    """Offsets of late impressions, of each topic: read again in another order they might not be late."""
    ahead: dict[str, list[Offset]] = {}
    """Offsets of records whose `ts` was too far ahead of the clock: by a later clock it might not be."""


class _Stored(msgspec.Struct, frozen=True, omit_defaults=True):
    v: int
    n: int
    p: dict[str, Offset]
    s: float | None
    d: Delays | None = None
    apart: dict[str, float | None] = {}
    late: dict[str, list[Offset]] = {}
    ahead: dict[str, list[Offset]] = {}  # unknown to 0.1, which passes over it


class _Any(msgspec.Struct):
    v: int


_DECODER = msgspec.json.Decoder(_Stored)
_VERSION = msgspec.json.Decoder(_Any)


def encode(checkpoint: Checkpoint) -> str:
    """The text stored with each of the task's partitions.

    >>> encode(Checkpoint(positions={"clicks": 12}, watermark=1700000000.5, sequence=3))
    '{"v":2,"n":3,"p":{"clicks":12},"s":1700000000.5}'
    """
    watermark = checkpoint.watermark if math.isfinite(checkpoint.watermark) else None
    late, ahead = checkpoint.late, checkpoint.ahead
    while True:
        stored = _Stored(
            VERSION,
            checkpoint.sequence,
            checkpoint.positions,
            watermark,
            checkpoint.delays,
            checkpoint.apart,
            late,
            ahead,
        )
        text = msgspec.json.encode(stored).decode()
        if len(text) <= MAX_CHARACTERS or not (late or ahead):
            return text
        # A commit that the broker refuses would stop all counting.
        if _size(late) >= _size(ahead):
            late = _newer_half(late)
        else:
            ahead = _newer_half(ahead)


def _size(found: Mapping[str, list[int]]) -> int:
    return sum(map(len, found.values()))


def _newer_half(found: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """Half of the offsets of each topic: the newest matter longest."""
    return {topic: offsets[-(len(offsets) // 2) :] for topic, offsets in found.items() if len(offsets) > 1}


def decode(text: str) -> Checkpoint:
    """What was stored. Raises Unreadable."""
    try:
        version = _VERSION.decode(text).v
        if version == VERSION:
            stored = _DECODER.decode(text)
            return Checkpoint(
                positions=stored.p,
                watermark=-math.inf if stored.s is None else stored.s,
                sequence=stored.n,
                delays=stored.d,
                apart=stored.apart,
                late=stored.late,
                ahead=stored.ahead,
            )
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        raise Unreadable("it is damaged, or not of this program") from None
    raise Unreadable(f"it is of version {version}, and this program knows version {VERSION}")


def lower(checkpoints: Iterable[Checkpoint]) -> Checkpoint:
    """Of what the partitions of a task say, the lower counts: rather twice than never."""
    found = sorted(checkpoints, key=lambda checkpoint: checkpoint.sequence)
    topics = set[str]().union(*(checkpoint.positions for checkpoint in found))
    return msgspec.structs.replace(
        found[0],
        positions={topic: min(c.positions.get(topic, 0) for c in found) for topic in topics},
        watermark=min(c.watermark for c in found),
        late=_union(c.late for c in found),
        ahead=_union(c.ahead for c in found),
    )


def higher(one: Checkpoint | None, other: Checkpoint | None) -> Checkpoint | None:
    """Of what the log and this process know of a task: all that either has counted is counted."""
    if one is None or other is None:
        return one or other
    topics = one.positions.keys() | other.positions.keys()
    return msgspec.structs.replace(
        max(one, other, key=lambda checkpoint: checkpoint.watermark),
        positions={t: max(one.positions.get(t, 0), other.positions.get(t, 0)) for t in topics},
        sequence=max(one.sequence, other.sequence),
        late=_union([one.late, other.late]),
        ahead=_union([one.ahead, other.ahead]),
    )


def not_after(checkpoint: Checkpoint, until: float) -> Checkpoint:
    """The same, counted up to a time at most.

    Version 0.1 followed the clocks of senders: its S may be far ahead, and nothing would count until then.
    """
    return msgspec.structs.replace(
        checkpoint,
        watermark=min(checkpoint.watermark, until),
        apart={
            kind: None if at is None else min(at, until + _longest(checkpoint))
            for kind, at in checkpoint.apart.items()
        },
    )


def without(known: Checkpoint | None, topics: Collection[str]) -> Checkpoint | None:
    """Forget what was counted of topics whose logs are others now.

    >>> without(Checkpoint(positions={"impressions": 7, "clicks": 3}), ["clicks"]).positions
    {'impressions': 7}
    """
    if known is None or known.positions.keys() <= set(topics):
        return None
    return msgspec.structs.replace(
        known,
        positions={topic: offset for topic, offset in known.positions.items() if topic not in topics},
        late={topic: offsets for topic, offsets in known.late.items() if topic not in topics},
        ahead={topic: offsets for topic, offsets in known.ahead.items() if topic not in topics},
    )


def of_task(metadata: Mapping[str, str]) -> Checkpoint | None:
    """The checkpoint of a task from what was stored with the partition of each topic. Raises Unreadable.

    None where nothing was stored: all from the committed offset on is to be counted. So is a topic of which
    nothing is stored: it was added later, made anew, or its offsets were set by hand.
    """
    found = [decode(text) for text in metadata.values() if text]
    if not found:
        return None
    lowest = lower(found)
    counted = {topic: offset for topic, offset in lowest.positions.items() if metadata.get(topic)}
    return msgspec.structs.replace(lowest, positions=counted)


def latest(checkpoint: Checkpoint) -> float:
    """The latest time that it names; a longer delay moves deadlines on, by no more than itself."""
    apart = max((until for until in checkpoint.apart.values() if until is not None), default=-math.inf)
    return max(checkpoint.watermark, apart - _longest(checkpoint))


def _longest(checkpoint: Checkpoint) -> float:
    return checkpoint.delays.last if checkpoint.delays else 0.0


def _union(found: Iterable[Mapping[str, list[int]]]) -> dict[str, list[int]]:
    offsets: dict[str, set[int]] = {}
    for by_topic in found:
        for topic, listed in by_topic.items():
            offsets.setdefault(topic, set()).update(listed)
    return {topic: sorted(listed) for topic, listed in offsets.items()}

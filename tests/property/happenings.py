"""What can happen, drawn by Hypothesis: few ids and keys, and half seconds, so that boundaries are hit."""

from collections.abc import Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

from tests.property.reference_model import Settings

BASE = 1_700_000_040.0
"""A whole minute, large enough that the times may be sent in milliseconds too."""
CLOCK = BASE + 1000

KEYS = ["a", "b", "c", "d", "e"]
RANKED: list[Any] = [*KEYS, {"key": "a", "score": 0.5}]
METRICS = tuple(
    "ndcg@1 ndcg@3 mrr@3 recall@2 precision@3 ap@4 ap success@2 judged@3 "
    "ctr@1 ctr@3 position_ctr@2 click_mrr@3 abandonment satisfied".split()
)
ONE_TOPIC = (("search-events", "events"),)
TWO_TOPICS = (("search-events", "events"), ("more-events", "events"))
BY_ROLE = (("shown", "impressions"), ("done", "interactions"), ("judged", "judgments"))
BESIDE = (("search-events", "events"), ("judged", "judgments"))

T = TypeVar("T")
Value = dict[str, Any]

PLACES: list[Value] = [
    *({"key": key} for key in ["a", "b", "c", "nowhere"]),
    *({"position": position} for position in (1, 2, 3, 6)),
    {"key": "b", "position": 1},
]
OUTCOMES: list[Value] = [
    {"outcome": "successful"},
    {"outcome": "unsuccessful", "max_scroll_position": 3},
    {"outcome": None, "max_scroll_position": 0},
    {},
]
ASSESSORS: list[Value] = [{}, {"assessor": "x"}, {"assessor": "y"}, {"assessor": ""}, {"target": "t"}]
LABELS: list[Value] = [
    {},
    {"labels": {"variant": "x"}},
    {"labels": {"variant": "y", "market": "de", "user": "u1"}},
    {"labels": {"market": "de"}},
    {"labels": None},
]
LATENCIES: list[Value] = [{}, {"latency_seconds": 0}, {"latency_seconds": 0.25}, {"latency_seconds": 12.5}]
REJECTED: list[Value | bytes] = [
    b"{",
    b'["impression"]',
    b'{"type": "judgment", "query_id": "q1", "key": "a", "ts": 1700000050, "grade": NaN}',
    {"type": "purchase", "ts": BASE + 20},
    {"type": "click", "impression_id": "i0", "ts": BASE + 20},
    {"type": "click", "impression_id": "i0", "ts": CLOCK + 601, "position": 1},
    {"type": "dwell", "impression_id": "i" * 257, "ts": BASE + 20, "position": 1, "dwell_seconds": 1},
    {"type": "judgment", "query_id": "q1", "key": "a", "ts": BASE + 20, "grade": -1},
]


class Choices:
    """Drawn bytes that decide one thing after another.

    A strategy for each field would cost a hundred draws a stream. This costs one for each record, and still
    shrinks: towards fewer records, and in each towards the first option.
    """

    def __init__(self, drawn: bytes) -> None:
        self._drawn = iter(drawn)

    def pick(self, options: Sequence[T]) -> T:
        return options[next(self._drawn) % len(options)]


def choices(size: int) -> st.SearchStrategy[Choices]:
    return st.binary(min_size=size, max_size=size).map(Choices)


def halves(first: float, last: float) -> list[float]:
    return [n / 2 for n in range(int(first * 2), int(last * 2) + 1)]


def settings(choice: Choices) -> Settings:
    return Settings(
        attribution=choice.pick([10, 5, 1.5]),
        lateness=choice.pick([0, 1, 4.5]),
        maturities=choice.pick([(3,), (2, 8), (5, 15), (20, 0.5)]),
        metrics=METRICS,
        combine=choice.pick(["mean", "median"]),
        unjudged=choice.pick(["nonrelevant", "condensed"]),
        labels=choice.pick([(), ("variant",), ("variant", "market")]),
        windows=choice.pick([(5,), (4, 10), (1.5, 2), ()]),
        topics=choice.pick([ONE_TOPIC, ONE_TOPIC, TWO_TOPICS, BY_ROLE, BESIDE]),
        partitions=choice.pick([1, 2]),
        clock=CLOCK,
    )


def impression(choice: Choices) -> Value:
    value: Value = {
        "type": "impression",
        "impression_id": choice.pick([f"i{number}" for number in range(7)]),
        "query_id": choice.pick(["q1", "q2"]),
        "ts": choice.pick(halves(0, 30)),
        "ranked": [choice.pick(RANKED) for _ in range(choice.pick([3, 2, 4, 5, 1, 0]))],
    }
    return {**value, **choice.pick(LABELS), **choice.pick(LATENCIES)}


def interaction(choice: Choices, settings: Settings, shown: Sequence[Value]) -> Value:
    of = choice.pick([*shown, {"impression_id": "ghost", "ts": 10}])
    ts = max(of["ts"] + choice.pick(offsets(settings)), 0)
    value: Value = {"impression_id": of["impression_id"], "ts": ts}
    kind = choice.pick(["click", "dwell", "outcome", "click"])
    if kind == "outcome":
        return {"type": kind, **value, **choice.pick(OUTCOMES)}
    value |= choice.pick(PLACES)
    if kind == "dwell" or choice.pick([False, True]):
        value["dwell_seconds"] = choice.pick([0, 29.5, 30, 45])
    return {"type": kind, **value}


def offsets(settings: Settings) -> list[float]:
    """Where an interaction stands from its impression: inside, on each end of the attribution, beyond."""
    end = settings.attribution
    beyond = end + 2 * settings.lateness + 3
    return [0, 0.5, 1, 0, 1, end, end - 0.5, end + 0.5, -0.5, -1, -end, 0.5 - end, -end - 0.5, beyond]


def judgment(choice: Choices, settings: Settings, shown: Sequence[Value]) -> Value:
    of = choice.pick([*shown, {"query_id": "q3", "ts": 25}])
    return {
        "type": "judgment",
        "query_id": of["query_id"],
        "key": choice.pick(KEYS),
        "ts": max(of["ts"] + choice.pick(delays(settings)), 0),
        "grade": choice.pick([1, 0, 2, 3, 0.5, None]),
        **choice.pick(ASSESSORS),
    }


def panel(choice: Choices, settings: Settings, shown: Sequence[Value]) -> list[Value]:
    """Three assessors on one document: the fewest for which mean and median differ."""
    one = judgment(choice, settings, shown)
    return [{**one, "assessor": name, "grade": choice.pick([0, 1, 3])} for name in ("x", "y", "z")]


def delays(settings: Settings) -> list[float]:
    """Where a judgment stands from an impression: before it, around each maturity, after the last."""
    around = [maturity + shift for maturity in settings.maturities for shift in (-0.5, 0, 0.5)]
    return [0, 0.5, -5, *around, max(settings.delays) + settings.lateness + 1]


@st.composite
def events(draw: st.DrawFn, settings: Settings, *, reuse_ids: bool) -> list[Value]:
    """What happened, in no order; `ts` counts from 0. Without `reuse_ids` each impression has its own id."""
    shown = [impression(choice) for choice in draw(several(12, at_least=1, at_most=6))]
    if not reuse_ids:
        shown = [{**value, "impression_id": f"i{number}"} for number, value in enumerate(shown)]
    happened = [
        *shown,
        *(interaction(choice, settings, shown) for choice in draw(several(6, at_most=12))),
        *(judgment(choice, settings, shown) for choice in draw(several(5, at_most=12))),
        *(one for choice in draw(several(8, at_most=1)) for one in panel(choice, settings, shown)),
    ]
    again = [
        altered(value) if choice.pick([False, True]) else value
        for choice in draw(several(2, at_most=3))
        for value in [choice.pick(happened)]
    ]
    return happened + again


@st.composite
def several(draw: st.DrawFn, size: int, *, at_least: int = 0, at_most: int) -> list[Choices]:
    number = draw(st.integers(at_least, at_most))
    return [draw(choices(size)) for _ in range(number)]


def altered(value: Value) -> Value:
    """The same event by the rules, with something else in it."""
    match value["type"]:
        case "impression":
            return {**value, "ranked": value["ranked"][::-1], "latency_seconds": 3}
        case "judgment":
            return {**value, "grade": 2}
        case "outcome":
            return {**value, "outcome": "successful"}
        case _:
            return {**value, "dwell_seconds": 31}

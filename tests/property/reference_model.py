"""Reference: settings, series, and impressions with what belongs to them. Shares no code with monitor."""

from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from tests.property.reference_metrics import Behaviour
from tests.property.reference_wire import Event

CARRIED = ("outcome", "max_scroll_position")

Labels = tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What the configuration says, as far as the rules need it."""

    attribution: float
    lateness: float
    maturities: tuple[float, ...]
    metrics: tuple[str, ...]
    combine: str = "mean"
    unjudged: str = "nonrelevant"
    labels: tuple[str, ...] = ()
    windows: tuple[float, ...] = ()
    topics: tuple[tuple[str, str], ...] = (("search-events", "events"),)
    """Pairs of topic and role: events, impressions, interactions or judgments."""
    partitions: int = 1
    """How many each event topic has."""
    clock: float = inf

    @property
    def delays(self) -> tuple[float, ...]:
        return (0, self.attribution, *self.maturities)


class Series(NamedTuple):
    """What one histogram is of; k and maturity are None where the family has no such label."""

    family: str
    k: int | None
    maturity: float | None
    labels: Labels


class Window(NamedTuple):
    """One tumbling window of one series."""

    size: float
    start: float
    series: Series


class Arrived(NamedTuple):
    """A valid event, and where it stands in the order of arrival."""

    place: int
    task: int
    event: Event


@dataclass(eq=False)
class Interaction:
    """A click, dwell or outcome; without a fate it waits, or belongs to an impression that is not decided."""

    arrived: Arrived
    fate: str | None = None
    taken: bool = False

    @property
    def ts(self) -> float:
        return float(self.arrived.event["ts"])

    @property
    def identity(self) -> tuple[object, ...]:
        event = self.arrived.event
        what = event.get("key") if event.get("key") is not None else event.get("position")
        return self.arrived.task, event["impression_id"], event["type"], what, self.ts


@dataclass(eq=False)
class Impression:
    """An impression that was neither duplicate nor late, with the interactions that belong to it."""

    arrived: Arrived
    interactions: list[Interaction] = field(default_factory=list)

    @property
    def id(self) -> tuple[int, str]:
        return self.arrived.task, self.arrived.event["impression_id"]

    @property
    def ts(self) -> float:
        return float(self.arrived.event["ts"])

    @property
    def ranked(self) -> list[str]:
        """The keys, each at its first rank, ranks closed up."""
        return list(dict.fromkeys(self.arrived.event["ranked"]))


def says_of(judgment: Arrived) -> tuple[str, str, str]:
    """Of what a judgment speaks, and who says it."""
    return judgment.event["query_id"], judgment.event["key"], judgment.event.get("assessor") or ""


def rank_of(event: Event, impression: Impression) -> int | None:
    """The rank that a click or dwell is about; None if it is not among the ranked."""
    sent = impression.arrived.event["ranked"]
    key = event.get("key")
    if key is None:
        position = event["position"]
        key = sent[position - 1] if position <= len(sent) else None
    return impression.ranked.index(key) + 1 if key in impression.ranked else None


def behaviour(impression: Impression) -> Behaviour:
    """What the joined interactions of an impression add up to."""
    clicked: set[int] = set()
    dwell: dict[int, float] = {}
    outcomes: list[Event] = []
    for one in impression.interactions:
        event = one.arrived.event
        if event["type"] == "outcome":
            outcomes.append(event)
        elif rank := rank_of(event, impression):
            if event["type"] == "click":
                clicked.add(rank)
            if event.get("dwell_seconds") is not None:
                dwell[rank] = max(dwell.get(rank, 0), event["dwell_seconds"])
    outcomes.sort(key=lambda event: float(event["ts"]))
    last: dict[str, object] = {}
    for event in outcomes:
        last.update({name: event[name] for name in CARRIED if event.get(name) is not None})
    return Behaviour(
        shown=len(impression.ranked),
        clicked=frozenset(clicked),
        dwell=dwell,
        outcome=last.get("outcome"),  # type: ignore[arg-type]
        scroll=last.get("max_scroll_position"),  # type: ignore[arg-type]
    )

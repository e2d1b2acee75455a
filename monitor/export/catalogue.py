"""Every family that is exported, once: its name, type, help text, labels and buckets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from monitor.config import Config
from monitor.stream.late_histogram import LATE_BUCKETS
from monitor.stream.plan import Column, make_plan
from monitor.stream.snapshot import DELAY_BUCKETS


class Kind(StrEnum):
    """The type as Prometheus names it."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Family:
    """One family; a counter's name ends in `_total`, as queries write it."""

    name: str
    kind: Kind
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class ScoreFamilies:
    """What one metric of the plan is exported as."""

    columns: tuple[int, ...]
    """Which columns of the plan are its series."""
    scores: Family
    squares: Family | None
    """For the variance of a mean."""


def score_families(columns: Sequence[Column], label_names: tuple[str, ...]) -> list[ScoreFamilies]:
    """Group the plan's columns into families, in the order in which they come first."""
    groups: dict[str, list[int]] = {}
    for i, column in enumerate(columns):
        groups.setdefault(column.family, []).append(i)
    return [_score_families(tuple(members), columns[members[0]], label_names) for members in groups.values()]


def _score_families(members: tuple[int, ...], column: Column, label_names: tuple[str, ...]) -> ScoreFamilies:
    metric, labels = column.measure.metric, _labels(column, label_names)
    scores = Family(column.family, Kind.HISTOGRAM, metric.summary, labels, metric.buckets)
    squares = Family(
        column.family.removesuffix("_avg") + "_squares_total",
        Kind.COUNTER,
        f"Sum of the squares of the values of {column.family}.",
        labels,
    )
    return ScoreFamilies(members, scores, squares if column.averaged else None)


@cache
def window_families(column: Column, label_names: tuple[str, ...]) -> tuple[Family, Family]:
    """The mean in a window, and of how many."""
    labels = (*_labels(column, label_names), "window")
    name = column.window_family
    return (
        Family(f"{name}_avg", Kind.GAUGE, f"Mean of {column.family} in the newest closed window.", labels),
        Family(f"{name}_samples", Kind.GAUGE, f"Impressions that {name}_avg is the mean of.", labels),
    )


def _labels(column: Column, label_names: tuple[str, ...]) -> tuple[str, ...]:
    return (*(name for name, _ in column.labels), *label_names)


def position_families(label_names: tuple[str, ...]) -> tuple[Family, Family]:
    """How often each position was shown, and how often it was clicked."""
    labels = ("position", *label_names)
    return (
        Family("vector_position_shown_total", Kind.COUNTER, "Impressions that had this position.", labels),
        Family(
            "vector_position_clicks_total",
            Kind.COUNTER,
            "Impressions in which this position was clicked; by vector_position_shown_total, its CTR.",
            labels,
        ),
    )


WINDOW_START = Family(
    "vector_window_start_seconds",
    Kind.GAUGE,
    "Event time at which the newest closed window begins, by the delay of its metrics.",
    ("window", "delay"),
)


def _own(rest: str, kind: Kind, text: str, *labels: str, buckets: tuple[float, ...] = ()) -> Family:
    return Family(f"ranking_monitor_{rest}", kind, text, labels, buckets)


RECORDS = _own("records_total", Kind.COUNTER, "Records that came in.", "topic")
REJECTED = _own("rejected_total", Kind.COUNTER, "Records that are not events, by reason.", "reason")
EVENTS = _own("events_total", Kind.COUNTER, "Events by the one fate in which each ended.", "type", "fate")
JUDGED = _own(
    "judged_total",
    Kind.COUNTER,
    "Impressions whose query had a judgment at the deadline, or had none.",
    *("maturity", "fate"),
)
OPEN = _own("open_impressions", Kind.GAUGE, "Impressions held until their last deadline.")
PENDING = _own("pending_interactions", Kind.GAUGE, "Interactions that have no fate yet.")
JUDGMENTS = _own("judgments", Kind.GAUGE, "Judgments in the table.")
EVICTED_JUDGMENTS = _own("evicted_judgments_total", Kind.COUNTER, "Judgments forgotten over the bound.")
DUPLICATE_KEYS = _own("duplicate_keys_total", Kind.COUNTER, "Keys that stood twice in one ranking.")
LABEL_OVERFLOW = _own(
    "label_overflow_total",
    Kind.COUNTER,
    'Impressions whose value of this label became "other", over the bound of values.',
    "label",
)
REPLAY = _own(
    "replay_records",
    Kind.GAUGE,
    "Records still to be read again, after a restart or a takeover, without being counted.",
)
LAG = _own(
    "consumer_lag",
    Kind.GAUGE,
    "Records between the processed position and the end of the partition.",
    *("topic", "partition"),
)
SKIPPED = _own(
    "skipped_records_total",
    Kind.COUNTER,
    "Records that were gone before they were read, or in a batch that cannot be decoded.",
    *("topic", "partition"),
)
WATERMARK = _own("watermark_timestamp_seconds", Kind.GAUGE, "Event time up to which all is decided.", "task")
NEWEST = _own(
    "newest_event_timestamp_seconds",
    Kind.GAUGE,
    "Largest event time that the partition has brought.",
    *("topic", "partition"),
)
DECISION_DELAY = _own(
    "decision_delay_seconds",
    Kind.HISTOGRAM,
    "How long after its deadline an impression was decided, by the delay of the deadline.",
    "delay",
    buckets=DELAY_BUCKETS,
)
LATE = _own(
    "late_impression_seconds",
    Kind.HISTOGRAM,
    "How far event time was ahead of a late impression: lateness_seconds above that would have kept it.",
    buckets=LATE_BUCKETS,
)
LEAD = _own(
    "event_lead_seconds",
    Kind.GAUGE,
    "Largest lead of an event's ts over the log's clock within the last 5 to 10 minutes.",
    "topic",
)
CLOCK_SKEW = _own(
    "clock_skew_seconds",
    Kind.GAUGE,
    "How far this process's clock is ahead of the broker's, where the broker writes the timestamps.",
    "topic",
)
COMMITTED = _own(
    "committed_timestamp_seconds",
    Kind.GAUGE,
    "When counts were last committed to Kafka; when the process began, before the first time.",
)
STALLS = _own("loop_stalls_total", Kind.COUNTER, "Times that the event loop did not get on.")
STALL_SECONDS = _own("loop_stall_seconds_total", Kind.COUNTER, "How long the event loop did not get on.")
LOG_DROPPED = _own(
    "log_dropped_total", Kind.COUNTER, "Log lines that were not written, because nobody read the log."
)
READY = _own("ready", Kind.GAUGE, "1 if ready, as /-/ready says.")
BUILD_INFO = _own("build_info", Kind.GAUGE, "Always 1; the versions are labels.", "version", "python")
CONFIG_INFO = _own("config_info", Kind.GAUGE, "Always 1; the hash changes with the configuration.", "hash")

BOOKS = (
    *(RECORDS, REJECTED, EVENTS, JUDGED, EVICTED_JUDGMENTS, DUPLICATE_KEYS),
    *(LABEL_OVERFLOW, DECISION_DELAY, LATE),
)
OWN_FAMILIES = (
    *(OPEN, PENDING, JUDGMENTS, REPLAY, LAG, SKIPPED, WATERMARK, NEWEST, LEAD, CLOCK_SKEW),
    *(COMMITTED, STALLS, STALL_SECONDS, LOG_DROPPED, READY, BUILD_INFO, CONFIG_INFO),
)


def families(columns: Sequence[Column], label_names: tuple[str, ...]) -> Mapping[str, Family]:
    """Every family by name, in the order of export."""
    scores = score_families(columns, label_names)
    everything = [
        *(family for group in scores for family in (group.scores, group.squares) if family),
        *position_families(label_names),
        *BOOKS,
        *(family for c in columns if c.averaged for family in window_families(c, label_names)),
        WINDOW_START,
        *OWN_FAMILIES,
    ]
    return {family.name: family for family in everything}


def markdown(config: Config | None = None) -> str:
    """A table of the families that a configuration exports, the default one if none is given.

    >>> print(markdown().splitlines()[2])
    | `vector_results` | histogram | `variant` | Number of documents in the ranking. |
    """
    config = config or Config()
    lines = ["| family | type | labels | what it says |", "|---|---|---|---|"]
    for family in families(make_plan(config).columns, config.labels).values():
        labels = ", ".join(f"`{name}`" for name in family.labels)
        lines.append(f"| `{family.name}` | {family.kind} | {labels or '–'} | {family.help} |")
    return "\n".join(lines) + "\n"

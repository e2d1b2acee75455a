"""A copy of everything that is exported, taken between two steps of the engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from monitor.events import Reason
from monitor.metrics import Ints
from monitor.stream.cells import Cells
from monitor.stream.late_histogram import LateHistogram
from monitor.stream.plan import Column
from monitor.stream.records import TopicPartition
from monitor.stream.windows import Window

DELAY_BUCKETS = (1.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 21600.0, 86400.0)


@dataclass(frozen=True, slots=True)
class Delays:
    """How long after its deadline an impression was decided, by the delay of the deadline."""

    buckets: Mapping[str, Ints]
    """Not cumulated; one more than DELAY_BUCKETS, the last is +Inf."""
    sums: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The engine's numbers at one moment."""

    label_names: tuple[str, ...]
    label_sets: Sequence[tuple[str, ...]]
    columns: Sequence[Column]
    """Two columns with the same family and labels are one series: add them up."""
    cells: Cells
    """One row for each label set, one column for each of `columns`."""
    positions_shown: Ints
    """(label sets, positions) how often each position was shown, position 1 first."""
    positions_clicked: Ints
    windows: Sequence[Window]
    """The newest closed window of each size and delay, unless it is empty or partial."""
    records: Mapping[str, int]
    rejected: Mapping[Reason, int]
    fates: Mapping[tuple[str, str], int]
    judged: Mapping[tuple[str, str], int]
    """(maturity, judged or unjudged) -> impressions."""
    label_overflow: Mapping[str, int]
    duplicate_keys: int
    judgments_evicted: int
    open_impressions: int
    pending_interactions: int
    judgments: int
    to_replay: int
    """Records that are read again without being counted."""
    watermarks: Mapping[int, float]
    """Task (partition number) -> event time."""
    newest: Mapping[TopicPartition, float]
    """Largest `ts` of each partition."""
    delays: Delays
    late: LateHistogram
    """How late the late impressions were."""
    leads: Mapping[str, float]
    """Topic -> seconds by which a `ts` was ahead of the log's clock, at most."""
    clock_skews: Mapping[str, float]
    """Topic -> seconds by which our clock is ahead of the broker's, where the broker writes timestamps."""

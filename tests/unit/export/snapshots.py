"""Small snapshots and windows made by hand, without an engine."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from monitor.config import Config
from monitor.durations import in_words
from monitor.events import Reason
from monitor.stream.books import Books
from monitor.stream.cells import Cells, Observer
from monitor.stream.plan import Plan, Stage, make_plan
from monitor.stream.snapshot import DELAY_BUCKETS, Delays, Snapshot
from monitor.stream.windows import Window

Observed = Mapping[str, Sequence[float]]
"""Values by the canonical name of a measure, one for each impression."""

SMALL = Config.model_validate(
    {
        "metrics": ["ndcg@10", "ctr@3"],
        "judgments": {"maturities": [60]},
        "windows": [60],
    }
)


def make_snapshot(
    config: Config = SMALL, label_sets: Sequence[tuple[str, ...]] = (), **values: Any
) -> Snapshot:
    """Nothing but zeros, and the values that are given."""
    plan = make_plan(config)
    books = Books(["search-events"], [in_words(m) for m in config.judgments.maturities], config.labels)
    delays = [in_words(stage.delay) for stage in plan.stages]
    empty = Snapshot(
        label_names=config.labels,
        label_sets=label_sets,
        columns=plan.columns,
        cells=Cells(plan.columns),
        positions_shown=np.zeros((len(label_sets), plan.positions), dtype=np.int64),
        positions_clicked=np.zeros((len(label_sets), plan.positions), dtype=np.int64),
        windows=[],
        records=books.records,
        rejected=books.rejected,
        fates=books.fates,
        judged=books.judged,
        label_overflow=dict.fromkeys(config.labels, 0),
        duplicate_keys=0,
        judgments_evicted=0,
        open_impressions=0,
        pending_interactions=0,
        to_replay=9,
        judgments=0,
        watermarks={},
        newest={},
        delays=Delays(
            {delay: np.zeros(len(DELAY_BUCKETS) + 1, dtype=np.int64) for delay in delays},
            dict.fromkeys(delays, 0.0),
        ),
        late=books.late,
        leads={},
        clock_skews={},
    )
    return replace(empty, **values)


def observe(cells: Cells, columns: Sequence[Any], label_set: int, values: Observed) -> Cells:
    """Add values to the columns of a label set, by the name of their measure."""
    rows = max(len(each) for each in values.values())
    matrix = np.full((rows, len(columns)), np.nan)
    for i, column in enumerate(columns):
        each = values.get(column.measure.name, ())
        matrix[: len(each), i] = each
    cells.add(Observer(columns).observe(np.full(rows, label_set), matrix))
    return cells


def make_window(
    stage: Stage, start: float, observed: Mapping[int, Observed], *, size: float = 60.0, partial: bool = False
) -> Window:
    """A closed window with what was observed for each label set."""
    cells = Cells(stage.columns)
    for label_set, values in observed.items():
        observe(cells, stage.columns, label_set, values)
    return Window(size, start, stage, cells, partial)


def stage_of(plan: Plan, delay: float) -> Stage:
    return next(stage for stage in plan.stages if stage.delay == delay)


def busy_snapshot() -> Snapshot:
    """Two variants; the second has shown up, and nothing of it is decided yet."""
    plan = make_plan(SMALL)
    label_sets = [("control",), ('say "hi"\\\n',)]
    cells = Cells(plan.columns)
    observe(
        cells,
        plan.columns,
        0,
        {"ndcg@10": [0.0, 0.1, 0.25, 1.0], "ctr@3": [1.0, 0.0], "results": [10.0, 0.0], "latency": [0.03]},
    )
    shown = np.zeros((2, plan.positions), dtype=np.int64)
    clicked = shown.copy()
    shown[0, :3] = 2
    clicked[0, 1] = 1
    books = Books(["search-events"], ["1m"], SMALL.labels)
    books.records["search-events"] = 9
    books.rejected[Reason.NOT_JSON] = 1
    books.fates["impression", "settled"] = 4
    books.fates["click", "joined"] = 2
    books.judged["1m", "judged"] = 4
    delays = np.zeros(len(DELAY_BUCKETS) + 1, dtype=np.int64)
    delays[[0, 1, -1]] = 1
    judged = stage_of(plan, 60.0)
    return make_snapshot(
        SMALL,
        label_sets,
        cells=cells,
        positions_shown=shown,
        positions_clicked=clicked,
        windows=[make_window(judged, 1_700_000_040.0, {0: {"ndcg@10": [0.25, 1.0]}})],
        records=books.records,
        rejected=books.rejected,
        fates=books.fates,
        judged=books.judged,
        duplicate_keys=1,
        open_impressions=2,
        pending_interactions=0,
        judgments=7,
        watermarks={0: 1_700_000_160.5, 1: -np.inf},
        newest={("search-events", 0): 1_700_000_220.5, ("search-events", 1): -np.inf},
        delays=Delays({"0s": delays, "1m": delays}, {"0s": 90_003.5, "1m": 90_003.5}),
    )

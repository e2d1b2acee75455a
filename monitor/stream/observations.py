"""Observations: what the decided impressions add to the series, the position counters and the windows."""

import numpy as np

from monitor.config import Config
from monitor.durations import in_words
from monitor.metrics import Floats, Ints
from monitor.stream.cells import Cells, more_rows
from monitor.stream.labels import LabelSets
from monitor.stream.plan import Plan
from monitor.stream.score import Scored
from monitor.stream.snapshot import DELAY_BUCKETS, Delays
from monitor.stream.windows import Windows


class Observations:
    """Everything that scored impressions are added to."""

    def __init__(self, config: Config, plan: Plan, labels: LabelSets) -> None:
        stages = plan.stages
        self.cells = Cells(plan.columns)
        self.shown: Ints = np.zeros((0, plan.positions), dtype=np.int64)
        self.clicked: Ints = np.zeros((0, plan.positions), dtype=np.int64)
        self.windows = Windows(config.windows, stages, config.windows_kept)
        self._plan = plan
        self._labels = labels
        self._delay_buckets: Ints = np.zeros((len(stages), len(DELAY_BUCKETS) + 1), dtype=np.int64)
        self._delay_sums = np.zeros(len(stages))

    @property
    def delays(self) -> Delays:
        names = [in_words(stage.delay) for stage in self._plan.stages]
        return Delays(
            dict(zip(names, self._delay_buckets.copy(), strict=True)),
            dict(zip(names, self._delay_sums.tolist(), strict=True)),
        )

    def add(self, task: int, number: int, scored: Scored, now: float, *, counted: bool) -> None:
        """Add a stage's scores; those that were counted before a restart go to the windows only."""
        stage = self._plan.stages[number]
        ts, label_sets = scored.ts, scored.label_sets
        slots = np.floor(ts / self.windows.slot) * self.windows.slot
        for slot in np.unique(slots).tolist():
            rows = slots == slot
            cells = Cells(stage.columns)
            cells.observe(label_sets[rows], scored.values[rows])
            self.windows.add(task, number, slot, cells)
            if counted:
                self.cells.merge(cells, stage.first_column)
        if not counted:
            return
        # What was evicted is decided before its deadline: no delay.
        self._add_delays(number, np.maximum(now - ts - stage.delay, 0.0))
        if scored.clicks is not None:
            self.grow()
            positions = self._plan.positions
            np.add.at(self.shown, label_sets, np.arange(positions) < scored.lengths[:, None])
            rows, ranks = np.nonzero(scored.clicks[:, :positions])
            np.add.at(self.clicked, (label_sets[rows], ranks), 1)

    def grow(self) -> None:
        """Make room for all label sets, so that each is exported from its first impression on."""
        sets = len(self._labels)
        self.cells.grow(sets)
        if sets > len(self.shown):
            self.shown = more_rows(self.shown, sets)
            self.clicked = more_rows(self.clicked, sets)

    def _add_delays(self, number: int, delays: Floats) -> None:
        found = np.searchsorted(DELAY_BUCKETS, delays, side="left")
        self._delay_buckets[number] += np.bincount(found, minlength=len(DELAY_BUCKETS) + 1)
        self._delay_sums[number] += delays.sum()

"""Deciding: what becomes of impressions and interactions whose time has passed, or who have to go early."""

import logging
import math
from collections.abc import Mapping

import numpy as np

from monitor.config import LimitsConfig
from monitor.durations import in_words
from monitor.stream.books import Books
from monitor.stream.bounds import evictions
from monitor.stream.cells import Observer
from monitor.stream.impressions import Impressions
from monitor.stream.interactions import NOTHING_DONE, Interactions, ended
from monitor.stream.judgments import JudgmentTable
from monitor.stream.plan import Plan, Stage
from monitor.stream.progress import TaskProgress
from monitor.stream.score import Scored, score
from monitor.stream.windows import Windows

log = logging.getLogger(__name__)

MAX_BATCH = 4096
"""Impressions scored at once: bounds the padded matrices when a backlog is worked off."""


class Decisions:
    """Scores what is due, and adds it to the windows and to what its task has counted."""

    def __init__(
        self,
        plan: Plan,
        limits: LimitsConfig,
        table: JudgmentTable,
        windows: Windows,
        uncounted: Books,
    ) -> None:
        self._plan = plan
        self._observers = [Observer(stage.columns) for stage in plan.stages]
        self._limits = limits
        self._table = table
        self._windows = windows
        self._uncounted = uncounted
        """Where that goes which was counted before a restart."""

    def advance(self, progress: TaskProgress, watermark: float, now: float) -> None:
        """Decide all of a task whose deadline the watermark has passed."""
        progress.decided_until = max(progress.decided_until, watermark)
        for number, impressions in progress.task.due(watermark):
            self._decide(progress, number, impressions, "settled", now)
        self._end_interactions(progress, progress.task.expire(watermark), "unmatched")

    def keep_bounds(self, tasks: Mapping[int, TaskProgress], now: float) -> None:
        """Decide early what is over a bound."""
        for eviction in evictions(tasks, self._limits):
            self._end_interactions(eviction.progress, eviction.interactions, "evicted")
            for number, impressions in eviction.stages:
                self._decide(eviction.progress, number, impressions, "evicted", now)

    def _decide(
        self, progress: TaskProgress, number: int, impressions: Impressions, fate: str, now: float
    ) -> None:
        """Observe impressions at one stage; what was counted before a restart goes to the windows only."""
        deadlines = impressions.ts + self._plan.stages[number].delay
        before = int(np.searchsorted(deadlines, progress.counted.stages[number]))
        for part, counted in ((impressions[:before], False), (impressions[before:], True)):
            for i in range(0, len(part), MAX_BATCH):
                self._observe(progress, number, part[i : i + MAX_BATCH], now, counted=counted)
        if number == len(self._plan.stages) - 1:
            settled = int(np.searchsorted(deadlines, progress.counted.settled))
            self._uncounted.fates["impression", fate] += settled
            progress.tally.books.fates["impression", fate] += len(impressions) - settled

    def _observe(
        self, progress: TaskProgress, number: int, impressions: Impressions, now: float, *, counted: bool
    ) -> None:
        stage = self._plan.stages[number]
        done = progress.task.interactions_of(impressions) if stage.decides_clicks else NOTHING_DONE
        scored = score(stage, impressions, self._table, done)
        if log.isEnabledFor(logging.DEBUG):
            _explain(stage, scored)
        tally = progress.tally
        for slot, rows in self._windows.slots(impressions.ts):
            found = self._observers[number].observe(impressions.label_sets[rows], scored.values[rows])
            self._windows.add(progress.number, number, slot, found)
            if counted:
                tally.cells.add(found, stage.first_column)
        if counted:
            tally.observe(number, scored, now)
        books = tally.books if counted else self._uncounted
        books.fates.update(scored.fates)
        if scored.judged is not None and stage.maturity is not None:
            judged = int(np.count_nonzero(scored.judged))
            books.judged[stage.maturity, "judged"] += judged
            books.judged[stage.maturity, "unjudged"] += len(impressions) - judged

    def _end_interactions(self, progress: TaskProgress, done: Interactions, fate: str) -> None:
        if done.size:
            counted = done.ts + self._plan.attribution >= progress.counted.interactions
            progress.tally.books.fates.update(ended(done.kinds[counted], fate))
            self._uncounted.fates.update(ended(done.kinds[~counted], fate))


def _explain(stage: Stage, scored: Scored) -> None:
    """Follow the scoring at DEBUG: hashes and numbers only, no id, query or key."""
    shown = scored.impressions
    for row, impression in enumerate(shown.ids.tolist()):
        values = " ".join(
            f"{column.measure.name}={value:.4g}"
            for column, value in zip(stage.columns, scored.values[row].tolist(), strict=True)
            if not math.isnan(value)
        )
        ident, ts, results = impression & (1 << 64) - 1, shown.ts[row], shown.lengths[row]
        log.debug(
            "impression %016x of %.3f decided after %s: %d results; %s",
            *(ident, ts, in_words(stage.delay), results, values or "nothing to observe"),
        )

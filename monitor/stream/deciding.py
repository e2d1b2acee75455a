"""Deciding: what becomes of impressions and interactions whose time has passed, or who have to go early."""

import logging
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from monitor.config import LimitsConfig
from monitor.durations import in_words
from monitor.stream import interactions
from monitor.stream.books import Books
from monitor.stream.bounds import Bytes, evictions
from monitor.stream.cells import Observer
from monitor.stream.impressions import Impressions, one_after_the_other
from monitor.stream.interactions import NOTHING_DONE, Interactions, ended
from monitor.stream.judgments import JudgmentTable
from monitor.stream.plan import Plan, Stage
from monitor.stream.progress import TaskProgress
from monitor.stream.score import Scored, score
from monitor.stream.windows import Windows

log = logging.getLogger(__name__)

MAX_BATCH = 4096
"""Impressions scored at once: bounds the padded matrices when a backlog is worked off."""


class Due(NamedTuple):
    """Impressions of one task that are decided, and whether they are to be counted."""

    progress: TaskProgress
    impressions: Impressions
    counted: bool


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

    def advance(self, watermarks: Sequence[tuple[TaskProgress, float]], now: float) -> None:
        """Decide all of some tasks whose deadlines their watermarks have passed."""
        for progress, watermark in watermarks:
            progress.decided_until = max(progress.decided_until, watermark)
        for number in range(len(self._plan.stages)):
            due: list[tuple[TaskProgress, Impressions]] = []
            for progress, watermark in watermarks:
                if (found := progress.task.due(number, watermark)) is not None:
                    due.append((progress, found))
            self._decide(number, due, "settled", now)
            for progress, found in due:
                progress.task.pass_on(number, found)
        for progress, watermark in watermarks:
            self._end_interactions(progress, progress.task.expire(watermark), "unmatched")

    def keep_bounds(self, tasks: Mapping[int, TaskProgress], allowed: Bytes, now: float) -> None:
        """Decide early what is over a bound; `allowed` says how much memory each kind may take."""
        for eviction in evictions(tasks, self._limits, allowed):
            self._end_interactions(eviction.progress, eviction.interactions, "evicted")
            for number, impressions in eviction.stages:
                self._decide(number, [(eviction.progress, impressions)], "evicted", now)

    def _decide(
        self, number: int, due: Iterable[tuple[TaskProgress, Impressions]], fate: str, now: float
    ) -> None:
        """Observe impressions at one stage; what was counted before a restart goes to the windows only."""
        parts: list[Due] = []
        for progress, impressions in due:
            deadlines = impressions.ts + self._plan.stages[number].delay
            before = int(np.searchsorted(deadlines, progress.counted.stages[number]))
            parts.append(Due(progress, impressions[:before], counted=False))
            parts.append(Due(progress, impressions[before:], counted=True))
            if number == len(self._plan.stages) - 1:
                settled = int(np.searchsorted(deadlines, progress.counted.settled))
                self._uncounted.fates["impression", fate] += settled
                progress.tally.books.fates["impression", fate] += len(impressions) - settled
        for batch in _batches(parts):
            self._observe(number, batch, now)

    def _observe(self, number: int, parts: Sequence[Due], now: float) -> None:
        stage = self._plan.stages[number]
        begins = list(accumulate((len(part.impressions) for part in parts), initial=0))
        shown = one_after_the_other([part.impressions for part in parts])
        done = self._done(parts, begins) if stage.decides_clicks else NOTHING_DONE
        scored = score(stage, shown, self._table, done)
        if log.isEnabledFor(logging.DEBUG):
            _explain(stage, scored)
        for part, first in zip(parts, begins[:-1], strict=True):
            # What they are scored in may be a copy.
            part.impressions.was_judged[:] = shown.was_judged[first : first + len(part.impressions)]
            self._count(number, part, scored.of(first, part.impressions), now)
        self._add_up(number, parts, scored)

    @staticmethod
    def _done(parts: Sequence[Due], begins: Sequence[int]) -> Interactions:
        """What was done with impressions, by their rows among all parts."""
        found: list[Interactions] = []
        for part, first in zip(parts, begins[:-1], strict=True):
            done = part.progress.task.interactions_of(part.impressions)
            found.append(done._replace(impressions=done.impressions + first))
        return interactions.one_after_the_other(found)

    def _add_up(self, number: int, parts: Sequence[Due], scored: Scored) -> None:
        """Give windows and tallies what was observed: by part, by slot of time, by label set."""
        shown, stage = scored.impressions, self._plan.stages[number]
        slots, label_sets = self._windows.slots(shown.ts), int(shown.label_sets.max()) + 1
        part_of = np.repeat(np.arange(len(parts)), [len(part.impressions) for part in parts])
        is_first = (np.diff(slots, prepend=np.nan) != 0) | (np.diff(part_of, prepend=-1) != 0)
        groups = np.cumsum(is_first) - 1
        found = self._observers[number].observe(groups * label_sets + shown.label_sets, scored.values)
        for group, first in enumerate(np.flatnonzero(is_first).tolist()):
            part = parts[part_of[first]]
            of_group = found.between(group * label_sets, (group + 1) * label_sets)
            self._windows.add(part.progress.number, number, float(slots[first]), of_group)
            if part.counted:
                part.progress.tally.cells.add(of_group, stage.first_column)

    def _count(self, number: int, part: Due, scored: Scored, now: float) -> None:
        """Keep the books, and count what is told beside the scores."""
        tally, maturity = part.progress.tally, self._plan.stages[number].maturity
        if part.counted:
            tally.observe(number, scored, now)
        books = tally.books if part.counted else self._uncounted
        books.fates.update(scored.fates)
        if scored.judged is not None and maturity is not None:
            judged = int(np.count_nonzero(scored.judged))
            books.judged[maturity, "judged"] += judged
            books.judged[maturity, "unjudged"] += len(part.impressions) - judged

    def _end_interactions(self, progress: TaskProgress, done: Interactions, fate: str) -> None:
        if done.size:
            counted = done.ts + self._plan.attribution >= progress.counted.interactions
            progress.tally.books.fates.update(ended(done.kinds[counted], fate))
            self._uncounted.fates.update(ended(done.kinds[~counted], fate))


def _batches(parts: Iterable[Due]) -> Iterator[list[Due]]:
    """The same in batches that are scored at once; none is empty."""
    batch: list[Due] = []
    size = 0
    for part in parts:
        for first in range(0, len(part.impressions), MAX_BATCH):
            rows = part.impressions[first : first + MAX_BATCH]
            if size + len(rows) > MAX_BATCH:
                yield batch
                batch, size = [], 0
            batch.append(part._replace(impressions=rows))
            size += len(rows)
    if batch:
        yield batch


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

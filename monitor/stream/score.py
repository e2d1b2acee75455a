"""Scoring: impressions become padded batches, and every measure of a stage one column of values."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from monitor.events import MAX_RANKED
from monitor.metrics import Batch, Bools, Floats, Floats32, Ints, Measure, Need
from monitor.stream.impressions import NO_KEY, Impressions
from monitor.stream.interactions import CLICK, NOTHING_DONE, OUTCOME, Interactions, ended
from monitor.stream.judgments import JudgmentTable
from monitor.stream.lookup import Judged
from monitor.stream.plan import Stage

MAX_IDEAL = 4_000_000
"""Grades in the matrix of the ideal orders: a query can have far more judged documents than were ranked."""
MAX_PLACED = 4096
"""Interactions that are placed at once: bounds the matrix of the rankings that they mean."""


@dataclass(slots=True)
class Scored:
    """The values of one stage for a number of impressions."""

    impressions: Impressions
    values: Floats
    """One row for each impression and one column for each measure; NaN where there is nothing to observe."""
    judged: Bools | None = None
    """Whether the query had a judgment, where the stage judges."""
    clicks: Bools | None = None
    """What was clicked, where the stage decides about clicks."""
    done: Interactions = NOTHING_DONE
    """What was done with the impressions, where the stage decides about clicks."""
    joined: Bools | None = None
    """Which of that belongs to something that was shown."""

    @property
    def fates(self) -> Counter[tuple[str, str]]:
        """How the interactions ended, where the stage decides about clicks."""
        if self.joined is None:
            return Counter()
        kinds, joined = self.done.kinds, self.joined
        return ended(kinds[joined], "joined") + ended(kinds[~joined], "unmatched")

    def of(self, first: int, impressions: Impressions) -> "Scored":
        """The part of impressions that stand together, from a row on."""
        rows = slice(first, first + len(impressions))
        done = (self.done.impressions >= rows.start) & (self.done.impressions < rows.stop)
        return Scored(
            impressions,
            self.values[rows],
            None if self.judged is None else self.judged[rows],
            None if self.clicks is None else self.clicks[rows],
            self.done.only(done)._replace(impressions=self.done.impressions[done] - first),
            None if self.joined is None else self.joined[done],
        )


def score(
    stage: Stage, impressions: Impressions, table: JudgmentTable, done: Interactions = NOTHING_DONE
) -> Scored:
    """Decide all that is due for these impressions at this stage; `done` counts where it decides clicks."""
    scored = Scored(impressions, np.full((len(impressions), len(stage.columns)), math.nan))
    if shown := stage.measures(Need.IMPRESSION):
        _fill(scored.values, slice(None), shown, _shown_batch(impressions))
    if stage.decides_clicks:
        _fill(scored.values, slice(None), stage.measures(Need.CLICKS), _click_batch(scored, done))
    if stage.maturity is not None:
        _judge(stage, scored, table)
    return scored


def _judge(stage: Stage, scored: Scored, table: JudgmentTable) -> None:
    impressions = scored.impressions
    measures = stage.measures(Need.JUDGMENTS)
    ideal_depth = _ideal_depth(measures)
    scored.judged = np.zeros(len(impressions), dtype=bool)
    for found, qrels in table.at_deadlines(impressions.queries, impressions.ts + stage.delay):
        widest = min(max(len(each.keys) for each in qrels), ideal_depth or MAX_IDEAL)
        at_once = max(1, MAX_IDEAL // max(widest, 1))
        for i in range(0, len(qrels), at_once):
            rows, judged = found[i : i + at_once], Judged(qrels[i : i + at_once])
            _fill(scored.values, rows, measures, _judged_batch(impressions[rows], judged, measures))
            scored.judged[rows] = True
            impressions.was_judged[rows] = True


def _fill(values: Floats, rows: slice | Ints, measures: list[tuple[int, Measure]], batch: Batch) -> None:
    for column, measure in measures:
        values[rows, column] = measure.score(batch)


def _shown_batch(impressions: Impressions) -> Batch:
    return Batch(
        lengths=impressions.lengths, latency=impressions.latency, embeddings=_embeddings(impressions)
    )


def _click_batch(scored: Scored, done: Interactions) -> Batch:
    """Place the interactions on the ranks they mean, and note the fate of each."""
    impressions = scored.impressions
    shape = (len(impressions), int(impressions.lengths.max(initial=0)))
    is_outcome, placed = done.kinds == OUTCOME, np.empty(done.size, dtype=np.int64)
    for i in range(0, len(placed), MAX_PLACED):
        part = slice(i, i + MAX_PLACED)
        placed[part] = _ranks(impressions, done.only(part))
    joined = is_outcome | (placed >= 0)
    scored.done, scored.joined = done, joined
    on_ranks = joined & ~is_outcome
    places = (done.impressions[on_ranks], placed[on_ranks])
    dwell = np.full(shape, math.nan)
    np.fmax.at(dwell, places, done.told[on_ranks])
    clicks = np.zeros(shape, dtype=bool)
    clicked = done.kinds[on_ranks] == CLICK
    clicks[places[0][clicked], places[1][clicked]] = True
    scored.clicks = clicks
    outcomes = done.only(is_outcome)
    return Batch(
        lengths=impressions.lengths,
        clicks=clicks,
        dwell=dwell,
        outcome=_last_told(len(impressions), outcomes, outcomes.told),
        scroll=_last_told(len(impressions), outcomes, outcomes.scrolled),
    )


def _ranks(impressions: Impressions, done: Interactions) -> Ints:
    """The 0-based rank that each interaction means; -1 if it is not among the ranked."""
    meant = done.references.copy()
    asked = impressions[done.impressions]
    ranked = asked.rankings(int(asked.lengths.max(initial=0)))
    # A position means the key that stood there.
    positions = done.are_positions.nonzero()[0]
    there = meant[positions] <= asked.lengths[positions]
    meant[positions[~there]] = NO_KEY
    meant[positions[there]] = ranked[positions[there], meant[positions[there]] - 1]
    if asked.shown is not None:
        for i in positions.tolist():
            shown, position = asked.shown[i], int(done.references[i])
            if shown is not None:
                meant[i] = shown[position - 1] if position <= len(shown) else NO_KEY
    found = (ranked == meant[:, np.newaxis]) & (ranked != NO_KEY)
    return np.where(found.any(axis=1), found.argmax(axis=1) if found.shape[1] else -1, -1)


def _last_told(count: int, outcomes: Interactions, values: Floats) -> Floats:
    """A value of each impression: of its outcomes the last by time that tells any."""
    order = np.argsort(outcomes.ts, kind="stable")
    order = order[~np.isnan(values[order])]
    told = np.full(count, math.nan)
    told[outcomes.impressions[order]] = values[order]
    return told


def _judged_batch(impressions: Impressions, judged: Judged, measures: list[tuple[int, Measure]]) -> Batch:
    """Put the grades on the ranks. Ranks below every cut-off are left out, unless one measure has none."""
    uses = frozenset().union(*(measure.metric.uses for _, measure in measures))
    lengths = impressions.lengths
    depth = min(int(lengths.max(initial=0)), _depth(measures))
    shown = np.minimum(lengths, depth)
    filled = np.arange(depth) < shown[:, np.newaxis]
    keys = impressions.first_keys(shown)
    found, place = judged.find(shown, keys)
    grades = np.full(filled.shape, math.nan)
    grades[filled] = np.where(found, judged.grades[place], math.nan)
    targets = None
    if "targets" in uses:
        targets = np.zeros(filled.shape, dtype=np.int64)
        targets[filled] = np.where(found, judged.targets[place], keys)
    # Seconds until the query was first judged, told once for each impression.
    delays = np.maximum(judged.each(lambda q: q.first_ts) - impressions.ts, 0.0)
    return Batch(
        lengths=lengths,
        grades=grades,
        ideal=judged.ideal(_ideal_depth(measures)),
        relevant=judged.each(lambda q: q.relevant).astype(np.int64),
        targets=targets,
        relevant_targets=judged.each(lambda q: q.relevant_targets).astype(np.int64),
        embeddings=_embeddings(impressions) if "embeddings" in uses else None,
        label_delay=np.where(impressions.was_judged, math.nan, delays),
    )


def _depth(measures: list[tuple[int, Measure]]) -> int:
    depths = [measure.depth for _, measure in measures]
    return MAX_RANKED if None in depths else max(depth or 0 for depth in depths)


def _ideal_depth(measures: list[tuple[int, Measure]]) -> int | None:
    """How many of the best grades matter; None if all do."""
    depths = [measure.depth for _, measure in measures]
    return None if None in depths else max(depth or 0 for depth in depths)


def _embeddings(impressions: Impressions) -> Sequence[Floats32 | None]:
    if impressions.embeddings is None:
        return [None] * len(impressions)
    return list(impressions.embeddings)

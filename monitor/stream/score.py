"""Scoring: held impressions become padded batches, and every measure of a stage one column of values."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from monitor.metrics import Batch, Bools, Floats, Ints, Measure, Need
from monitor.stream.join import CLICK, KINDS, OUTCOME, Held
from monitor.stream.judgments import JudgmentTable, Qrels
from monitor.stream.plan import Stage


@dataclass(slots=True)
class Scored:
    """The values of one stage for a number of impressions."""

    held: Sequence[Held]
    values: Floats
    """One row for each impression and one column for each measure; NaN where there is nothing to observe."""
    judged: Bools | None = None
    """Whether the query had a judgment, where the stage judges."""
    clicks: Bools | None = None
    """What was clicked, where the stage decides about clicks."""
    fates: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How the interactions ended, where the stage decides about clicks."""

    @property
    def ts(self) -> Floats:
        return np.array([held.ts for held in self.held])

    @property
    def label_sets(self) -> Ints:
        return np.array([held.label_set for held in self.held], dtype=np.int64)

    @property
    def lengths(self) -> Ints:
        return _lengths(self.held)


def score(stage: Stage, held: Sequence[Held], table: JudgmentTable) -> Scored:
    """Decide all that is due for these impressions at this stage."""
    scored = Scored(held, np.full((len(held), len(stage.columns)), math.nan))
    if shown := stage.measures(Need.IMPRESSION):
        _fill(scored.values, slice(None), shown, _shown_batch(held))
    if stage.decides_clicks:
        batch = _click_batch(scored)
        _fill(scored.values, slice(None), stage.measures(Need.CLICKS), batch)
    if stage.maturity is not None:
        qrels = [table.at(h.query, h.ts + stage.delay) for h in held]
        scored.judged = np.array([q is not None for q in qrels], dtype=bool)
        known = [(h, q) for h, q in zip(held, qrels, strict=True) if q is not None]
        if known:
            judged = stage.measures(Need.JUDGMENTS)
            batch = _judged_batch(known, judged)
            _fill(scored.values, scored.judged, judged, batch)
    return scored


def _fill(values: Floats, rows: slice | Bools, measures: list[tuple[int, Measure]], batch: Batch) -> None:
    for column, measure in measures:
        values[rows, column] = measure.score(batch)


def _lengths(held: Sequence[Held]) -> Ints:
    return np.array([len(h.ranked) for h in held], dtype=np.int64)


def _shown_batch(held: Sequence[Held]) -> Batch:
    return Batch(
        lengths=_lengths(held),
        latency=np.array([h.latency for h in held]),
        embeddings=[h.embeddings for h in held],
    )


def _click_batch(scored: Scored) -> Batch:
    """Place the interactions on the ranks they mean, and note the fate of each."""
    held = scored.held
    fates = scored.fates
    lengths = scored.lengths
    shape = (len(held), int(lengths.max(initial=0)))
    clicks = np.zeros(shape, dtype=bool)
    dwell = np.full(shape, math.nan)
    outcome, scroll = np.full(len(held), math.nan), np.full(len(held), math.nan)
    for row, impression in enumerate(held):
        if impression.interactions is None:
            continue
        outcomes: list[tuple[float, float, float]] = []
        for (kind, reference, is_position, ts), (first, second) in impression.interactions.items():
            if kind == OUTCOME:
                outcomes.append((ts, first, second))
                fates["outcome", "joined"] += 1
                continue
            rank = impression.rank(reference, is_position)
            if rank < 0:
                fates[KINDS[kind], "unmatched"] += 1
                continue
            fates[KINDS[kind], "joined"] += 1
            clicks[row, rank] |= kind == CLICK
            dwell[row, rank] = np.fmax(dwell[row, rank], first)
        # The last outcome wins, field by field; the sort is stable, so of equal ts the one that came last.
        for _, success, position in sorted(outcomes, key=lambda told: told[0]):
            outcome[row] = success if not math.isnan(success) else outcome[row]
            scroll[row] = position if not math.isnan(position) else scroll[row]
        impression.interactions = None
    scored.clicks = clicks
    return Batch(lengths=lengths, clicks=clicks, dwell=dwell, outcome=outcome, scroll=scroll)


def _judged_batch(known: Sequence[tuple[Held, Qrels]], measures: list[tuple[int, Measure]]) -> Batch:
    """Put the grades on the ranks. Ranks below every cut-off are left out, unless one measure has none."""
    held = [h for h, _ in known]
    qrels = [q for _, q in known]
    lengths = _lengths(held)
    uses = frozenset().union(*(measure.metric.uses for _, measure in measures))
    depth = min(int(lengths.max(initial=0)), _depth(measures))
    filled = np.arange(depth) < lengths[:, None]
    grades = np.full(filled.shape, math.nan)
    grades[filled] = [q.grades.get(key, math.nan) for h, q in known for key in h.ranked[:depth]]
    ideal = _padded([q.ideal for q in qrels])
    targets = None
    if "targets" in uses:
        targets = np.zeros(filled.shape, dtype=np.int64)
        targets[filled] = [q.targets.get(key, key) for h, q in known for key in h.ranked[:depth]]
    return Batch(
        lengths=lengths,
        grades=grades,
        ideal=ideal,
        relevant=np.array([q.relevant for q in qrels], dtype=np.int64),
        targets=targets,
        relevant_targets=np.array([q.relevant_targets for q in qrels], dtype=np.int64),
        embeddings=[h.embeddings for h in held] if "embeddings" in uses else None,
        label_delay=np.array([_label_delay(h, q) for h, q in known]),
    )


def _depth(measures: list[tuple[int, Measure]]) -> int:
    depth = 0
    for _, measure in measures:
        whole = measure.k is None or ("unjudged", "condensed") in measure.params
        if whole and measure.metric.name != "label_delay":
            return 1 << 30
        depth = max(depth, measure.k or 0)
    return depth


def _padded(rows: Sequence[Floats]) -> Floats:
    lengths = np.array([len(row) for row in rows])
    padded = np.zeros((len(rows), int(lengths.max(initial=0))))
    padded[np.arange(padded.shape[1]) < lengths[:, None]] = np.concatenate(rows)
    return padded


def _label_delay(held: Held, qrels: Qrels) -> float:
    """Seconds until the query was first judged, told once for each impression."""
    if held.was_judged:
        return math.nan
    held.was_judged = True
    return max(0.0, qrels.first_ts - held.ts)

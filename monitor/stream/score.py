"""Scoring: held impressions become padded batches, and every measure of a stage one column of values."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from monitor.events import MAX_RANKED
from monitor.metrics import Batch, Bools, Floats, Ints, Measure, Need
from monitor.metrics.batch import lengths_of, padded
from monitor.stream.join import CLICK, KINDS, OUTCOME, Held
from monitor.stream.judgments import JudgmentTable, Qrels
from monitor.stream.lookup import lookup
from monitor.stream.plan import Stage


@dataclass(slots=True)
class Scored:
    """The values of one stage for a number of impressions."""

    held: Sequence[Held]
    ts: Floats
    label_sets: Ints
    lengths: Ints
    values: Floats
    """One row for each impression and one column for each measure; NaN where there is nothing to observe."""
    judged: Bools | None = None
    """Whether the query had a judgment, where the stage judges."""
    clicks: Bools | None = None
    """What was clicked, where the stage decides about clicks."""
    fates: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How the interactions ended, where the stage decides about clicks."""


def score(stage: Stage, held: Sequence[Held], table: JudgmentTable) -> Scored:
    """Decide all that is due for these impressions at this stage."""
    scored = Scored(
        held=held,
        ts=np.array([h.ts for h in held]),
        label_sets=np.array([h.label_set for h in held], dtype=np.int64),
        lengths=np.array([len(h.ranked) for h in held], dtype=np.int64),
        values=np.full((len(held), len(stage.columns)), math.nan),
    )
    if shown := stage.measures(Need.IMPRESSION):
        _fill(scored.values, slice(None), shown, _shown_batch(scored))
    if stage.decides_clicks:
        _fill(scored.values, slice(None), stage.measures(Need.CLICKS), _click_batch(scored))
    if stage.maturity is not None:
        _judge(stage, scored, table)
    return scored


def _judge(stage: Stage, scored: Scored, table: JudgmentTable) -> None:
    delay = stage.delay
    qrels = [table.at(h.query, h.ts + delay) for h in scored.held]
    scored.judged = np.array([q is not None for q in qrels], dtype=bool)
    known = [q for q in qrels if q is not None]
    if known:
        rows = scored.judged
        held = [h for h, judged in zip(scored.held, rows.tolist(), strict=True) if judged]
        measures = stage.measures(Need.JUDGMENTS)
        batch = _judged_batch(held, scored.lengths[rows], scored.ts[rows], known, measures)
        _fill(scored.values, rows, measures, batch)


def _fill(values: Floats, rows: slice | Bools, measures: list[tuple[int, Measure]], batch: Batch) -> None:
    for column, measure in measures:
        values[rows, column] = measure.score(batch)


def _shown_batch(scored: Scored) -> Batch:
    return Batch(
        lengths=scored.lengths,
        latency=np.array([h.latency for h in scored.held]),
        embeddings=[h.embeddings for h in scored.held],
    )


def _click_batch(scored: Scored) -> Batch:
    """Place the interactions on the ranks they mean, and note the fate of each."""
    held = scored.held
    fates, lengths = scored.fates, scored.lengths
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
        # The last outcome wins, field by field.
        for _, success, position in sorted(outcomes, key=lambda told: told[0]):
            outcome[row] = success if not math.isnan(success) else outcome[row]
            scroll[row] = position if not math.isnan(position) else scroll[row]
        impression.interactions = None
    scored.clicks = clicks
    return Batch(lengths=lengths, clicks=clicks, dwell=dwell, outcome=outcome, scroll=scroll)


def _judged_batch(
    held: Sequence[Held],
    lengths: Ints,
    ts: Floats,
    qrels: Sequence[Qrels],
    measures: list[tuple[int, Measure]],
) -> Batch:
    """Put the grades on the ranks. Ranks below every cut-off are left out, unless one measure has none."""
    uses = frozenset().union(*(measure.metric.uses for _, measure in measures))
    depth = min(int(lengths.max(initial=0)), _depth(measures))
    shown = np.minimum(lengths, depth)
    filled = np.arange(depth) < shown[:, None]
    keys = np.frombuffer(b"".join([h.ranked[:depth] for h in held]), dtype=np.int64)
    found, place, known = lookup(qrels, shown, keys)
    grades = np.full(filled.shape, math.nan)
    grades[filled] = np.where(found, known.grades[place], math.nan)
    targets = None
    if "targets" in uses:
        targets = np.zeros(filled.shape, dtype=np.int64)
        targets[filled] = np.where(found, known.targets[place], keys)
    return Batch(
        lengths=lengths,
        grades=grades,
        ideal=padded(np.concatenate([q.ideal for q in qrels]), lengths_of([q.ideal for q in qrels]), 0.0),
        relevant=np.array([q.relevant for q in qrels], dtype=np.int64),
        targets=targets,
        relevant_targets=np.array([q.relevant_targets for q in qrels], dtype=np.int64),
        embeddings=[h.embeddings for h in held] if "embeddings" in uses else None,
        label_delay=_label_delays(held, np.array([q.first_ts for q in qrels]) - ts),
    )


def _depth(measures: list[tuple[int, Measure]]) -> int:
    depths = [measure.depth for _, measure in measures]
    return MAX_RANKED if None in depths else max(depth or 0 for depth in depths)


def _label_delays(held: Sequence[Held], delays: Floats) -> Floats:
    """Seconds until the query was first judged, told once for each impression."""
    told = np.array([h.was_judged for h in held], dtype=bool)
    for h in held:
        h.was_judged = True
    return np.where(told, math.nan, np.maximum(delays, 0.0))

"""Intake: events become the columns that the core holds, ids and keys as 64-bit hashes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from monitor.events import Click, Dwell, Impression, Judgment, Outcome, Ranked
from monitor.metrics import Ints
from monitor.metrics.batch import lengths_of
from monitor.stream.impressions import (
    IMPRESSION_BYTES,
    KEY_BYTES,
    NO_KEY,
    OBJECT_BYTES,
    Impressions,
    Objects,
)
from monitor.stream.interactions import (
    CLICK,
    DWELL,
    NOTHING_DONE,
    OUTCOME,
    Interactions,
    one_after_the_other,
)
from monitor.stream.judgments import JudgmentTable
from monitor.stream.query_grades import NO_TARGET

SUCCESS = {"successful": 1.0, "unsuccessful": 0.0, None: math.nan}


def ids_of(events: Sequence[Impression | Click | Dwell | Outcome]) -> list[int]:
    """The ids of the impressions that these are, or belong to."""
    return [hash(event.impression_id) for event in events]


def size_bytes(event: Impression) -> int:
    """About what an impression takes in memory while it is held with its embeddings."""
    vectors = 0 if event.embeddings is None else event.embeddings.nbytes + OBJECT_BYTES
    return IMPRESSION_BYTES + KEY_BYTES * len(event.ranked) + vectors


def impressions(
    events: Sequence[Impression], ids: Sequence[int], label_sets: Sequence[int], *, keep_embeddings: bool
) -> tuple[Impressions, int]:
    """Impressions side by side, and how many keys of their rankings had stood above already."""
    size = len(events)
    ranked = [event.ranked for event in events]
    lengths = lengths_of(ranked)
    found = Impressions(
        ids=np.array(ids, dtype=np.int64),
        queries=np.array([hash(event.query_id) for event in events], dtype=np.int64),
        ts=np.array([event.ts for event in events], dtype=np.float64),
        label_sets=np.array(label_sets, dtype=np.int64),
        latency=np.array([event.latency_seconds for event in events], dtype=np.float64),
        lengths=lengths,
        keys=_hashes(ranked, int(lengths.sum())),
        was_judged=np.zeros(size, dtype=bool),
        embeddings=_embeddings(events) if keep_embeddings else None,
    )
    by_key = np.sort(found.rankings(int(lengths.max(initial=0))), axis=1)
    twice = ((by_key[:, 1:] == by_key[:, :-1]) & (by_key[:, 1:] != NO_KEY)).any(axis=1)
    if twice.any():
        return _without_repeats(found, twice.nonzero()[0].tolist())
    return found, 0


def _embeddings(events: Sequence[Impression]) -> Objects | None:
    if all(event.embeddings is None for event in events):
        return None
    return _objects({row: event.embeddings for row, event in enumerate(events)}, len(events))


def _hashes(ranked: Sequence[Sequence[str | Ranked]], size: int) -> Ints:
    try:
        return np.fromiter(map(hash, chain.from_iterable(ranked)), np.int64, size)
    except TypeError:  # pairs of key and score, which have no hash
        keys = (item.key if isinstance(item, Ranked) else item for item in chain.from_iterable(ranked))
        return np.fromiter(map(hash, keys), np.int64, size)


def _objects(values: Mapping[int, Any], size: int) -> Objects:
    found = np.full(size, None, dtype=object)
    for row, value in values.items():
        found[row] = value
    return found


def _without_repeats(found: Impressions, rows: Sequence[int]) -> tuple[Impressions, int]:
    """In these rows a key stands more than once: it counts at its first rank, and ranks close up."""
    sent: dict[int, Ints] = {}
    lengths, keep = found.lengths.copy(), np.ones(len(found.keys), dtype=bool)
    embeddings = found.embeddings
    begins = np.cumsum(lengths) - lengths
    for row in rows:
        within = slice(begins[row], begins[row] + lengths[row])
        # Copied, for a view would keep the keys of all rows.
        sent[row] = found.keys[within].copy()
        _, first = np.unique(sent[row], return_index=True)
        keep[within] = np.isin(np.arange(lengths[row]), first)
        lengths[row] = len(first)
        if embeddings is not None and embeddings[row] is not None:
            embeddings[row] = embeddings[row][np.sort(first)]
    shown = _objects(sent, len(found))
    return (
        replace(found, lengths=lengths, keys=found.keys[keep], shown=shown),
        int(np.count_nonzero(~keep)),
    )


def interactions(events: Sequence[object]) -> tuple[Interactions, list[int]]:
    """The interactions among events side by side, and the place of each among the events."""
    kinds = list(map(type, events))
    parts: list[Interactions] = []
    places: list[int] = []
    for kind, of_type in ((CLICK, Click), (DWELL, Dwell), (OUTCOME, Outcome)):
        if of_type in kinds:
            rows = [row for row, found in enumerate(kinds) if found is of_type]
            chosen: list[Any] = [events[row] for row in rows]
            parts.append(_outcomes(chosen) if kind == OUTCOME else _clicks(kind, chosen))
            places += rows
    return one_after_the_other(parts or [NOTHING_DONE]), places


def _clicks(kind: int, events: Sequence[Click | Dwell]) -> Interactions:
    keys = [event.key for event in events]
    return _columns(
        kind,
        events,
        references=[hash(k) if k is not None else e.position for k, e in zip(keys, events, strict=True)],
        are_positions=[key is None for key in keys],
        told=[event.dwell_seconds for event in events],
        scrolled=[None] * len(events),
    )


def _outcomes(events: Sequence[Outcome]) -> Interactions:
    return _columns(
        OUTCOME,
        events,
        references=[0] * len(events),
        are_positions=[False] * len(events),
        told=[SUCCESS[event.outcome] for event in events],
        scrolled=[event.max_scroll_position for event in events],
    )


def _columns(
    kind: int,
    events: Sequence[Click | Dwell | Outcome],
    *,
    references: Sequence[int | None],
    are_positions: Sequence[bool],
    told: Sequence[float | None],
    scrolled: Sequence[float | None],
) -> Interactions:
    return Interactions(
        impressions=np.array(ids_of(events), dtype=np.int64),
        shown=np.full(len(events), math.nan),
        kinds=np.full(len(events), kind, dtype=np.int8),
        references=np.array(references, dtype=np.int64),
        are_positions=np.array(are_positions, dtype=bool),
        ts=np.array([event.ts for event in events], dtype=np.float64),
        # None becomes NaN.
        told=np.array(told, dtype=np.float64),
        scrolled=np.array(scrolled, dtype=np.float64),
    )


def judge(event: Judgment, table: JudgmentTable) -> str:
    """Take a judgment into the table; its fate."""
    return table.apply(
        hash(event.query_id),
        hash(event.key),
        hash(event.assessor or ""),
        event.ts,
        event.grade,
        hash(event.target) if event.target else NO_TARGET,
    )

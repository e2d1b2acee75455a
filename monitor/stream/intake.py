"""Intake: events become what the core holds, ids and keys as 64-bit hashes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from monitor.events import Click, Dwell, Impression, Judgment, Outcome, Ranked
from monitor.metrics import Ints
from monitor.metrics.batch import lengths_of
from monitor.stream.impressions import NO_KEY, Impressions, Objects
from monitor.stream.interactions import CLICK, DWELL, OUTCOME, Interaction, Payload
from monitor.stream.join import Task
from monitor.stream.judgments import NO_TARGET, JudgmentTable

SUCCESS = {"successful": 1.0, "unsuccessful": 0.0, None: math.nan}
NOT_TOLD: Payload = (math.nan, math.nan)


class Shown:
    """Impressions on their way into columns."""

    def __init__(self, *, keep_embeddings: bool) -> None:
        self._keep_embeddings = keep_embeddings
        self._events: list[Impression] = []
        self._ids: list[int] = []
        self._label_sets: list[int] = []

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, event: Impression, impression: int, label_set: int) -> None:
        """Take note of one; `impression` is the hash of its id."""
        self._events.append(event)
        self._ids.append(impression)
        self._label_sets.append(label_set)

    def take(self) -> tuple[Impressions, int]:
        """All of them side by side, and how many keys of their rankings had stood above already."""
        events, size = self._events, len(self)
        ranked = [event.ranked for event in events]
        lengths = lengths_of(ranked)
        impressions = Impressions(
            ids=np.array(self._ids, dtype=np.int64),
            queries=np.fromiter((hash(event.query_id) for event in events), np.int64, size),
            ts=np.array([event.ts for event in events], dtype=np.float64),
            label_sets=np.array(self._label_sets, dtype=np.int64),
            latency=np.array([event.latency_seconds for event in events], dtype=np.float64),
            lengths=lengths,
            keys=_hashes(ranked, int(lengths.sum())),
            was_judged=np.zeros(size, dtype=bool),
            embeddings=self._embeddings(),
        )
        self._events, self._ids, self._label_sets = [], [], []
        by_key = np.sort(impressions.rankings(int(lengths.max(initial=0))), axis=1)
        twice = ((by_key[:, 1:] == by_key[:, :-1]) & (by_key[:, 1:] != NO_KEY)).any(axis=1)
        if twice.any():
            return _without_repeats(impressions, twice.nonzero()[0].tolist())
        return impressions, 0

    def _embeddings(self) -> Objects | None:
        if not self._keep_embeddings or all(event.embeddings is None for event in self._events):
            return None
        return _objects({row: event.embeddings for row, event in enumerate(self._events)}, len(self))


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


def _without_repeats(impressions: Impressions, rows: Sequence[int]) -> tuple[Impressions, int]:
    """In these rows a key stands more than once: it counts at its first rank, and ranks close up."""
    sent: dict[int, Ints] = {}
    lengths, keep = impressions.lengths.copy(), np.ones(len(impressions.keys), dtype=bool)
    embeddings = impressions.embeddings
    begins = np.cumsum(lengths) - lengths
    for row in rows:
        within = slice(begins[row], begins[row] + lengths[row])
        # Copied, for a view would keep the keys of all rows.
        sent[row] = impressions.keys[within].copy()
        _, first = np.unique(sent[row], return_index=True)
        keep[within] = np.isin(np.arange(lengths[row]), first)
        lengths[row] = len(first)
        if embeddings is not None and embeddings[row] is not None:
            embeddings[row] = embeddings[row][np.sort(first)]
    shown = _objects(sent, len(impressions))
    return (
        replace(impressions, lengths=lengths, keys=impressions.keys[keep], shown=shown),
        int(np.count_nonzero(~keep)),
    )


def interact(event: Click | Dwell | Outcome, task: Task, watermark: float) -> str:
    """Take an interaction in; its fate if it has one already."""
    if isinstance(event, Outcome):
        interaction: Interaction = (OUTCOME, 0, False, event.ts)
        scroll = event.max_scroll_position
        payload: Payload = (SUCCESS[event.outcome], math.nan if scroll is None else scroll)
    else:
        kind, key = CLICK if isinstance(event, Click) else DWELL, event.key
        if key is None:
            interaction = (kind, event.position or 0, True, event.ts)
        else:
            interaction = (kind, hash(key), False, event.ts)
        dwell = event.dwell_seconds
        payload = NOT_TOLD if dwell is None else (dwell, math.nan)
    return task.interact(hash(event.impression_id), interaction, payload, watermark)


def kind_of(event: Click | Dwell | Outcome) -> str:
    """What the books call an interaction."""
    return type(event).__name__.lower()


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

"""What users did, over recorded events: the daemon's join and kernels, without its deadlines."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import msgspec
import numpy as np

from monitor.evaluation.files.inputs import lines, opened
from monitor.evaluation.latency import Latency, latency_of
from monitor.events import INTERACTIONS, Event, Impression, Judgment, Rejected, decode
from monitor.metrics import Bools, Floats, Measure, MetricError, Need, parse
from monitor.stream import intake
from monitor.stream.deciding import MAX_BATCH
from monitor.stream.impressions import Impressions, one_after_the_other
from monitor.stream.interactions import ended
from monitor.stream.join import Task
from monitor.stream.judgments import JudgmentTable
from monitor.stream.plan import Column, Plan, Stage
from monitor.stream.score import score

Recorded: TypeAlias = Event | Mapping[str, Any] | bytes

SESSION_MEASURES = tuple(
    "ctr@1 ctr@3 ctr@5 ctr@10 position_ctr@1 position_ctr@2 position_ctr@3 position_ctr@5 position_ctr@10 "
    "click_mrr@10 abandonment outcome_success dwell_seconds satisfied click_depth scroll_depth".split()
)


class Mean(NamedTuple):
    """The mean over the impressions that have a value, and how many those are."""

    mean: float | None
    """`None` where no impression has one."""
    samples: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """What recorded events say, and how every one of them ended."""

    impressions: int
    sessions: int
    """Impressions that share a `session_id` are one session; an impression without one is a session."""
    with_clicks: int
    """Sessions in which anything that was shown was clicked."""
    means: dict[str, Mean]
    """By the measure as it was asked for."""
    latency: Latency | None
    """`None` where no impression tells its latency."""
    fates: Counter[tuple[str, str]]
    """How many events of a type ended how: impressions `settled` or `duplicate`, interactions `joined`,
    `duplicate` or `unmatched`, judgments `unused`."""
    rejected: Counter[str]
    """How many records are no events, by reason."""

    @property
    def without_clicks(self) -> int:
        return self.sessions - self.with_clicks

    def aggregate(self) -> dict[str, float | None]:
        """Return the mean of each measure; `None` where no impression has a value."""
        return {name: found.mean for name, found in self.means.items()}


def evaluate_sessions(
    events: Path | str | Iterable[Recorded], measures: Iterable[str] = SESSION_MEASURES
) -> Sessions:
    """Evaluate what users did: over a file of events, JSON lines as for `replay`, or over events themselves.

    Whatever was recorded belongs: there is no attribution time, no lateness, no clock, and the order of the
    events does not matter. For the rest it is the daemon's join: of two impressions with one id the first
    counts, an interaction counts once, and not at all where its impression is missing or did not show what
    it names. Judgments are not used; `evaluate` is for those.

    >>> shown = {"type": "impression", "query_id": "q", "ranked": ["a", "b"], "ts": 0}
    >>> found = evaluate_sessions([
    ...     {"type": "click", "impression_id": "1", "position": 2, "ts": 7},
    ...     {**shown, "impression_id": "1", "latency_seconds": 0.2},
    ...     {**shown, "impression_id": "2", "ranked": ["a"]},
    ... ])
    >>> found.means["ctr@1"], found.means["ctr@10"], found.means["position_ctr@2"]
    (Mean(mean=0.0, samples=2), Mean(mean=0.5, samples=2), Mean(mean=1.0, samples=1))
    >>> found.sessions, found.with_clicks, found.without_clicks
    (2, 1, 1)
    """
    asked = {text.strip(): _measure(text) for text in measures}
    stage = Stage(
        delay=0.0,
        columns=tuple(Column(measure, measure.metric.family, ()) for measure in asked.values()),
        first_column=0,
        decides_clicks=True,
        maturity=None,
    )
    recording = _Recording(stage)
    recording.take(events)
    shown, values, clicked = recording.decide(stage)
    session_of = recording.session_of
    return Sessions(
        impressions=len(shown),
        sessions=len(set(session_of.values())),
        with_clicks=len({session_of[impression] for impression in shown.ids[clicked].tolist()}),
        means={name: _mean(column) for name, column in zip(asked, values.T, strict=True)},
        latency=latency_of(shown.latency),
        fates=recording.fates,
        rejected=recording.rejected,
    )


class _Recording:
    """The events of a recording, joined."""

    def __init__(self, stage: Stage) -> None:
        uses = frozenset().union(*(column.measure.metric.uses for column in stage.columns))
        self._plan = Plan((stage,), math.inf, positions=0, keeps_embeddings="embeddings" in uses)
        self._task = Task(self._plan)
        self._impressions = [intake.impressions([], [], [], keep_embeddings=False)[0]]
        self.session_of: dict[int, str | int] = {}
        self.fates: Counter[tuple[str, str]] = Counter()
        self.rejected: Counter[str] = Counter()

    def take(self, events: Path | str | Iterable[Recorded]) -> None:
        decoded = _decoded(events)
        while batch := list(islice(decoded, MAX_BATCH)):
            self._hold([event for event in batch if isinstance(event, Impression)])
            if any(isinstance(event, INTERACTIONS) for event in batch):
                done, rows = intake.interactions(batch)
                self.fates.update(self._task.interact(done, np.full(len(rows), -math.inf)))
            self.rejected.update(event.reason.value for event in batch if isinstance(event, Rejected))
            if unused := sum(isinstance(event, Judgment) for event in batch):
                self.fates["judgment", "unused"] += unused

    def decide(self, stage: Stage) -> tuple[Impressions, Floats, Bools]:
        """All time has passed: the impressions, the values of each, and whether anything was clicked."""
        shown = one_after_the_other(self._impressions).in_order()
        values = np.empty((len(shown), len(stage.columns)))
        clicked = np.zeros(len(shown), dtype=np.bool_)
        nothing_judged = JudgmentTable("mean", 0)
        for i in range(0, len(shown), MAX_BATCH):
            batch = shown[i : i + MAX_BATCH]
            scored = score(stage, batch, nothing_judged, self._task.interactions_of(batch))
            values[i : i + MAX_BATCH] = scored.values
            if scored.clicks is not None:
                clicked[i : i + MAX_BATCH] = scored.clicks.any(axis=1)
            self.fates.update(scored.fates)
        left = self._task.evict_waiting(self._task.pending)
        self.fates.update(ended(left.kinds, "unmatched"))
        if shown:
            self.fates["impression", "settled"] += len(shown)
        return shown, values, clicked

    def _hold(self, events: Sequence[Impression]) -> None:
        ids, size = intake.ids_of(events), len(events)
        ever = [-math.inf] * size
        _, fates = self._task.admit(ids, [event.ts for event in events], ever, np.zeros(size, dtype=np.bool_))
        self.fates.update(("impression", fate) for fate in fates.values())
        held = [row for row in range(size) if row not in fates]
        events, ids = [events[row] for row in held], [ids[row] for row in held]
        shown, _ = intake.impressions(
            events, ids, [0] * len(ids), keep_embeddings=self._plan.keeps_embeddings
        )
        self._impressions.append(shown)
        for event, impression in zip(events, ids, strict=True):
            self.session_of[impression] = event.session_id or impression


def _decoded(events: Path | str | Iterable[Recorded]) -> Iterator[Event | Rejected]:
    if isinstance(events, (Path, str)):
        with opened(Path(events)) as file:
            for _, line in lines(file):
                yield decode(line.strip(), math.inf)
        return
    for event in events:
        if isinstance(event, Mapping):
            yield decode(msgspec.json.encode(event), math.inf)
        else:
            yield decode(event, math.inf) if isinstance(event, bytes) else event


def _measure(text: str) -> Measure:
    measure = parse(text)
    if measure.metric.need is Need.JUDGMENTS:
        raise MetricError(f'metric "{measure}" needs judgments; sessions have what was shown and done')
    return measure


def _mean(values: Floats) -> Mean:
    told = values[~np.isnan(values)]
    return Mean(float(told.mean()) if told.size else None, told.size)

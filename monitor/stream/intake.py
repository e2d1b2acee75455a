"""Intake: events become what the core holds, ids and keys as 64-bit hashes."""

import math
from array import array

from monitor.events import Click, Dwell, Impression, Judgment, Outcome
from monitor.stream.join import CLICK, DWELL, KINDS, OUTCOME, Held, Interaction, Payload, Task
from monitor.stream.judgments import NO_TARGET, JudgmentTable

SUCCESS = {"successful": 1.0, "unsuccessful": 0.0, None: math.nan}


def hold(event: Impression, label_set: int, *, keep_embeddings: bool) -> tuple[Held, int]:
    """The impression as it is held, and how many keys of its ranking had stood above already."""
    try:
        keys = list(map(hash, event.ranked))
    except TypeError:  # pairs of key and score, which have no hash
        keys = [hash(item) if isinstance(item, str) else hash(item.key) for item in event.ranked]
    repeated = len(keys) - len(set(keys))
    first = dict.fromkeys(keys) if repeated else keys
    held = Held(
        hash(event.impression_id),
        hash(event.query_id),
        event.ts,
        array("q", first),
        label_set,
    )
    if event.latency_seconds is not None:
        held.latency = event.latency_seconds
    if keep_embeddings and event.embeddings is not None:
        held.embeddings = event.embeddings
        if repeated:
            held.embeddings = event.embeddings[[keys.index(key) for key in first]]
    if repeated:
        held.shown = array("q", keys)
    return held, repeated


def interact(event: Click | Dwell | Outcome, task: Task, watermark: float) -> tuple[str, str]:
    """Take an interaction in; its type, and its fate if it has one already."""
    ts = event.ts
    if isinstance(event, Outcome):
        scroll = event.max_scroll_position
        interaction: Interaction = (OUTCOME, 0, False, ts)
        payload: Payload = (SUCCESS[event.outcome], math.nan if scroll is None else scroll)
    else:
        kind = CLICK if isinstance(event, Click) else DWELL
        payload = (math.nan if event.dwell_seconds is None else event.dwell_seconds, math.nan)
        if event.key is not None:
            interaction = (kind, hash(event.key), False, ts)
        else:
            interaction = (kind, event.position or 0, True, ts)
    fate = task.interact(hash(event.impression_id), interaction, payload, watermark)
    return KINDS[interaction[0]], fate


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

"""Impressions made by hand, as the columns in which they are held."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from monitor.stream.impressions import Impressions, one_after_the_other


def impression(
    number: int = 1,
    ts: float = 100.0,
    ranked: Sequence[int] = (11, 12, 13),
    query: int = 7,
    *,
    label_set: int = 0,
    latency: float = np.nan,
    **objects: Any,
) -> Impressions:
    """One row; `shown` and `embeddings` may be given too."""
    given: Mapping[str, Any] = {name: np.empty(1, dtype=object) for name in objects}
    for name, value in objects.items():
        given[name][0] = value
    return Impressions(
        ids=np.array([number]),
        queries=np.array([query]),
        ts=np.array([ts]),
        label_sets=np.array([label_set]),
        latency=np.array([latency]),
        lengths=np.array([len(ranked)]),
        keys=np.array(ranked, dtype=np.int64),
        was_judged=np.array([False]),
        **given,
    )


def impressions(*rows: tuple[int, float] | Impressions) -> Impressions:
    """Several, given as they are or by number and time."""
    return one_after_the_other([row if isinstance(row, Impressions) else impression(*row) for row in rows])

"""Impressions made by hand, as the columns in which they are held."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from monitor.stream import interactions
from monitor.stream.impressions import Impressions, one_after_the_other
from monitor.stream.interactions import Interaction, Interactions

Known = Mapping[tuple[int, int, bool, float], tuple[float, float]]
"""Kind, key or position, whether it is a position, ts; and what is told: seconds or success, and scroll."""


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


def side_by_side(belong_to: Sequence[int], known: Sequence[Known]) -> Interactions:
    """Interactions of several impressions."""
    return interactions.side_by_side(
        [
            Interaction(number, math.nan, *interaction, *told)
            for number, of_one in zip(belong_to, known, strict=True)
            for interaction, told in of_one.items()
        ]
    )

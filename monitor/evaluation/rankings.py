"""The ranking of one query, from keys in order or from scores."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from monitor.metrics import Floats32


class Ranking(NamedTuple):
    """What a system ranked for one query."""

    query: str
    keys: list[str]
    """Best first, each once."""
    latency_seconds: float | None = None
    embeddings: Floats32 | None = None
    """One row for each key."""


def once(keys: Iterable[str]) -> list[str]:
    """Return each key once, at its first rank; the ranks below close up."""
    return list(dict.fromkeys(keys))


def by_score(keys: Iterable[str], scores: Iterable[float]) -> list[str]:
    """Sort keys as trec_eval does: by score in single precision, of equal ones the higher key first.

    trec_eval refuses a key that comes twice; here it counts at the better of its ranks.

    >>> by_score(["d1", "d2", "d3"], [1.0, 1.000000001, 7.0])
    ['d3', 'd2', 'd1']
    """
    # Text compares by code point, which is the order of its UTF-8 bytes.
    ranked = sorted(zip(_single_precision(scores), keys, strict=True), reverse=True)
    return once([key for _, key in ranked])


def _single_precision(scores: Iterable[float]) -> list[float]:
    with np.errstate(over="ignore"):  # what is too high is infinite, for trec_eval too
        numbers: list[float] = np.fromiter(scores, np.float64).astype(np.float32).tolist()
    return numbers

"""Interactions that have found their impression, until its clicks are decided."""

import math
from itertools import pairwise

import numpy as np

from monitor.metrics import Ints
from monitor.stream.impressions import Impressions
from monitor.stream.interactions import NOTHING_DONE, Interactions, one_after_the_other, places

SPANS = 4
"""In so many parts the time is divided for which interactions are kept."""


class Joined:
    """By spans of the time when their impression was shown, for in that order they are asked for."""

    def __init__(self, attribution: float) -> None:
        self._seconds = attribution / SPANS
        self._spans: dict[float, list[Interactions]] = {}

    def add(self, interactions: Interactions) -> None:
        """Keep some, each of which knows when its impression was shown."""
        ordered = _by_shown(interactions)
        spans = np.floor(ordered.shown / self._seconds)
        begins = [*np.flatnonzero(np.diff(spans, prepend=np.nan)).tolist(), len(spans)]
        for first, end in pairwise(begins):
            self._spans.setdefault(float(spans[first]), []).append(ordered.only(slice(first, end)))

    def take(self, impressions: Impressions) -> tuple[Ints, Interactions]:
        """Hand out those of some impressions, and for each the row of its impression."""
        found, found_rows = [NOTHING_DONE], [np.empty(0, dtype=np.int64)]
        first, last = float(impressions.ts.min()), float(impressions.ts.max())
        asked = places(impressions.ids, impressions.ts)
        order = np.argsort(asked)
        for span in self._between(first, last):
            block = self._in_order(span)
            low = int(np.searchsorted(block.shown, first, side="left"))
            high = int(np.searchsorted(block.shown, last, side="right"))
            within = block.only(slice(low, high))
            rows = _rows(places(within.impressions, within.shown), asked, order)
            taken = rows >= 0
            found.append(within.only(taken))
            found_rows.append(rows[taken])
            self._keep(span, [block.only(slice(low)), within.only(~taken), block.only(slice(high, None))])
        return np.concatenate(found_rows), one_after_the_other(found)

    def oldest(self, number_of: int) -> Ints:
        """The impressions, as places, to which the oldest interactions belong: so many, or all."""
        found = [np.empty(0, dtype=np.int64)]
        for span in sorted(self._spans):
            if number_of <= 0:
                break
            block = self._in_order(span)
            found.append(places(block.impressions, block.shown)[:number_of])
            number_of -= block.size
        return np.unique(np.concatenate(found))

    def _between(self, first: float, last: float) -> list[float]:
        low, high = math.floor(first / self._seconds), math.floor(last / self._seconds)
        return [span for span in self._spans if low <= span <= high]

    def _in_order(self, span: float) -> Interactions:
        block = _by_shown(one_after_the_other(self._spans[span]))
        self._spans[span] = [block]
        return block

    def _keep(self, span: float, parts: list[Interactions]) -> None:
        kept = [part for part in parts if part.size]
        if kept:
            self._spans[span] = kept
        else:
            del self._spans[span]


def _by_shown(interactions: Interactions) -> Interactions:
    """In the order in which their impressions were shown; those of one time stay as they are."""
    if (interactions.shown[1:] >= interactions.shown[:-1]).all():
        return interactions
    return interactions.only(np.argsort(interactions.shown, kind="stable"))


def _rows(wanted: Ints, asked: Ints, order: Ints) -> Ints:
    """Where each wanted one stands among those asked for, which are ascending in this order; else -1."""
    at = np.minimum(np.searchsorted(asked, wanted, sorter=order), len(asked) - 1)
    rows = order[at]
    return np.where(asked[rows] == wanted, rows, -1)

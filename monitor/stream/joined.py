"""Interactions that have found their impression, until its clicks are decided."""

import math
from itertools import pairwise

import numpy as np

from monitor.metrics import Ints
from monitor.stream.impressions import Impressions
from monitor.stream.interactions import NOTHING_DONE, Interactions, meetings, one_after_the_other
from monitor.stream.queues import SMALL_BLOCK

SPANS = 4
"""In so many parts the time is divided for which interactions are kept."""


class Joined:
    """By spans of the time when their impression was shown, for in that order they are asked for."""

    def __init__(self, attribution: float) -> None:
        self._seconds = attribution / SPANS
        self._spans: dict[float, list[Interactions]] = {}
        self._in_order: set[float] = set()
        """Spans that are in one part, and that in order."""

    def add(self, interactions: Interactions) -> None:
        """Keep some, each of which knows when its impression was shown."""
        ordered = interactions.only(np.argsort(interactions.shown, kind="stable"))
        spans = np.floor(ordered.shown / self._seconds)
        begins = [*np.flatnonzero(np.diff(spans, prepend=np.nan)).tolist(), len(spans)]
        for first, end in pairwise(begins):
            span, part = float(spans[first]), ordered.only(slice(first, end))
            parts = self._spans.setdefault(span, [])
            if parts and parts[-1].size + part.size <= SMALL_BLOCK:
                part = one_after_the_other([parts.pop(), part])
            parts.append(part)
            self._in_order.discard(span)

    def take(self, impressions: Impressions) -> tuple[Ints, Interactions]:
        """Hand out those of some impressions, and for each the row of its impression."""
        found, found_rows = [NOTHING_DONE], [np.empty(0, dtype=np.int64)]
        first, last = float(impressions.ts.min()), float(impressions.ts.max())
        asked = meetings(impressions.ids, impressions.ts)
        order = np.argsort(asked)
        for span in self._between(first, last):
            block = self._ordered(span)
            low = int(np.searchsorted(block.shown, first, side="left"))
            high = int(np.searchsorted(block.shown, last, side="right"))
            within = block.only(slice(low, high))
            rows = _rows(meetings(within.impressions, within.shown), asked, order)
            taken = rows >= 0
            found.append(within.only(taken))
            found_rows.append(rows[taken])
            self._keep(span, [block.only(slice(low)), within.only(~taken), block.only(slice(high, None))])
        return np.concatenate(found_rows), one_after_the_other(found)

    def oldest(self, number_of: int) -> Ints:
        """The oldest impressions, as `meetings` numbers them, that together have so many interactions."""
        found = [np.empty(0, dtype=np.int64)]
        for span in sorted(self._spans):
            if number_of <= 0:
                break
            block = self._ordered(span)
            each, first, counts = np.unique(
                meetings(block.impressions, block.shown), return_index=True, return_counts=True
            )
            order = np.argsort(first)
            before = np.cumsum(counts[order]) - counts[order]
            found.append(each[order[before < number_of]])
            number_of -= block.size
        return np.concatenate(found)

    def _between(self, first: float, last: float) -> list[float]:
        low, high = math.floor(first / self._seconds), math.floor(last / self._seconds)
        return [span for span in self._spans if low <= span <= high]

    def _ordered(self, span: float) -> Interactions:
        block = one_after_the_other(self._spans[span])
        if span not in self._in_order:
            block = block.only(np.argsort(block.shown, kind="stable"))
            self._spans[span] = [block]
            self._in_order.add(span)
        return block

    def _keep(self, span: float, parts: list[Interactions]) -> None:
        """Leave parts of a span, which are in order and follow each other."""
        kept = [part for part in parts if part.size]
        if kept:
            self._spans[span] = [one_after_the_other(kept)]
        else:
            del self._spans[span]
            self._in_order.discard(span)


def _rows(wanted: Ints, asked: Ints, order: Ints) -> Ints:
    """Where each wanted one stands among those asked for, which are ascending in this order; else -1."""
    at = np.minimum(np.searchsorted(asked, wanted, sorter=order), len(asked) - 1)
    rows = order[at]
    return np.where(asked[rows] == wanted, rows, -1)

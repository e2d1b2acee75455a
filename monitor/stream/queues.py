"""Where impressions wait for time to pass: first in the order in which they came, then by their own time."""

from collections import deque
from collections.abc import Callable
from heapq import heapify, heappop, heappush
from itertools import count

import numpy as np

from monitor.metrics import Bools
from monitor.stream.impressions import Impressions, one_after_the_other

SMALL_BLOCK = 512
"""Rows up to which blocks are made one: many small ones would cost more than what is in them."""

Choose = Callable[[Impressions], Bools]


class Arrivals:
    """Impressions that no deadline has passed yet; each block is in order, but blocks overlap."""

    def __init__(self) -> None:
        self._blocks: list[tuple[float, int, Impressions]] = []
        self._numbers = count()

    def put(self, impressions: Impressions) -> None:
        """Take in what came together."""
        if len(impressions):
            block = impressions.in_order()
            heappush(self._blocks, (float(block.ts[0]), next(self._numbers), block))

    def passed(self, watermark: float) -> list[Impressions]:
        """Take out, in order, what was shown before the watermark."""
        parts: list[tuple[int, Impressions]] = []
        rest: list[tuple[int, Impressions]] = []
        while self._blocks and self._blocks[0][0] < watermark:
            _, number, block = heappop(self._blocks)
            end = int(np.searchsorted(block.ts, watermark, side="left"))
            parts.append((number, block[:end]))
            if end < len(block):
                rest.append((number, block[end:]))
        for number, block in rest:
            heappush(self._blocks, (float(block.ts[0]), number, block))
        if not parts:
            return []
        # As they came, so that those of one time stay in that order.
        parts.sort(key=lambda part: part[0])
        return [one_after_the_other([block for _, block in parts]).in_order()]

    def oldest(self, number_of: int) -> list[float]:
        """When the oldest were shown."""
        return sorted(ts for _, _, block in self._blocks for ts in block.ts[:number_of].tolist())[:number_of]

    def take(self, number_of: int) -> list[Impressions]:
        """Take out the oldest, in order."""
        if not (oldest := self.oldest(number_of)):
            return []
        [found] = self.passed(np.nextafter(oldest[-1], np.inf))
        self.put(found[number_of:])
        return [found[:number_of]]

    def pull(self, choose: Choose) -> list[Impressions]:
        """Take out those that were chosen, in order."""
        found: list[Impressions] = []
        kept: list[tuple[float, int, Impressions]] = []
        for _, number, block in sorted(self._blocks, key=lambda entry: entry[1]):
            chosen = choose(block)
            found.append(block[chosen])
            if not chosen.all():
                rest = block[~chosen]
                kept.append((float(rest.ts[0]), number, rest))
        self._blocks = kept
        heapify(self._blocks)
        return [one_after_the_other(found).in_order()] if found else []


class Queue:
    """Impressions in the order of their time, waiting for one deadline."""

    def __init__(self) -> None:
        self._blocks: deque[Impressions] = deque()

    def put(self, impressions: Impressions) -> None:
        """Append impressions, of which hardly any is older than what is here."""
        if not len(impressions):
            return
        while self._blocks and self._blocks[-1].ts[-1] > impressions.ts[0]:
            # Read again after a restart, an impression is let in though the watermark has passed it.
            impressions = one_after_the_other([self._blocks.pop(), impressions]).in_order()
        if self._blocks and len(self._blocks[-1]) + len(impressions) <= SMALL_BLOCK:
            impressions = one_after_the_other([self._blocks.pop(), impressions])
        self._blocks.append(impressions)

    def passed(self, delay: float, watermark: float) -> list[Impressions]:
        """Take out those whose deadline the watermark has passed."""
        parts: list[Impressions] = []
        while self._blocks and self._blocks[0].ts[0] + delay < watermark:
            block = self._blocks.popleft()
            end = int(np.searchsorted(block.ts + delay, watermark, side="left"))
            parts.append(block[:end])
            if end < len(block):
                self._blocks.appendleft(block[end:])
        return parts

    def oldest(self, number_of: int) -> list[float]:
        """When the oldest were shown."""
        found: list[float] = []
        for block in self._blocks:
            found += block.ts[: number_of - len(found)].tolist()
            if len(found) == number_of:
                break
        return found

    def take(self, number_of: int) -> list[Impressions]:
        """Take out the oldest."""
        parts: list[Impressions] = []
        while number_of and self._blocks:
            block = self._blocks.popleft()
            parts.append(block[:number_of])
            if number_of < len(block):
                self._blocks.appendleft(block[number_of:])
            number_of -= len(parts[-1])
        return parts

    def pull(self, choose: Choose) -> list[Impressions]:
        """Take out those that were chosen."""
        parts: list[Impressions] = []
        kept: deque[Impressions] = deque()
        for block in self._blocks:
            chosen = choose(block)
            if chosen.any():
                parts.append(block[chosen])
            if not chosen.all():
                kept.append(block[~chosen] if chosen.any() else block)
        self._blocks = kept
        return parts

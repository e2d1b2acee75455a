"""Tumbling windows by the impressions' event time, closed once for each delay and never changed after."""

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import itemgetter

import numpy as np

from monitor.metrics import Floats
from monitor.stream.cells import Cells, Observed
from monitor.stream.plan import Stage


@dataclass(frozen=True, slots=True)
class Window:
    """One closed window of one size, for the metrics of one stage."""

    size: float
    start: float
    stage: Stage
    cells: Cells
    partial: bool
    """Not covered from its start: shown by the API, marked, and not exported."""

    @property
    def end(self) -> float:
        return self.start + self.size


WindowKey = tuple[float, int, float]
"""Size, stage and start of a window, or of a slot."""
Open = dict[WindowKey, dict[int, Cells]]
"""What each task has brought."""


class Windows:
    """The open windows, and as many closed ones of each size and stage as are to be kept."""

    def __init__(self, sizes: Sequence[float], stages: Sequence[Stage], kept: int) -> None:
        self.covered_from = -math.inf
        """Everything from here on was seen; windows that begin before are partial."""
        self.slot = _common_divisor(sizes)
        """Every window consists of whole slots of this size, so impressions are added up once, by slot."""
        self._sizes = sizes
        self._stages = stages
        self._slots: Open = {}
        """The slots that may still grow."""
        self._open: Open = {}
        """The windows into which slots go then."""
        self._closed = {(size, i): deque[Window](maxlen=kept) for size in sizes for i in range(len(stages))}
        self._watermark = -math.inf

    def resume(self, watermark: float) -> None:
        """Windows that had closed before a restart stay closed: a replay would fill them only in part."""
        self._watermark = max(self._watermark, watermark)
        self._open = {place: tasks for place, tasks in self._open.items() if self._is_open(*place)}

    def forget(self, task: int) -> None:
        """A task begins anew and will bring all that open windows need again."""
        for brought in (self._slots, self._open):
            for place, tasks in list(brought.items()):
                tasks.pop(task, None)
                if not tasks:
                    del brought[place]

    def slots(self, times: Floats) -> Floats:
        """The slots of time, by their begin, in which impressions were shown."""
        slots: Floats = np.floor(times / self.slot) * self.slot
        return slots

    def add(self, task: int, stage: int, slot: float, found: Observed) -> None:
        """Add what a task has observed of the impressions in the slot of time that begins at `slot`."""
        if any(self._is_open(*window) for window in self._around(stage, slot)):
            self._cells(self._slots, (self.slot, stage, slot), task).add(found)

    def close(self, watermark: float) -> None:
        """Close what every task's watermark has passed."""
        # A slot is over when a window around it is, and not by its own end: that may be rounded otherwise.
        for _, stage, slot in sorted(self._slots):
            around = self._around(stage, slot)
            if any(self._end(*window) < watermark for window in around):
                for task, brought in self._slots.pop((self.slot, stage, slot)).items():
                    for window in around:
                        if self._is_open(*window):
                            self._cells(self._open, window, task).merge(brought)
        self._watermark = max(self._watermark, watermark)
        due = [place for place in self._open if self._end(*place) < watermark]
        for size, stage, start in sorted(due, key=itemgetter(2, 0, 1)):
            cells, *others = self._open.pop((size, stage, start)).values()
            for brought in others:
                cells.merge(brought)
            if not cells.buckets.any():
                continue  # impressions, but none of them judged: a window without samples is none
            closed = Window(size, start, self._stages[stage], cells, start < self.covered_from)
            self._closed[size, stage].append(closed)

    def _around(self, stage: int, slot: float) -> list[WindowKey]:
        return [(size, stage, math.floor(slot / size) * size) for size in self._sizes]

    def _end(self, size: float, stage: int, start: float) -> float:
        """When a window closes."""
        return start + size + self._stages[stage].delay

    def _is_open(self, size: float, stage: int, start: float) -> bool:
        """A partition that was taken over replays what another owner has shown: that is closed."""
        return self._end(size, stage, start) >= self._watermark

    def _cells(self, brought: Open, place: WindowKey, task: int) -> Cells:
        tasks = brought.setdefault(place, {})
        if task not in tasks:
            tasks[task] = Cells(self._stages[place[1]].columns)
        return tasks[task]

    def closed(self) -> list[Window]:
        """Every closed window that is kept."""
        return [window for windows in self._closed.values() for window in windows]

    def newest(self) -> list[Window]:
        """The newest window of each size and stage, where it has anything: an empty one is not exported."""
        return [
            windows[-1]
            for (size, stage), windows in self._closed.items()
            if windows and not windows[-1].partial and windows[-1].start >= self._last_start(size, stage)
        ]

    def _last_start(self, size: float, stage: int) -> float:
        """Where the newest window begins that has closed, with or without anything in it."""
        passed = self._watermark - self._stages[stage].delay
        if math.isinf(passed):
            return -math.inf
        # The window that ends just there has not closed: it does when its end has passed.
        return math.ceil(passed / size) * size - 2 * size


def _common_divisor(sizes: Sequence[float]) -> float:
    """The largest size that goes into all of them; an hour where there are none.

    >>> _common_divisor([60.0, 300.0, 3600.0]), _common_divisor([60.0, 0.3])
    (60.0, 0.3)
    """
    # By their decimal form: 0.3 is no small fraction in binary.
    fractions = [Fraction(str(size)) for size in sizes]
    denominator = math.lcm(*(fraction.denominator for fraction in fractions))
    divisor = math.gcd(*(int(fraction * denominator) for fraction in fractions)) / denominator
    return divisor or 3600.0

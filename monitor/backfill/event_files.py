"""Files of events as one stream in the order of event time."""

from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from itertools import compress, count
from pathlib import Path

import numpy as np

from monitor.events import times_of
from monitor.metrics import Floats
from monitor.sources.jsonl import JsonlSource, Line

JUDGMENT = b'"judgment"'
"""What every judgment has in it."""


@dataclass(frozen=True, slots=True)
class LineBatch:
    """Lines that follow each other, with the `ts` of each."""

    lines: Sequence[Line]
    ts: Floats
    """NaN where a line has none."""

    def only(self, rows: slice) -> "LineBatch":
        return LineBatch(self.lines[rows], self.ts[rows])


async def batches(
    paths: Sequence[Path],
    until: float,
    progress: Callable[[int], None] = lambda _: None,
    *,
    judgments_before: float = -np.inf,
) -> AsyncGenerator[LineBatch, None]:
    """Read files to their end, or to where all is after `until`; no event after that is handed out.

    Of what is before `judgments_before` only judgments are: they never age.

    Several files are merged: of each the line is next that has the least of the largest times so far. So each
    file may be out of order as a partition may be. `progress` gets the number of bytes read and of all bytes.
    """
    readers = [_Reader(path, until, judgments_before) for path in paths]
    offsets = count()
    try:
        for reader in readers:
            await reader.start()
        while any([await reader.fill() for reader in readers]):
            progress(sum(reader.bytes_read for reader in readers))
            # Whatever a file brings next is not before this.
            horizon = min((reader.reached for reader in readers if not reader.finished), default=np.inf)
            merged = _merged([reader.take(horizon) for reader in readers])
            if len(paths) > 1:
                merged = LineBatch([Line(line.value, next(offsets)) for line in merged.lines], merged.ts)
            yield merged
    finally:
        for reader in readers:
            await reader.stop()


class _Reader:
    """One file: the lines that were read and not taken yet."""

    def __init__(self, path: Path, until: float, judgments_before: float) -> None:
        self.bytes_read = 0
        self.finished = False
        self._source = JsonlSource(path, progress=self._note)
        self._until = until
        self._judgments_before = judgments_before
        self._opened = False
        self._clock = -np.inf
        self._read = LineBatch((), np.empty(0))
        self._reached: Floats = np.empty(0)
        """How far event time has come with each line."""

    @property
    def reached(self) -> float:
        """How far event time has come with the last line that was read."""
        return float(self._clock)

    async def start(self) -> None:
        await self._source.start()
        self._opened = True

    async def stop(self) -> None:
        if self._opened:
            await self._source.stop()

    async def fill(self) -> bool:
        """Read on if nothing is left; whether there is anything to take."""
        while not self._read.lines and not self.finished:
            poll = await self._source.poll()
            lines: list[Line] = [line for chunk in poll.chunks for line in chunk.records]  # type: ignore[misc]
            ts = np.array(times_of([line.value for line in lines]) if lines else [], dtype=np.float64)
            # One sender's clock may be ahead, but not of thousands of lines in a row.
            self.finished = poll.finished or bool((ts > self._until).all())
            lines, ts = self._wanted(lines, ts)
            self._reached = np.fmax.accumulate(np.concatenate(([self._clock], ts)))[1:]
            self._clock = self._reached[-1] if ts.size else self._clock
            self._read = LineBatch(lines, ts)
        return bool(self._read.lines)

    def _wanted(self, lines: list[Line], ts: Floats) -> tuple[list[Line], Floats]:
        wanted = ~(ts > self._until)
        for row in np.flatnonzero(ts < self._judgments_before).tolist():
            wanted[row] = JUDGMENT in lines[row].value
        if wanted.all():
            return lines, ts
        return list(compress(lines, wanted.tolist())), ts[wanted]

    def take(self, horizon: float) -> tuple[LineBatch, Floats]:
        """Hand out the lines with which event time has come no further than a time, and how far it had."""
        end = int(np.searchsorted(self._reached, horizon, side="right"))
        taken, reached = self._read.only(slice(end)), self._reached[:end]
        self._read, self._reached = self._read.only(slice(end, None)), self._reached[end:]
        return taken, reached

    def _note(self, bytes_read: int) -> None:
        self.bytes_read = bytes_read


def _merged(parts: Sequence[tuple[LineBatch, Floats]]) -> LineBatch:
    parts = [part for part in parts if part[0].lines]
    if len(parts) == 1:
        return parts[0][0]
    lines = [line for batch, _ in parts for line in batch.lines]
    order = np.argsort(np.concatenate([reached for _, reached in parts]), kind="stable")
    ts = np.concatenate([batch.ts for batch, _ in parts])
    return LineBatch([lines[i] for i in order.tolist()], ts[order])

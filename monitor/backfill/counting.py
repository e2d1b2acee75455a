"""Counting: the rows of one part of the time, in this process or in one of its own."""

import asyncio
import pickle
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from monitor.backfill.event_files import batches
from monitor.backfill.grid import Grid
from monitor.backfill.sampling import RowMaker, SampleRow
from monitor.backfill.stepping import Stepper
from monitor.config import Config
from monitor.pump import ease_garbage_collection

SHORTEST_PART_SECONDS = 12 * 3600
"""A part begins with the events of the last hour or more before it, which are counted and taken off."""


@dataclass(frozen=True, slots=True)
class TimePart:
    """A part of the time, which may be all of it."""

    events: Sequence[Path]
    config: Config
    grid: Grid
    since: float
    labels: Mapping[str, str]
    read_until: float
    """No event after this is read, whatever part it is of: the clock of its sender is ahead."""

    @property
    def goes_on(self) -> bool:
        """Whether another part follows."""
        return self.grid.until < self.read_until


def split(whole: TimePart, begin: float, parts: int) -> list[TimePart]:
    """Divide the time from `begin` on, where it is long enough; each part begins where one ends."""
    length = whole.grid.until - begin
    parts = max(1, min(parts, int(length // SHORTEST_PART_SECONDS)))
    times = [whole.grid.at_or_after(begin + i * length / parts) for i in range(1, parts)]
    return [
        replace(whole, since=since, grid=replace(whole.grid, until=until))
        for since, until in zip([whole.since, *times], [*times, whole.grid.until], strict=True)
    ]


async def rows(part: TimePart, progress: Callable[[int], None]) -> AsyncIterator[SampleRow]:
    """The rows of a part; what was counted by the first of them is not of this part."""
    stepper = Stepper(part.config, part.grid, part.since)
    maker = RowMaker(part.config.labels, part.labels)
    reading = batches(part.events, part.read_until, progress, judgments_before=stepper.needed_from)
    async with aclosing(reading):
        async for batch in reading:
            for step in stepper.take(batch):
                if step.at >= part.since:
                    yield maker.row(step)
            if stepper.is_over:
                return
    for step in stepper.finish(goes_on=part.goes_on):
        if step.at >= part.since:
            yield maker.row(step)


# In a process of its own.

_bytes_read: Any = None
"""An array that the processes share: how much each part has read, and last whether all are to stop."""


class StoppedError(Exception):
    """Nobody wants the rest."""


def set_up_process(bytes_read: Any) -> None:
    """Call this first in a process that counts parts."""
    global _bytes_read  # noqa: PLW0603 - a pool hands it to its processes in no other way
    _bytes_read = bytes_read
    # Ctrl-C is for the process that waits for this one.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    ease_garbage_collection()


def count_into(path: Path, part: TimePart, number: int) -> None:
    """Write the rows of a part to a file."""

    def progress(bytes_read: int) -> None:
        _bytes_read[number] = bytes_read
        if _bytes_read[-1]:
            raise StoppedError

    async def count() -> None:
        series: Mapping[str, Any] | None = None
        with path.open("wb") as file:
            async for row in rows(part, progress):
                # Names are written where they change: pickle would write them with every row.
                pickle.dump((row.at, None if row.series is series else row.series, row.values), file)
                series = row.series

    asyncio.run(count())


def counted_rows(path: Path) -> Iterator[SampleRow]:
    """The rows that were written to a file."""
    series: Mapping[str, Any] = {}
    with path.open("rb") as file:
        while True:
            try:
                at, changed, values = pickle.load(file)  # noqa: S301 - written by this run, for its user only
            except EOFError:
                return
            series = series if changed is None else changed
            yield SampleRow(at, series, values)

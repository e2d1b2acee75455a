"""A backfill from end to end: files of events in, blocks out."""

import asyncio
import multiprocessing
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from monitor.backfill.blocks import BlockError, BlockWriter, block_writer, existing_blocks
from monitor.backfill.counting import TimePart, count_into, counted_rows, rows, set_up_process, split
from monitor.backfill.event_files import batches
from monitor.backfill.sampling import SampledSeries, SampledSpan, Sampler, SampleRow
from monitor.backfill.stepping import Stepper
from monitor.export import catalogue
from monitor.export.windows import rfc3339

MoreSeries = Callable[[SampledSpan], Iterable[SampledSeries]]
"""Further series of a span, made from those that are there. Called for each span in the order of time."""
Progress = Callable[[int], None]
"""Told how many bytes of the files were read."""
LOOK_SECONDS = 0.2


@dataclass(slots=True)
class Written:
    """What became of it."""

    spans: int = 0
    blocks: int = 0
    series: int = 0
    samples: int = 0
    first: int | None = None
    """Time of the first sample; None if there is none."""
    last: int | None = None
    records: int = 0
    rejected: int = 0
    late: int = 0
    """Impressions that came too late to be counted."""


class Backfill:
    """Writes blocks of a time into a folder."""

    def __init__(
        self,
        whole: TimePart,
        output: Path,
        promtool: str,
        *,
        processes: int = 1,
        more_series: MoreSeries = lambda _: (),
    ) -> None:
        """`output` is a folder that exists."""
        self._whole = whole
        self._output = output
        self._promtool = promtool
        self._processes = processes
        self._more_series = more_series
        self._written = Written()
        self._sampler = Sampler()

    async def run(self, progress: Progress = lambda _: None) -> Written:
        """Write all of it, or leave nothing in the output folder."""
        written, sampler = self._written, self._sampler
        parts = await self._parts()
        with block_writer(self._promtool, self._output) as writer:
            async with aclosing(self._counted(parts, writer.folder, progress)) as counted:
                async for part in counted:
                    is_first = True
                    async for row in part:
                        if is_first:
                            sampler.begin(row)
                            is_first = False
                        self._take(row, writer)
            self._write(sampler.finish(), writer)
            written.blocks, written.samples = writer.move_to(self._output), writer.samples
        written.records = int(sampler.total(catalogue.RECORDS.name))
        written.rejected = int(sampler.total(catalogue.REJECTED.name))
        written.late = int(sampler.total(catalogue.EVENTS.name, type="impression", fate="late"))
        return written

    async def _parts(self) -> list[TimePart]:
        """The parts that are counted at the same time; one if there is something that is read only once."""
        if self._processes == 1 or not all(path.is_file() for path in self._whole.events):
            return [self._whole]
        begin = await _begin(self._whole)
        if begin is None:
            return [self._whole]
        refuse_overlap(self._output, int(begin), self._whole.grid.until)
        return split(self._whole, begin, self._processes)

    async def _counted(
        self, parts: Sequence[TimePart], folder: Path, progress: Progress
    ) -> AsyncGenerator[AsyncIterator[SampleRow], None]:
        """The rows of each part, in the order of time; several parts are counted at the same time."""
        if len(parts) == 1:
            yield rows(parts[0], progress)
            return
        # Not forked: the progress bar has a thread.
        context = multiprocessing.get_context("spawn")
        bytes_read = context.Array("q", len(parts) + 1, lock=False)
        with ProcessPoolExecutor(len(parts), context, set_up_process, (bytes_read,)) as pool:
            files = [folder / f"part-{number}" for number in range(len(parts))]
            counting = [pool.submit(count_into, files[i], part, i) for i, part in enumerate(parts)]
            try:
                for file, counted in zip(files, counting, strict=True):
                    while not counted.done():
                        progress(sum(bytes_read) // len(parts))
                        await asyncio.sleep(LOOK_SECONDS)
                    counted.result()
                    yield _read(file)
                    file.unlink()
            finally:
                bytes_read[len(parts)] = 1  # the others stop, if there was a mistake

    def _take(self, row: SampleRow, writer: BlockWriter) -> None:
        if self._written.first is None:
            self._written.first = row.at
            refuse_overlap(self._output, row.at, self._whole.grid.until)
        self._write(self._sampler.take(row), writer)

    def _write(self, spans: Iterable[SampledSpan], writer: BlockWriter) -> None:
        for span in spans:
            series = [*span.series, *self._more_series(span)]
            writer.write(series)
            self._written.spans += 1
            self._written.series = max(self._written.series, len(series))
            self._written.last = int(span.times[-1])


def refuse_overlap(folder: Path, first: int, last: int) -> None:
    """Refuse a folder with a block that has samples between two times, both included."""
    for block in existing_blocks(folder):
        if block.begin <= last * 1000 and block.end > first * 1000:
            covered = f"{rfc3339(block.begin / 1000)} to {rfc3339(block.end / 1000)}"
            raise BlockError(
                f'"{block.path}" covers {covered}, which overlaps {rfc3339(first)} to {rfc3339(last)};'
                " give another --output, or --since and --until that leave it out"
            )


async def _begin(whole: TimePart) -> float | None:
    """When the first sample can be, or None if there is no event."""
    stepper = Stepper(whole.config, whole.grid, whole.since)
    async with aclosing(
        batches(whole.events, whole.read_until, judgments_before=stepper.needed_from)
    ) as reading:
        async for batch in reading:
            for step in stepper.take(batch):
                return max(step.at, whole.since)
    return None


async def _read(file: Path) -> AsyncIterator[SampleRow]:
    for row in counted_rows(file):
        yield row

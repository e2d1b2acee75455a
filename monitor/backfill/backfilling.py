"""A backfill from end to end: files of events in, blocks out."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from monitor.backfill.blocks import BlockError, BlockWriter, block_writer, existing_blocks
from monitor.backfill.event_files import batches
from monitor.backfill.grid import Grid
from monitor.backfill.sampling import SampledSeries, SampledSpan, Sampler
from monitor.backfill.stepping import Step, Stepper
from monitor.config import Config
from monitor.export.windows import rfc3339

MoreSeries = Callable[[SampledSpan], Iterable[SampledSeries]]
"""Further series of a span, made from those that are there. Called for each span in the order of time."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be written, and where."""

    events: Sequence[Path]
    config: Config
    output: Path
    """A folder that exists."""
    grid: Grid
    since: float
    """Samples begin here, or with the first event if that is later."""
    promtool: str
    labels: Mapping[str, str]
    """Labels of every series: those that Prometheus adds when it scrapes."""
    more_series: MoreSeries = field(default=lambda _: ())


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
    open: int = 0
    """Impressions that still had a deadline when the samples ended."""


async def backfill(request: Request, progress: Callable[[int], None] = lambda _: None) -> Written:
    """Write the blocks; nothing is left in the output folder unless all of it could be written."""
    written = Written()
    stepper = Stepper(request.config, request.grid, request.since)
    sampler = Sampler(request.config.labels, request.labels, request.since)
    with block_writer(request.promtool, request.output) as writer:

        def write(steps: Iterable[Step]) -> None:
            for step in steps:
                if written.first is None and step.at >= request.since:
                    written.first = step.at
                    refuse_overlap(request.output, step.at, request.grid.until)
                _write_spans(sampler.take(step), request, writer, written)

        reading = batches(request.events, request.grid.until, progress, judgments_before=stepper.needed_from)
        async for batch in reading:
            write(stepper.take(batch))
        write(stepper.finish())
        _write_spans(sampler.finish(), request, writer, written)
        written.blocks = writer.move_to(request.output)
        written.samples = writer.samples
    engine = stepper.engine
    written.records, written.rejected, written.open = engine.records, engine.rejected, engine.open_impressions
    written.late = engine.snapshot().fates["impression", "late"]
    return written


def refuse_overlap(folder: Path, first: int, last: int) -> None:
    """Refuse a folder with a block that has samples between two times, both included."""
    for block in existing_blocks(folder):
        if block.begin <= last * 1000 and block.end > first * 1000:
            covered = f"{rfc3339(block.begin / 1000)} to {rfc3339(block.end / 1000)}"
            raise BlockError(
                f'"{block.path}" covers {covered}, which overlaps {rfc3339(first)} to {rfc3339(last)};'
                " give another --output, or --since and --until that leave it out"
            )


def _write_spans(
    spans: Iterable[SampledSpan], request: Request, writer: BlockWriter, written: Written
) -> None:
    for span in spans:
        series = [*span.series, *request.more_series(span)]
        writer.write(series)
        written.spans += 1
        written.series = max(written.series, len(series))
        written.last = int(span.times[-1])

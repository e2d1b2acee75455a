"""`ranking-monitor replay`: the daemon's engine over a file."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from monitor import __version__
from monitor.cli.output import print_whole, writable
from monitor.cli.progress import reading
from monitor.cli.summary import summary
from monitor.config import Config, load
from monitor.export.collector import ProcessStatus
from monitor.export.render import Exposition
from monitor.export.windows import to_json_lines, to_openmetrics
from monitor.pump import Pump, ease_garbage_collection
from monitor.sources.base import Source
from monitor.sources.jsonl import JsonlSource
from monitor.stream.engine import Engine


def replay(
    events: Annotated[Path, typer.Argument(help='JSON lines, plain or gzip; "-" is standard input.')],
    config: Annotated[
        Path | None, typer.Option(help="The daemon's configuration; `kafka` is ignored.")
    ] = None,
    metrics_out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write what a scrape at the end would have shown.")
    ] = None,
    windows_out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write every window: JSON lines, or OpenMetrics if it ends in .om."
        ),
    ] = None,
) -> None:
    """Run a file of events through the engine and print a summary."""
    settings = load(config)
    for path in (metrics_out, windows_out):
        writable(path)
    # The API bounds how many windows it has; a file has them all.
    unbounded = settings.model_copy(update={"windows_kept": 10_000_000})
    with reading(events) as progress:
        engine = asyncio.run(_replay(JsonlSource(events, progress=progress), unbounded))
    if metrics_out:
        status = ProcessStatus(version=__version__, config_hash=settings.digest, ready=True)
        metrics_out.write_bytes(Exposition().render(engine.snapshot(), status)[0])
    if windows_out:
        _write_windows(windows_out, engine)
    print_whole(summary(engine.snapshot()))


def _write_windows(path: Path, engine: Engine) -> None:
    windows, labels = engine.windows(), engine.labels
    if path.suffix == ".om":
        path.write_text(to_openmetrics(windows, labels.names, labels.values), encoding="utf-8")
    else:
        with path.open("w", encoding="utf-8") as file:
            file.writelines(to_json_lines(windows, labels.names, labels.values))


async def _replay(source: Source, config: Config) -> Engine:
    await source.start()
    ease_garbage_collection()
    engine = Engine(config, source.roles)
    pump = Pump(engine, config.lateness_seconds)
    try:
        finished = False
        while not finished:
            poll = await source.poll()
            pump.feed(poll)
            finished = poll.finished
    finally:
        await source.stop()
    return engine

"""`ranking-monitor backfill`: blocks for Prometheus from events of the past."""

import asyncio
import math
import os
import re
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from monitor.backfill.backfilling import Backfill, Written
from monitor.backfill.counting import TimePart
from monitor.backfill.grid import Grid
from monitor.cli.errors import UserError
from monitor.cli.progress import reading
from monitor.cli.times import instant
from monitor.config import RESERVED_LABELS, load
from monitor.durations import in_seconds
from monitor.export.windows import rfc3339
from monitor.pump import ease_garbage_collection

MIN_AGE_SECONDS = 3 * 3600
"""Prometheus holds up to three hours in memory, and a block must not overlap them."""
MAX_STEP_SECONDS = 120
"""Prometheus forgets a series five minutes after its last sample: two steps must fit."""
INSTANCE = "backfill"
MAX_PROCESSES = 8


def backfill(
    events: Annotated[list[Path], typer.Argument(help='JSON lines, plain or gzip; "-" is standard input.')],
    output: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the blocks go.")],
    until: Annotated[
        str, typer.Option(metavar="TIME", help="The last sample: at least 3 hours ago, before the live job.")
    ],
    config: Annotated[Path | None, typer.Option(help="The daemon's configuration.")] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="The first sample; if not given, with the first event."),
    ] = None,
    job: Annotated[str, typer.Option(help="The job_name of the scrape.")] = "ranking-monitor",
    labels: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="A label that the scrape adds; may be repeated."),
    ] = None,
    step: Annotated[str, typer.Option(help="The scrape interval.")] = "60s",
    promtool: Annotated[str, typer.Option(help="Prometheus's promtool.")] = "promtool",
    processes: Annotated[
        int | None,
        typer.Option(help="How many count at the same time; if not given, one for each core, at most 8."),
    ] = None,
) -> None:
    """Make blocks for Prometheus of what the daemon would have exported for events of the past."""
    began = time.monotonic()
    settings = load(config)
    grid = Grid.ending(_until(until), _step(step))
    first = -math.inf if since is None else instant("--since", since)
    if first >= grid.until:
        raise UserError(f"--since: {since} is not before --until, which is {rfc3339(grid.until)}")
    whole = TimePart(
        events=events,
        config=settings,
        grid=grid,
        since=first,
        labels={**_labels(labels or [], settings.labels), "job": job, "instance": INSTANCE},
        read_until=grid.until,
    )
    if processes is not None and processes < 1:
        raise UserError(f"--processes: {processes} is not allowed; give 1 or more")
    program = _program(promtool)
    _make_folder(output)
    with reading(*events) as progress:
        ease_garbage_collection()
        backfill = Backfill(whole, output, program, processes=processes or _cores())
        written = asyncio.run(backfill.run(progress))
    if written.first is None:
        begin = "" if since is None else f" from {rfc3339(first)} on and"
        raise UserError(f"there are no events{begin} up to {rfc3339(grid.until)}: nothing is written")
    print(_summary(written, time.monotonic() - began))


def _until(text: str) -> float:
    until, latest = instant("--until", text), math.floor(time.time() - MIN_AGE_SECONDS)
    if until > latest:
        raise UserError(
            f"--until: {text} is less than 3 hours ago, which Prometheus may still hold in memory;"
            f" give {rfc3339(latest)} or earlier"
        )
    return until


def _step(text: str) -> int:
    seconds = in_seconds(text)
    if seconds is None or not 1 <= seconds <= MAX_STEP_SECONDS:
        raise UserError(f'--step: "{text}" is not allowed; give 1s to 2m, such as 15s or 1m')
    return seconds


def _labels(given: list[str], configured: tuple[str, ...]) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for each in given:
        name, equals, value = each.partition("=")
        if not equals or not value or not re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_]*", name) or name[:2] == "__":
            raise UserError(f'--labels: "{each}" is not a label; give NAME=VALUE')
        if name in RESERVED_LABELS or name in configured or name in found:
            raise UserError(f'--labels: "{name}" is a label that the series have already; leave it out')
        found[name] = value
    return found


def _program(promtool: str) -> str:
    path = shutil.which(promtool)
    if path is None:
        raise UserError(
            f'--promtool: there is no program "{promtool}"; it comes with Prometheus'
            " (Debian: apt-get install prometheus)"
        )
    return path


def _make_folder(output: Path) -> None:
    probe = output / ".backfill-probe"
    try:
        output.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise UserError(f'--output: cannot write into "{output}": {error.strerror}') from None


def _cores() -> int:
    return min(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1, MAX_PROCESSES)


def _summary(written: Written, seconds: float) -> str:
    assert written.first is not None
    assert written.last is not None
    return (
        f"{rfc3339(written.first)} to {rfc3339(written.last)}: {_count(written.spans, 'span')},"
        f" {_count(written.blocks, 'block')}, {written.series:,} series, {_count(written.samples, 'sample')},"
        f" {seconds:,.0f} s\n"
        f"{_count(written.records, 'record')}: {written.rejected:,} rejected,"
        f" {_count(written.late, 'impression')} late"
    )


def _count(number: int, of: str) -> str:
    return f"{number:,} {of}" if number == 1 else f"{number:,} {of}s"

"""`ranking-monitor run`: the daemon."""

import gc
from pathlib import Path
from typing import Annotated

import typer


def run(
    config: Annotated[Path | None, typer.Option(help="The YAML file; without one all defaults hold.")] = None,
) -> None:
    """Watch the ranking quality of the events on Kafka until stopped."""
    # What is imported stays: to look for garbage among it would take a tenth of the start.
    gc.disable()
    from monitor.cli.serving import serve  # noqa: PLC0415 - the help is there without all that it imports

    gc.enable()
    serve(config)

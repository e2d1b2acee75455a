"""`ranking-monitor run`: the daemon."""

from pathlib import Path
from typing import Annotated

import typer


def run(
    config: Annotated[Path | None, typer.Option(help="The YAML file; without one all defaults hold.")] = None,
) -> None:
    """Watch the ranking quality of the events on Kafka until stopped."""
    from monitor.cli.serving import serve  # noqa: PLC0415 - the help is there without all that it imports

    serve(config)

"""`ranking-monitor check-config`: is this configuration usable, and what does it say?"""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
import yaml

from monitor.config import load


def check_config(
    path: Annotated[Path, typer.Argument(metavar="CONFIG", help="The YAML file.")],
    show: Annotated[
        bool, typer.Option("--show", help="Print every value, defaults and environment included.")
    ] = False,
) -> None:
    """Check a configuration file, and look at its topics if a broker answers; nothing is started."""
    config = load(path)
    for line in config.warnings:
        typer.echo(f"warning: {path}: {line}", err=True)
    if show:
        print(yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False), end="")
    else:
        count = len(config.metrics)
        print(f"{path}: valid, {count} metric{'' if count == 1 else 's'}, hash {config.digest}")
        from monitor.sources.kafka.client import quiet_aiokafka  # noqa: PLC0415 - the help needs none of it
        from monitor.sources.kafka.topic_clocks import look  # noqa: PLC0415

        quiet_aiokafka()
        for line in asyncio.run(look(config.kafka)):
            print(line)

"""`ranking-monitor check-config`: is this configuration usable, and what does it say?"""

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
    """Check a configuration file without starting anything."""
    config = load(path)
    if show:
        print(yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False), end="")
    else:
        count = len(config.metrics)
        print(f"{path}: valid, {count} metric{'' if count == 1 else 's'}, hash {config.digest}")

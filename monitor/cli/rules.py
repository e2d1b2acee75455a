"""`ranking-monitor rules`: recording rules and alerts for Prometheus."""

from pathlib import Path
from typing import Annotated

import typer

from monitor.alerting.render import rules_file
from monitor.alerting.values import load_values
from monitor.cli.output import writable


def rules(
    values: Annotated[
        Path | None,
        typer.Option(help="A YAML file with any of the values; deploy/prometheus/values.yaml has all."),
    ] = None,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write to this file.")] = None,
) -> None:
    """Print the rules for Prometheus, with your thresholds."""
    text = rules_file(load_values(values))
    writable(output)
    if output is None:
        print(text, end="")
    else:
        output.write_text(text, encoding="utf-8")

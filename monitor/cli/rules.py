"""`ranking-monitor rules`: recording rules and alerts for Prometheus, and the values that suit a search."""

import time
from pathlib import Path
from typing import Annotated

import typer

from monitor.alerting.calibrated_values import calibrated_values
from monitor.alerting.calibration_report import Calibration
from monitor.alerting.hourly_history import read_history
from monitor.alerting.prometheus_api import PrometheusApi
from monitor.alerting.render import rules_file
from monitor.alerting.values import Values, load_values
from monitor.cli.calibration_tables import calibration_tables
from monitor.cli.errors import UserError
from monitor.cli.output import print_whole, writable

WEEKS = 2


def rules(
    values: Annotated[
        Path | None,
        typer.Option(help="A YAML file with any of the values; deploy/prometheus/values.yaml has all."),
    ] = None,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write to this file.")] = None,
    calibrate: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Read the last weeks from this Prometheus instead, print which drops are found how soon, "
            "and write a values file.",
        ),
    ] = None,
    weeks: Annotated[
        int | None,
        typer.Option(min=1, max=12, help=f"How many weeks --calibrate reads; {WEEKS} if not given."),
    ] = None,
) -> None:
    """Print the rules for Prometheus, with your thresholds."""
    if calibrate is None and weeks is not None:
        raise UserError("--weeks is for --calibrate; give both or neither")
    given = load_values(values)
    writable(output)
    if calibrate is not None:
        if output is not None and values is not None and output.resolve() == values.resolve():
            raise UserError("--output is the file of --values, with your comments; give another one")
        text = _calibrated(given, calibrate, weeks or WEEKS)
        if output is None:
            print("Give --output values.yaml to write this down as a values file.")
    else:
        text = rules_file(given)
        if output is None:
            print(text, end="")
    if output is not None:
        output.write_text(text, encoding="utf-8")


def _calibrated(values: Values, address: str, weeks: int) -> str:
    """Print what was measured; the text of the values file."""
    found = Calibration(values, read_history(PrometheusApi(address), values, weeks, time.time()))
    print_whole(calibration_tables(found))
    return calibrated_values(found)

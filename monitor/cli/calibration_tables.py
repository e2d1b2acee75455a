"""What a calibration measured, as tables for a terminal."""

import math
from collections.abc import Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table

from monitor.alerting.calibrated_values import soonest
from monitor.alerting.calibration_report import CHANGES, CalibratedMetric, Calibration
from monitor.alerting.detection_power import Found
from monitor.alerting.values import Drop
from monitor.durations import in_words
from monitor.visible import visible


def calibration_tables(calibration: Calibration) -> RenderableType:
    """Level, noise and how soon a drop is found; then the smallest drop of each window; then notes."""
    return Group(
        f"Measured from {calibration.span}.",
        _levels(calibration),
        "The smallest change that each window is sure of; the alerts also need their min_drop or min_rise.",
        _windows(calibration),
        *(escape(visible(note)) for note in calibration.notes()),
    )


def _levels(calibration: Calibration) -> Table:
    soon = [f"{100 * change:g}% found" for change in CHANGES]
    table = _table(
        *(
            "metric",
            calibration.given.label or "",
            "level",
            "sd",
            "inflation",
            "impressions/h",
            "least",
            "most",
        ),
        *soon,
    )
    for line in calibration.lines:
        measured = line.measured
        table.add_row(
            *_whose(line),
            f"{measured.level:.4f}",
            f"{math.sqrt(measured.variance):.3f}",
            f"{measured.inflation:.2f}",
            *(f"{number:,.0f}" for number in measured.traffic),
            *(_soon(found, line) for found in line.found),
        )
    return table


def _soon(found: Found, line: CalibratedMetric) -> str:
    short_of = found.missing if math.isfinite(found.missing) else 0
    return soonest(found, line) + (f", {math.ceil(short_of):,} impressions too few" if short_of else "")


def _windows(calibration: Calibration) -> Table:
    windows = calibration.given.detection.windows
    table = _table("metric", calibration.given.label or "", *map(in_words, windows))
    for line in calibration.lines:
        table.add_row(*_whose(line), *(_change(line, window) for window in windows))
    return table


def _change(line: CalibratedMetric, window: int) -> str:
    smallest = line.power.smallest(window)
    if smallest is None:
        return "-"
    return f"{100 * smallest:.1f}" + ("%" if isinstance(line.metric.size, Drop) else " points")


def _whose(line: CalibratedMetric) -> Iterator[str]:
    yield line.metric.name
    yield "(all)" if line.value is None else escape(visible(line.value))


def _table(*columns: str) -> Table:
    table = Table(*columns, box=box.SIMPLE_HEAD)
    for number, column in enumerate(table.columns):
        column.no_wrap = True
        column.justify = "left" if number < 2 else "right"
    return table

"""A comparison as printed: tables for people, JSON and CSV for programs."""

import csv
import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from monitor.cli.output import Format, print_whole, printed
from monitor.evaluation.comparing import tables
from monitor.evaluation.comparing.comparison import ComparisonReport, Mover, SystemComparison, SystemSummary
from monitor.evaluation.comparing.tables import TextTable
from monitor.visible import visible


def print_tables(reports: Sequence[ComparisonReport], movers: int) -> None:
    """Every number, and the queries that moved most."""
    print_whole(Group(*(_drawn(table) for table in _tables(reports, movers))))


def _tables(reports: Sequence[ComparisonReport], movers: int) -> Iterator[TextTable]:
    for report in reports:
        yield tables.means(report)
        yield tables.against_baseline(report)
        if movers:
            yield from (tables.movers(report, each, movers) for each in report.comparisons)
    if latency := tables.latency(reports[0]):
        yield latency


def _drawn(table: TextTable) -> RenderableType:
    drawn = Table(box=box.SIMPLE_HEAD)
    for number, head in enumerate(table.heads):
        left = number == 0 or number in table.words
        drawn.add_column(_text(head), justify="left" if left else "right", no_wrap=True)
    for row in table.rows:
        drawn.add_row(*map(_text, row))
    title = _text(table.title)
    title.stylize("bold")
    notes = [Text(f"  {visible(line)}", style="dim") for line in table.note.splitlines()]
    return Group(title, drawn, *notes, "") if notes else Group(title, drawn)


def _text(words: str) -> Text:
    return Text(visible(words))


def print_json(reports: Sequence[ComparisonReport], movers: int) -> None:
    """Everything as one object."""
    first = reports[0]
    whole = {
        "baseline": first.baseline,
        "test": first.test,
        "confidence": first.confidence,
        "seed": first.seed,
        "comparisons_corrected": first.corrected_over,
        "metrics": {report.measure: _json(report, movers) for report in reports},
    }
    print(json.dumps(whole, indent=2, allow_nan=False))


def _json(report: ComparisonReport, movers: int) -> dict[str, Any]:
    return {
        "queries": report.queries,
        "systems": {system.name: _system(system) for system in report.systems},
        "comparisons": {each.system: _comparison(each, movers) for each in report.comparisons},
    }


def _system(system: SystemSummary) -> dict[str, Any]:
    found = system.latency
    return {
        "mean": system.mean,
        "interval": None if system.low is None else [system.low, system.high],
        "band": system.band,
        "queries": system.queries,
        "undefined": system.undefined,
        "left_out": system.left_out,
        "missing": system.missing,
        "unjudged": system.unjudged,
        "latency_seconds": None
        if found is None
        else {"mean": found.mean, "p50": found.p50, "p95": found.p95, "queries": found.queries},
    }


def _comparison(found: SystemComparison, movers: int) -> dict[str, Any]:
    up, down = found.movers(movers)
    return {
        "difference": found.result.difference,
        "interval": [found.result.low, found.result.high],
        "statistic": found.result.statistic,
        "p": found.result.p_value,
        "p_holm": found.p_adjusted,
        "stars": found.stars,
        "verdict": found.verdict,
        "effect_size": found.result.effect_size,
        "wins": found.wins,
        "ties": found.ties,
        "losses": found.losses,
        "queries": found.result.n,
        "undefined": found.undefined,
        "latency_difference_seconds": found.latency_difference,
        "moved_up": [_mover(mover) for mover in up],
        "moved_down": [_mover(mover) for mover in down],
    }


def _mover(mover: Mover) -> dict[str, Any]:
    return {**mover._asdict(), "difference": mover.difference}


def print_csv(reports: Sequence[ComparisonReport], _: int) -> None:
    """A line for each comparison."""
    rows = [row for report in reports for row in _rows(report)]
    writer = csv.DictWriter(printed(), rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def _rows(report: ComparisonReport) -> Iterator[dict[str, Any]]:
    summaries = {system.name: system for system in report.systems}
    for found in report.comparisons:
        result, baseline, system = found.result, summaries[found.baseline], summaries[found.system]
        yield {
            "metric": report.measure,
            "baseline": found.baseline,
            "system": found.system,
            "baseline_mean": baseline.mean,
            "baseline_low": baseline.low,
            "baseline_high": baseline.high,
            "system_mean": system.mean,
            "system_low": system.low,
            "system_high": system.high,
            "difference": result.difference,
            "low": result.low,
            "high": result.high,
            "test": report.test,
            "p": result.p_value,
            "p_holm": found.p_adjusted,
            "stars": found.stars,
            "effect_size": result.effect_size,
            "wins": found.wins,
            "ties": found.ties,
            "losses": found.losses,
            "queries": result.n,
            "undefined": found.undefined,
            "latency_difference_seconds": found.latency_difference,
            "verdict": found.verdict,
        }


PRINTERS: dict[Format, Callable[[Sequence[ComparisonReport], int], None]] = {
    Format.TABLE: print_tables,
    Format.JSON: print_json,
    Format.CSV: print_csv,
}

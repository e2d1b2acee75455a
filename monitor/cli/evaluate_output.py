"""What runs scored, as printed: a table for people, JSON and CSV for programs."""

import csv
import json
from collections.abc import Callable, Iterator, Sequence

import msgspec
import numpy as np
from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from monitor.cli.output import Format, print_whole, printed
from monitor.evaluation.scoring import Evaluation
from monitor.visible import visible

CHUNK = 1000
"""Queries that are made ready to print at a time: a million of them need not be held as text."""


def print_table(evaluations: Sequence[Evaluation], per_query: bool) -> None:
    """The means with four decimals, a column for each run, below every query if asked for."""
    if per_query:
        _print_queries(evaluations)
    table = Table("metric", box=box.SIMPLE_HEAD)
    for evaluation in evaluations:
        table.add_column(Text(visible(evaluation.name)), justify="right", no_wrap=True)
    means = [evaluation.aggregate() for evaluation in evaluations]
    for text in evaluations[0].scores:
        table.add_row(Text(visible(text)), *(_number(mean[text]) for mean in means))
    table.add_row("queries", *(f"{len(evaluation.queries):,}" for evaluation in evaluations))
    print_whole(table)


def print_json(evaluations: Sequence[Evaluation], _: bool) -> None:
    """Everything as one object, a query on a line."""
    write = printed().write
    write('{"runs": {')
    for number, evaluation in enumerate(evaluations):
        aggregate = _json(evaluation.aggregate())
        write(
            f'{"," if number else ""}\n{_json(evaluation.name)}: {{"aggregate": {aggregate}, "per_query": {{'
        )
        between = "\n"
        for query, values in _rows(evaluation):
            scores = _json(dict(zip(evaluation.scores, values, strict=True)))
            write(f"{between}{_json(query)}: {scores}")
            between = ",\n"
        write(f'\n}}, "queries": {len(evaluation.queries)}}}')
    write("\n}}\n")


def print_csv(evaluations: Sequence[Evaluation], per_query: bool) -> None:
    """A row for each run, or for each of its queries; undefined is empty."""
    writer = csv.writer(printed(), lineterminator="\n")
    writer.writerow(["run", "query" if per_query else "queries", *evaluations[0].scores])
    for evaluation in evaluations:
        if per_query:
            for query, values in _rows(evaluation):
                writer.writerow([evaluation.name, query, *values])
        else:
            writer.writerow([evaluation.name, len(evaluation.queries), *evaluation.aggregate().values()])


PRINTERS: dict[Format, Callable[[Sequence[Evaluation], bool], None]] = {
    Format.TABLE: print_table,
    Format.JSON: print_json,
    Format.CSV: print_csv,
}


def _print_queries(evaluations: Sequence[Evaluation]) -> None:
    """The look of the other tables, but line by line: there may be a million queries."""
    heads = ["run", "query", *evaluations[0].scores]
    widths = [
        max(len("run"), *(_width(evaluation.name) for evaluation in evaluations)),
        max(len("query"), *(_width(query) for each in evaluations for query in each.queries)),
        *(max(_width(text), len("0.0000")) for text in evaluations[0].scores),
    ]

    def line(cells: Sequence[str]) -> str:
        spaces = [" " * (width - _width(cell)) for cell, width in zip(cells, widths, strict=True)]
        words = [visible(cell) + space for cell, space in zip(cells[:2], spaces, strict=False)]
        numbers = [space + visible(cell) for cell, space in zip(cells[2:], spaces[2:], strict=True)]
        return ("  " + "   ".join(words + numbers)).rstrip() + "\n"

    write = printed().write
    write(f"\n{line(heads)} {'─' * (sum(widths) + 3 * len(widths) - 1)} \n")
    for evaluation in evaluations:
        for query, values in _rows(evaluation):
            write(line([evaluation.name, query, *map(_number, values)]))


def _rows(evaluation: Evaluation) -> Iterator[tuple[str, list[float | None]]]:
    """Return each query with its scores; None where one is undefined."""
    for start in range(0, len(evaluation.queries), CHUNK):
        some = slice(start, start + CHUNK)
        columns = np.column_stack([values[some] for values in evaluation.scores.values()])
        for query, row in zip(evaluation.queries[some], columns.tolist(), strict=True):
            yield query, [None if value != value else value for value in row]  # noqa: PLR0124 (NaN)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _json(value: object) -> str:
    """JSON in ASCII, which every encoding of standard output has."""
    encoded = msgspec.json.encode(value)
    return encoded.decode() if encoded.isascii() else json.dumps(value, separators=(",", ":"))


def _width(words: str) -> int:
    """How many columns of a terminal words take; some characters take two."""
    return len(words) if words.isascii() else cell_len(visible(words))

"""docs/conventions.md tells the truth: its figures are what the libraries give."""

import math
import re
from importlib.metadata import version
from pathlib import Path

import pytest

from monitor.metrics import parse
from tests.oracle.libraries_conventions import TABLES, Either, Error, LeftOut

PAGE = (Path(__file__).parents[2] / "docs" / "conventions.md").read_text(encoding="utf-8")
FIGURE = re.compile(r"-?\d\.\d{3}\b")
IN_CODE = re.compile(r"`([^`]*)`")


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def table(title: str) -> dict[str, dict[str, str]]:
    """Return the section's table: the first cell of a row without marks, then column to cell."""
    lines = [line for line in section(title).splitlines() if line.startswith("|")]
    header, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0].replace("`", ""): dict(zip(header[1:], row[1:], strict=True)) for row in rows}


CELLS = [
    (title, row, column, figures)
    for title, rows in TABLES.items()
    for row, columns in rows.items()
    for column, figures in columns.items()
]


@pytest.mark.parametrize(
    ("title", "row", "column", "figures"), CELLS, ids=[f"{cell[1]} {cell[2]}" for cell in CELLS]
)
def test_a_cell_says_what_the_call_gives(title, row, column, figures):
    cell = table(title)[row][column]
    given = []
    words = set()
    for figure in figures:
        match figure:
            case Error(call):
                words.add("error")
                with pytest.raises(Exception):  # noqa: B017 - each library has its own
                    call()
            case Either(call, possible):
                words.add("either")
                assert call() in possible
            case LeftOut(call):
                words.add("left out")
                assert math.isnan(call())
            case _:
                given.append(f"{figure():.3f}")
    assert FIGURE.findall(IN_CODE.sub("", cell)) == given
    assert {word for word in ("error", "either") if word in cell} == words - {"left out"}


@pytest.mark.parametrize("title", TABLES)
def test_no_figure_of_the_page_goes_unchecked(title):
    for row, columns in table(title).items():
        for column, cell in columns.items():
            if FIGURE.search(IN_CODE.sub("", cell)) or cell in {"error", "either"}:
                assert column in TABLES[title][row], (row, column)


def test_the_versions_are_those_that_were_compared():
    for package in ("pytrec_eval-terrier", "ir_measures", "ranx", "scikit-learn"):
        assert f"{package} {version(package)}" in PAGE


def test_the_parameters_that_give_the_other_convention_can_be_parsed():
    named = [
        code
        for title in (*TABLES, "Textbook definitions that this project deviates from")
        for columns in table(title).values()
        for code in IN_CODE.findall([*columns.values()][-1])
        if re.match(r"[a-z_]+[(@]", code)
    ]
    assert len(named) > 8
    for code in named:
        parse(code.replace("@k", "@10"))

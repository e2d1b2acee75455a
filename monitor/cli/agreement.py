"""`ranking-monitor agreement`: how far assessors agree, by pair and overall."""

import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from monitor.cli.output import Format, print_whole, printed
from monitor.evaluation.files.inputs import InputError
from monitor.evaluation.files.qrels import read_qrels
from monitor.stats.assessors import Overall, Pair, Panel, alpha_in_words, kappa_in_words
from monitor.visible import visible

SHARES = ("equal", "kappa", "kappa_linear", "kappa_quadratic")
ALPHAS = ("alpha_nominal", "alpha_ordinal", "alpha_interval")
NEEDED = 'agreement needs two assessors, named by "assessor" in JSON judgments'


def agreement(
    judgments: Annotated[Path, typer.Argument(help="JSON lines or a JSON list, with who judged.")],
    format_: Annotated[Format, typer.Option("--format", help="What to print.")] = Format.TABLE,
) -> None:
    """Tell how far assessors agree: Cohen's kappa of every two, Krippendorff's alpha of all.

    The last judgment of an assessor for a query and key counts, and null withdraws it. Judgments that name no
    assessor are left out, and counted.
    """
    panel, unnamed = _panel(judgments)
    try:
        pairs, overall = list(panel.pairs()), panel.overall()
    except ValueError as error:
        raise InputError(f"{judgments}: {error}") from None
    if overall is None:
        raise InputError(
            f"{judgments}: no two of {len(panel.graded)} assessors judged the same item; agreement needs some"
        )
    PRINTERS[format_](panel, pairs, overall)
    if unnamed:
        were = "judgment names" if unnamed == 1 else "judgments name"
        print(f"{unnamed:,} {were} no assessor: left out", file=sys.stderr)


def _panel(path: Path) -> tuple[Panel, int]:
    """Read who judged what, and how many judgments do not say who."""
    unnamed = 0

    def named() -> Iterator[tuple[str, tuple[str, str], float | None]]:
        nonlocal unnamed
        for found in read_qrels(path):
            if found.assessor in (None, ""):
                unnamed += 1
            else:
                yield str(found.assessor), (found.query, found.key), found.grade

    panel = Panel.of(named())
    if len(panel.graded) < 2:
        only = "".join(f'only assessor "{name}"' for name in panel.graded) or "no assessor"
        raise InputError(f"{path}: {only} in it; {NEEDED}")
    return panel, unnamed


def _print_tables(panel: Panel, pairs: list[Pair], overall: Overall) -> None:
    heads = ("assessor", "assessor", "items", "equal", "kappa", "linear", "quadratic", "kappa in words")
    by_pair = Table(*heads, box=box.SIMPLE_HEAD)
    for pair in pairs:
        if pair.kappa is None:
            told, words = ["–"] * len(SHARES), "nothing in common"
        else:
            told = [f"{getattr(pair, name):.3f}" for name in SHARES]
            words = "one grade only" if pair.one_grade else kappa_in_words(pair.kappa)
        names = (Text(visible(name)) for name in (pair.first, pair.second))
        by_pair.add_row(*names, f"{pair.items:,}", *told, words)
    of_all = Table("overall", "alpha", "in words", box=box.SIMPLE_HEAD)
    for name in ALPHAS:
        alpha = getattr(overall, name)
        words = "one grade only" if overall.one_grade else alpha_in_words(alpha)
        of_all.add_row(name.removeprefix("alpha_"), f"{alpha:.3f}", words)
    for table, figures in ((by_pair, slice(2, 7)), (of_all, slice(1, 2))):
        for column in table.columns[figures]:
            column.justify = "right"
    told_of_all = (
        f"{len(panel.graded):,} assessors. Cohen's kappa is of the items that both judged,"
        f" Krippendorff's alpha of the {overall.items:,} that two or more judged."
    )
    print_whole(Group(by_pair, of_all, told_of_all))


def _print_json(panel: Panel, pairs: list[Pair], overall: Overall) -> None:
    told: dict[str, Any] = {
        "assessors": {name: len(graded.items) for name, graded in panel.graded.items()},
        "pairs": [
            {"assessors": [pair.first, pair.second], "items": pair.items}
            | {name: getattr(pair, name) for name in SHARES}
            for pair in pairs
        ],
        "overall": {"items": overall.items} | {name: getattr(overall, name) for name in ALPHAS},
    }
    print(json.dumps(told, indent=2, allow_nan=False))


def _print_csv(panel: Panel, pairs: list[Pair], overall: Overall) -> None:  # noqa: ARG001 - printers are alike
    """One row for each pair, and one without names for all."""
    table = csv.DictWriter(
        printed(), ("first", "second", "items", *SHARES, *ALPHAS), extrasaction="ignore", lineterminator="\n"
    )
    table.writeheader()
    table.writerows(pair._asdict() for pair in pairs)
    table.writerow(overall._asdict())


PRINTERS = {Format.TABLE: _print_tables, Format.JSON: _print_json, Format.CSV: _print_csv}

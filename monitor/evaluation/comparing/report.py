"""A comparison as one HTML page that needs nothing else: plots, tables, and what was compared."""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

from monitor import __version__
from monitor.evaluation.comparing import tables
from monitor.evaluation.comparing.comparison import ComparisonReport, SystemComparison, SystemSummary
from monitor.evaluation.comparing.drawing import MOST_POINTS
from monitor.evaluation.comparing.figures import (
    Figure,
    difference_intervals,
    mean_bars,
    query_scatter,
    recall_precision_curves,
)
from monitor.extras import need
from monitor.metrics import Floats
from monitor.web.markup import Html, tag

STYLE = (files("monitor.evaluation.comparing") / "report.css").read_text(encoding="utf-8")
SCRIPT = (files("monitor.evaluation.comparing") / "report.js").read_text(encoding="utf-8")
BANDED = ("ndcg@10", "recall@10")
"""Measures that the report tells in words, whichever were compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """What a report tells besides the comparisons; each part is left out where it is not given."""

    files: Mapping[str, str] = field(default_factory=dict)
    """The file of each run."""
    qrels: str | None = None
    curves: Mapping[str, Floats] = field(default_factory=dict)
    """The interpolated precision of each run at 11 levels of recall."""
    in_words: Mapping[str, Sequence[SystemSummary]] = field(default_factory=dict)
    """By measure, the systems whose means are told in words, whether they were compared by it or not."""
    common_queries: bool = False
    """Whether queries that a run lacks were left out; else they count as empty rankings."""
    made: datetime | None = None


def write_report(
    path: Path, reports: Sequence[ComparisonReport], background: Background | None = None, *, movers: int = 5
) -> None:
    """Write comparisons of the same systems, by one measure or several, as a page."""
    page = render_report(reports, background or Background(), movers=movers)
    path.write_text(page, encoding="utf-8", newline="\n")


def render_report(reports: Sequence[ComparisonReport], background: Background, *, movers: int) -> str:
    """The whole document."""
    page = _Page()
    names = [system.name for system in reports[0].systems]
    title = f"{tables.listed(names[1:])} against {names[0]}"
    main = tag(
        "main",
        _verdicts(reports),
        _facts(reports),
        [_measure(page, report, movers) for report in reports],
        _curves(page, background.curves),
        _in_words(background.in_words),
        _latency(reports[0]),
        _compared(reports, background),
    )
    made = background.made or datetime.now(UTC)
    when = tag("time", f"{made:%Y-%m-%d %H:%M} UTC", datetime=made.isoformat(timespec="seconds"))
    library = need("plotly.offline", "--report").get_plotlyjs()
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(library)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", Html(STYLE)),
    ]
    body = [
        tag("header", tag("h1", title), when),
        main,
        tag("footer", f"ranking-monitor {__version__}"),
        tag("script", Html(_as_data(page.figures)), type="application/json", id="figures"),
        tag("script", Html(library)),
        tag("script", Html(SCRIPT)),
    ]
    return f"<!doctype html>\n{tag('html', tag('head', head), tag('body', body), lang='en')}\n"


class _Page:
    """Numbers the figures as they are placed."""

    def __init__(self) -> None:
        self.figures: list[Figure] = []

    def figure(self, title: str, caption: str, drawn: Figure) -> Html:
        self.figures.append(drawn)
        return tag(
            "figure",
            tag("div", class_="chart", role="img", aria_label=f"{title}. {caption}"),
            tag("figcaption", tag("b", f"{title}."), " ", caption),
        )


def _verdicts(reports: Sequence[ComparisonReport]) -> Html:
    return tag("ul", [_verdict(report, each) for report in reports for each in report.comparisons],
               class_="verdicts")  # fmt: skip


def _verdict(report: ComparisonReport, found: SystemComparison) -> Html:
    tone = "none" if found.stars == "ns" else "good" if found.result.difference > 0 else "bad"
    return tag("li", f"{tables.in_short(report, found)}: ", tag("b", found.verdict), class_=tone)


def _facts(reports: Sequence[ComparisonReport]) -> Html:
    first = reports[0]
    facts = {
        "queries": f"{first.queries:,}",
        "systems": f"{len(first.systems)}",
        "baseline": first.baseline,
        "test": tables.TEST_NAMES[first.test],
        "confidence": tables.in_percent(first.confidence),
        "comparisons": f"{first.corrected_over}",
    }
    return tag("dl", [tag("div", tag("dt", name), tag("dd", fact)) for name, fact in facts.items()],
               class_="facts")  # fmt: skip


def _measure(page: _Page, report: ComparisonReport, movers: int) -> Html:
    percent = tables.in_percent(report.confidence)
    return tag(
        "section",
        tag("h2", report.measure),
        tag(
            "div",
            page.figure(
                f"Mean {report.measure}", f"Bars are means, whiskers their {percent} intervals.",
                mean_bars(report),
            ),
            page.figure(
                f"Difference to {report.baseline}",
                f"Whiskers are {percent} intervals of the mean difference over the same queries; stars go by"
                " the corrected p.",
                difference_intervals(report),
            ),
            class_="figures",
        ),
        _table(tables.means(report)),
        _table(tables.against_baseline(report)),
        [_queries(page, report, each, movers) for each in report.comparisons],
    )  # fmt: skip


def _queries(page: _Page, report: ComparisonReport, found: SystemComparison, movers: int) -> Html:
    """Every query in a plot, and those that moved most beside it."""
    moved = _table(tables.movers(report, found, movers)) if movers else None
    return tag("div", _scatter(page, report, found), moved, class_="figures queries")


def _scatter(page: _Page, report: ComparisonReport, found: SystemComparison) -> Html:
    count = len(found.queries)
    of = f"a random sample of {MOST_POINTS:,} of the {count:,}" if count > MOST_POINTS else f"all {count:,}"
    return page.figure(
        f"{report.measure} of each query",
        f"{found.system} (up) by {found.baseline} (right), {of} queries; above the line the score went up.",
        query_scatter(report, found),
    )


def _curves(page: _Page, curves: Mapping[str, Floats]) -> Html | None:
    if not curves:
        return None
    return tag(
        "section",
        tag("h2", "Recall and precision"),
        page.figure(
            "Interpolated precision by recall",
            "Mean over the compared queries, at 11 levels of recall.",
            recall_precision_curves(curves),
        ),
        _table(tables.recall_precision(curves)),
    )


def _in_words(measures: Mapping[str, Sequence[SystemSummary]]) -> Html | None:
    if not measures:
        return None
    heads = [head for measure in measures for head in (measure, "in words")]
    rows = [
        (
            systems[0].name,
            *(cell for each in systems for cell in (tables.score(each.mean), each.band or tables.NOTHING)),
        )
        for systems in zip(*measures.values(), strict=True)
    ]
    table = tables.TextTable(
        "Means, and what they are called", ("system", *heads), rows,
        words=frozenset(range(2, 2 * len(measures) + 1, 2)),
    )  # fmt: skip
    return tag("section", tag("h2", "In words"), _table(table))


def _latency(report: ComparisonReport) -> Html | None:
    table = tables.latency(report)
    return None if table is None else tag("section", tag("h2", "Latency"), _table(table))


def _compared(reports: Sequence[ComparisonReport], background: Background) -> Html:
    first = reports[0]
    rows = [
        (system.name, background.files.get(system.name, tables.NOTHING), f"{first.queries:,}",
         f"{system.missing:,}", f"{system.unjudged:,}", f"{system.left_out:,}")
        for system in first.systems
    ]  # fmt: skip
    heads = (
        "system",
        "file",
        "queries compared",
        "judged, not in the run",
        "in the run, not judged",
        "left out",
    )
    count = first.corrected_over
    facts = [
        f"Judgments: {background.qrels}." if background.qrels else "",
        "Queries that a run lacks are left out."
        if background.common_queries
        else "A judged query that a run lacks counts as an empty ranking.",
        f"Measures: {', '.join(report.measure for report in reports)}.",
        f"Test: {tables.TEST_NAMES[first.test]}, two-sided, seed {first.seed}.",
        f"Holm's correction over {count} comparison{'' if count == 1 else 's'}.",
        f"Confidence: {tables.in_percent(first.confidence)}.",
        "Intervals of means are Student's, cut at the measure's bounds.",
        f"Made by ranking-monitor {__version__}.",
    ]
    table = tables.TextTable(
        "The runs", heads, rows, words=frozenset({1}), note=" ".join(filter(None, facts))
    )
    return tag("section", tag("h2", "What was compared"), _table(table))


def _table(table: tables.TextTable) -> Html:
    head = [tag("th", name, scope="col", class_=_align(table, n)) for n, name in enumerate(table.heads)]
    body = [tag("tr", _cells(table, row)) for row in table.rows]
    whole = tag("table", tag("caption", table.title), tag("thead", tag("tr", head)), tag("tbody", body))
    return tag(
        "div",
        tag("div", whole, class_="scroll", tabindex="0", role="region", aria_label=table.title),
        tag("p", table.note, class_="note") if table.note else None,
    )


def _cells(table: tables.TextTable, row: Sequence[str]) -> Iterable[Html]:
    yield tag("th", _name(row[0]), scope="row")
    for number, cell in enumerate(row[1:], start=1):
        aligned = _align(table, number)
        yield tag("td", cell if aligned else _name(cell), class_=aligned)


def _align(table: tables.TextTable, column: int) -> str | None:
    return None if column == 0 or column in table.words else "number"


def _name(text: str) -> Html:
    """A name can be long: the rest of it is in the title."""
    return tag("span", text, class_="name", title=text)


def _as_data(figures: Any) -> str:
    """JSON that no text in it can end early: `</script>` needs a `<`."""
    return json.dumps(figures, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _policy(library: str) -> str:
    """Nothing from elsewhere, and no code but the page's own. plotly writes styles as it draws."""
    return (
        f"default-src 'none'; script-src '{_digest(library)}' '{_digest(SCRIPT)}'; style-src 'unsafe-inline';"
        " img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

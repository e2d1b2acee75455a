"""A comparison as one picture: means, differences, and every query."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from monitor.evaluation.comparing.comparison import ComparisonReport
from monitor.evaluation.comparing.drawing import colour, shortened
from monitor.evaluation.comparing.tables import TEST_NAMES, in_percent
from monitor.evaluation.files.inputs import InputError
from monitor.extras import need

FORMATS = (".png", ".svg", ".pdf")
TEXT, SOFT, LINE = "#1b1f27", "#667085", "#e3e6eb"
MARKERS = "osD^Pv*"
LINES = ("-", "-", "--", "-.", ":")
MOST_STEPS = 500
"""Points of a line: more are not seen."""
STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.size": 11,
    "text.color": TEXT,
    "text.parse_math": False,  # a name may hold a dollar sign
    "axes.edgecolor": SOFT,
    "axes.labelcolor": TEXT,
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": LINE,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": TEXT,
    "ytick.labelcolor": TEXT,
    "legend.frameon": False,
    "svg.hashsalt": "ranking-monitor",  # the same numbers, the same file
}


def check_format(path: Path) -> None:
    """Refuse a file whose suffix names no format."""
    if path.suffix.lower() not in FORMATS:
        raise InputError(
            f'cannot draw "{path}": the name must end in {", ".join(FORMATS[:-1])} or {FORMATS[-1]}'
        )


def plot_comparison(path: Path, reports: ComparisonReport | Sequence[ComparisonReport]) -> None:
    """Draw comparisons into a file, a row for each measure; the suffix is .png, .svg or .pdf."""
    check_format(path)
    rows = [reports] if isinstance(reports, ComparisonReport) else list(reports)
    matplotlib = need("matplotlib", "a plot")
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a box stands for it
        heights = [_height(report) for report in rows]
        figure = need("matplotlib.figure", "a plot").Figure(
            figsize=(13.5, sum(heights)), layout="constrained"
        )
        grid = figure.subplots(
            len(rows),
            3,
            squeeze=False,
            gridspec_kw={"height_ratios": heights, "width_ratios": (1.15, 1.15, 1)},
        )
        for (means, differences, queries), report in zip(grid, rows, strict=True):
            _draw_means(means, report)
            _draw_differences(differences, report)
            _draw_queries(queries, report)
        # Without a date the same numbers make the same file.
        metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(path.suffix.lower())
        figure.savefig(path, dpi=150, metadata=metadata, bbox_inches="tight", pad_inches=0.2)


def _height(report: ComparisonReport) -> float:
    return max(4.4, 1.6 + 0.5 * len(report.systems))


def _draw_means(axes: Any, report: ComparisonReport) -> None:
    for number, system in enumerate(report.systems):
        mean = system.mean or 0.0
        axes.barh(number, mean, height=0.62, color=colour(number))
        if system.low is not None and system.high is not None:
            axes.errorbar(mean, number, xerr=[[mean - system.low], [system.high - mean]], **_whiskers(TEXT))
        if system.mean is not None:
            inside = {"xytext": (6, 0), "textcoords": "offset points", "va": "center", "color": "white"}
            axes.annotate(f"{system.mean:.3f}", (0, number), fontweight="bold", **inside)
    axes.set_title(f"Mean {report.measure}")
    axes.set_xlabel(f"mean, {in_percent(report.confidence)} interval")
    _name_rows(axes, [system.name for system in report.systems])


def _draw_differences(axes: Any, report: ComparisonReport) -> None:
    axes.axvline(0, color=SOFT, linewidth=1.2, linestyle=":")
    for number, found in enumerate(report.comparisons):
        result = found.result
        reach = [[max(0.0, result.difference - result.low)], [max(0.0, result.high - result.difference)]]
        fill = colour(number + 1)
        axes.errorbar(result.difference, number, xerr=reach, **_whiskers(fill), marker=_marker(number + 1))
        above = {"xytext": (0, 9), "textcoords": "offset points", "ha": "center", "va": "bottom"}
        axes.annotate(f"{result.difference:+.3f} {found.stars}", (result.difference, number), **above)
    axes.margins(x=0.15)
    axes.locator_params(axis="x", nbins=5)
    axes.set_title(f"Difference to {shortened(report.baseline)}")
    corrected = ", Holm" if report.corrected_over > 1 else ""
    axes.set_xlabel(
        f"{in_percent(report.confidence)} interval; stars by {TEST_NAMES[report.test]}{corrected}"
    )
    _name_rows(axes, [each.system for each in report.comparisons])


def _draw_queries(axes: Any, report: ComparisonReport) -> None:
    """The differences of each system from the largest gain to the largest loss."""
    axes.axhline(0, color=SOFT, linewidth=1.2, linestyle=":")
    for number, found in enumerate(report.comparisons, start=1):
        share = np.linspace(0, 1, min(len(found.queries), MOST_STEPS))
        axes.plot(
            100 * share, np.quantile(found.differences, 1 - share), color=colour(number), linewidth=2.2,
            linestyle=LINES[number % len(LINES)], label=shortened(found.system),
        )  # fmt: skip
    axes.set_title("Each query, from gain to loss")
    axes.set_xlabel("share of queries in %")
    axes.set_ylabel(f"difference to {shortened(report.baseline)}")
    axes.set_xlim(0, 100)
    axes.legend(loc="upper right", fontsize=10)


def _name_rows(axes: Any, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), [shortened(name) for name in names])
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    axes.tick_params(axis="y", length=0)


def _marker(number: int) -> str:
    return MARKERS[number % len(MARKERS)]


def _whiskers(fill: str) -> dict[str, Any]:
    return {"color": fill, "elinewidth": 1.8, "capsize": 4, "capthick": 1.8, "markersize": 9, "linestyle": ""}

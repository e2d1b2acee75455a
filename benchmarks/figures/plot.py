"""The picture of the sweep: events a second against k, label sets, depth and open impressions."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from benchmarks.figures.sweep import Point

PANELS: Mapping[str, Mapping[str, str]] = {
    "k of every metric (depth 100)": {"k": ""},
    "label sets": {"label_sets": ""},
    "depth of a ranking": {"depth": ""},
    "open impressions": {"open": "more in a second", "open_at_one_rate": "held longer"},
}
"""Title -> the dimensions in it, with their names where there are several."""


def draw(points: Sequence[Point], path: Path) -> None:
    """Write the picture; the same points give the same bytes."""
    with mpl.rc_context({"svg.hashsalt": "sweep", "svg.fonttype": "none", "font.family": "sans-serif"}):
        figure = Figure(figsize=(9.0, 5.6), layout="constrained")
        top = max(1e6 / point.micros.low for point in points)
        for axes, (title, lines) in zip(figure.subplots(2, 2).flat, PANELS.items(), strict=True):
            axes.set_title(title, fontsize=10)
            axes.set_xscale("log")
            values = sorted({point.value for point in points if point.dimension in lines})
            axes.set_xticks(values, [f"{value:,}" for value in values])
            axes.minorticks_off()
            for dimension, words in lines.items():
                _line(axes, [point for point in points if point.dimension == dimension], words)
            axes.set_ylim(0, 1.05 * top)
            axes.yaxis.set_major_formatter("{x:,.0f}")
            axes.grid(alpha=0.3)
            if any(lines.values()):
                axes.legend(fontsize=8, loc="lower right")
        figure.supylabel("events a second on one core", fontsize=10)
        figure.savefig(path, metadata={"Date": None})


def _line(axes: Axes, points: Sequence[Point], words: str) -> None:
    """Medians, with the range of the rounds around them."""
    at = [point.value for point in points]
    median = [point.events_per_second for point in points]
    below = [m - 1e6 / point.micros.high for m, point in zip(median, points, strict=True)]
    above = [1e6 / point.micros.low - m for m, point in zip(median, points, strict=True)]
    axes.errorbar(at, median, [below, above], marker="o", markersize=4, capsize=3, label=words)

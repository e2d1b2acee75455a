"""The report's interactive plots, as plotly's JSON. Axes and text get their colours from the page's style."""

import html
from collections.abc import Mapping
from typing import Any, TypeAlias

from monitor.evaluation.comparing.comparison import ComparisonReport, SystemComparison
from monitor.evaluation.comparing.drawing import BETTER, TIED, WORSE, Points, colour, points, shortened
from monitor.metrics import Floats
from monitor.metrics.binary import RECALL_LEVELS

Figure: TypeAlias = dict[str, Any]

SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star")
DASHES = ("dash", "solid", "solid", "dashdot", "dot", "longdash", "solid")
WHISKERS = {"color": "#667085", "thickness": 1.8, "width": 5}
LONGEST_HOVER = 80


def mean_bars(report: ComparisonReport) -> Figure:
    """A bar for each system, with the interval of its mean."""
    systems = report.systems
    values = [system.mean or 0.0 for system in systems]
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": values,
        "y": list(range(len(systems))),
        "marker": {"color": [colour(number) for number in range(len(systems))]},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [_reach(value, system.high) for value, system in zip(values, systems, strict=True)],
            "arrayminus": [_reach(system.low, value) for value, system in zip(values, systems, strict=True)],
            **WHISKERS,
        },
        "text": ["" if system.mean is None else f"{system.mean:.3f}" for system in systems],
        "textposition": "inside",
        "insidetextanchor": "start",
        "textfont": {"color": "#fff", "size": 14},
        "customdata": [
            [text(system.name), _interval(system.low, system.high), f"{system.queries:,}"]
            for system in systems
        ],
        "hovertemplate": "<b>%{customdata[0]}</b><br>mean %{x:.4f} %{customdata[1]}"
        "<br>%{customdata[2]} queries<extra></extra>",
    }
    layout = _layout(_names_axis([system.name for system in systems]), f"mean {text(report.measure)}")
    layout["xaxis"]["rangemode"] = "tozero"
    layout["bargap"] = 0.35
    layout["height"] = _height(len(systems))
    return {"data": [bars], "layout": layout}


def difference_intervals(report: ComparisonReport) -> Figure:
    """For each system the difference to the baseline, with its interval: clear of 0, it is no chance."""
    found = report.comparisons
    marks = {
        "type": "scatter",
        "mode": "markers+text",
        "x": [each.result.difference for each in found],
        "y": list(range(len(found))),
        "marker": {"size": 12, "color": [colour(number) for number in range(1, len(found) + 1)]},
        "error_x": {
            "type": "data",
            "symmetric": False,
            "array": [_reach(each.result.difference, each.result.high) for each in found],
            "arrayminus": [_reach(each.result.low, each.result.difference) for each in found],
            **WHISKERS,
        },
        "text": [f"{each.result.difference:+.3f} {each.stars}" for each in found],
        "textposition": "top center",
        "cliponaxis": False,
        "customdata": [
            [text(each.system), _interval(each.result.low, each.result.high, "+.4f"), each.verdict]
            for each in found
        ],
        "hovertemplate": "<b>%{customdata[0]}</b><br>%{x:+.4f} %{customdata[1]}"
        "<br>%{customdata[2]}<extra></extra>",
    }
    layout = _layout(
        _names_axis([each.system for each in found]),
        f"difference to {text(shortened(report.baseline))}, {text(report.measure)}",
    )
    layout["yaxis"]["range"] = [len(found) - 0.4, -0.7]
    layout["shapes"] = [_line(x0=0, x1=0, y0=0, y1=1, yref="paper")]
    layout["height"] = _height(len(report.systems))
    return {"data": [marks], "layout": layout}


def query_scatter(report: ComparisonReport, comparison: SystemComparison) -> Figure:
    """A point for each query, the baseline's score to the right and the system's up."""
    shown = points(comparison, report.seed)
    low = min(0.0, *shown.baseline.tolist(), *shown.system.tolist())
    high = max(*shown.baseline.tolist(), *shown.system.tolist())
    margin = 0.04 * ((high - low) or 1.0)
    ends = [low - margin, high + margin]
    layout = _layout({"range": ends}, text(shortened(comparison.baseline)))
    layout["xaxis"] |= {"range": ends, "constrain": "domain"}
    layout["yaxis"] |= {
        "title": _title(text(shortened(comparison.system))),
        "scaleanchor": "x",
        "constrain": "domain",
    }
    layout["shapes"] = [_line(x0=ends[0], x1=ends[1], y0=ends[0], y1=ends[1])]
    layout["legend"] = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
    layout["showlegend"] = True
    layout["height"] = 460
    traces = [
        _queries(shown, "better", comparison.wins, shown.differences > 0, BETTER, "triangle-up"),
        _queries(shown, "same", comparison.ties, shown.differences == 0, TIED, "circle"),
        _queries(shown, "worse", comparison.losses, shown.differences < 0, WORSE, "triangle-down"),
    ]
    return {"data": traces, "layout": layout}


def _queries(shown: Points, name: str, count: int, where: Any, fill: str, symbol: str) -> dict[str, Any]:
    rows = where.nonzero()[0].tolist()
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"{name} ({count:,})",
        "x": [round(float(shown.baseline[row]), 6) for row in rows],
        "y": [round(float(shown.system[row]), 6) for row in rows],
        "text": [text(shortened(shown.queries[row], LONGEST_HOVER)) for row in rows],
        "customdata": [round(float(shown.differences[row]), 6) for row in rows],
        "marker": {"color": fill, "symbol": symbol, "size": 8, "opacity": 0.65},
        "hovertemplate": "<b>%{text}</b><br>%{x:.4f} → %{y:.4f} (%{customdata:+.4f})<extra></extra>",
    }


def recall_precision_curves(curves: Mapping[str, Floats]) -> Figure:
    """A line for each system through its precision at the 11 levels of recall."""
    lines = [
        {
            "type": "scatter",
            "mode": "lines+markers",
            "name": text(shortened(name)),
            "x": list(RECALL_LEVELS),
            "y": [round(float(value), 6) for value in curve],
            "line": {"color": colour(number), "width": 2.5, "dash": DASHES[number % len(DASHES)]},
            "marker": {"size": 8, "symbol": SYMBOLS[number % len(SYMBOLS)]},
            "hovertemplate": "recall %{x:.1f}: precision %{y:.4f}",
        }
        for number, (name, curve) in enumerate(curves.items())
    ]
    layout = _layout({"range": [0, 1.02], "title": _title("interpolated precision")}, "recall")
    layout["xaxis"] |= {"range": [-0.02, 1.02], "dtick": 0.1}
    layout["legend"] = {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0}
    layout["showlegend"] = True
    layout["height"] = 440
    return {"data": lines, "layout": layout}


def text(words: str) -> str:
    """Words that are to be shown as they are: plotly reads tags, entities and formulas in every text.

    >>> text("<b>&$x$")
    '&lt;b&gt;&amp;&#36;x&#36;'
    """
    return html.escape(words, quote=False).replace("$", "&#36;")


def _layout(yaxis: dict[str, Any], x_title: str) -> dict[str, Any]:
    return {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": "system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif", "size": 13},
        "margin": {"l": 16, "r": 24, "t": 24, "b": 48},
        "showlegend": False,
        "hovermode": "closest",
        "xaxis": {"title": _title(x_title), "automargin": True, "zeroline": False},
        "yaxis": {"automargin": True, "zeroline": False, **yaxis},
    }


def _title(words: str) -> dict[str, Any]:
    return {"text": words, "font": {"size": 13}, "standoff": 10}


def _names_axis(names: list[str]) -> dict[str, Any]:
    """An axis of names, the first at the top. Names are labels, not values: two may look alike when cut."""
    return {
        "tickvals": list(range(len(names))),
        "ticktext": [text(shortened(name)) for name in names],
        "range": [len(names) - 0.4, -0.6],
        "showgrid": False,
        "ticklabelstandoff": 8,
    }


def _line(**ends: Any) -> dict[str, Any]:
    return {"type": "line", "line": {"width": 1.2, "dash": "dot"}, "layer": "below", **ends}


def _height(bars: int) -> int:
    return 96 + 46 * bars


def _reach(start: float | None, end: float | None) -> float:
    return 0.0 if start is None or end is None else max(0.0, end - start)


def _interval(low: float | None, high: float | None, form: str = ".4f") -> str:
    return "" if low is None or high is None else f"[{low:{form}}, {high:{form}}]"

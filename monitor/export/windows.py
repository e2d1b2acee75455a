"""Closed windows as data: plain dicts for the API and JSON lines, OpenMetrics for a backfill."""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from monitor.durations import in_words
from monitor.export.beginnings import Beginnings
from monitor.export.gauges import window_gauges
from monitor.export.series import Series, metric_name, series_of
from monitor.export.text import END_OF_OPENMETRICS, Format, write
from monitor.stream.windows import Window

LabelValues = Sequence[tuple[str, ...]]


def as_dict(
    window: Window,
    label_names: tuple[str, ...],
    label_sets: LabelValues,
    keep: Callable[[Series], bool] = lambda _: True,
) -> dict[str, Any]:
    """A window with those of its series that are wanted; everything in it can be written as JSON."""
    return {
        "window": in_words(window.size),
        "start": window.start,
        "end": window.end,
        "start_time": rfc3339(window.start),
        "end_time": rfc3339(window.end),
        "delay": in_words(window.stage.delay),
        "maturity": window.stage.maturity,
        "partial": window.partial,
        "series": [
            _series(series, label_names, label_sets)
            for series in series_of(window, len(label_sets))
            if keep(series)
        ],
    }


def to_json_lines(
    windows: Iterable[Window], label_names: tuple[str, ...], label_sets: LabelValues
) -> Iterator[str]:
    """One line for each window, oldest first."""
    for window in sorted(windows, key=lambda w: (w.end, w.size, w.stage.delay)):
        yield json.dumps(as_dict(window, label_names, label_sets), allow_nan=False) + "\n"


def to_openmetrics(windows: Iterable[Window], label_names: tuple[str, ...], label_sets: LabelValues) -> str:
    """The window gauges, each with the time at which its window ends; partial windows are left out.

    `promtool tsdb create-blocks-from openmetrics` reads it.
    """
    complete = sorted((w for w in windows if not w.partial), key=lambda w: w.end)
    gauges = window_gauges(complete, label_sets, Beginnings(label_names), timestamps=True)
    return write(gauges, Format(openmetrics=True)) + END_OF_OPENMETRICS


def rfc3339(seconds: float) -> str:
    """A time as text, in UTC.

    >>> rfc3339(1700000000.5), rfc3339(1700000000.0)
    ('2023-11-14T22:13:20.500Z', '2023-11-14T22:13:20Z')
    """
    precision = "milliseconds" if seconds % 1 else "seconds"
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec=precision).replace("+00:00", "Z")


def _series(series: Series, label_names: tuple[str, ...], label_sets: LabelValues) -> dict[str, Any]:
    own = dict(series.column.labels)
    return {
        "metric": metric_name(series.column),
        "family": series.column.family,
        "k": own.get("k"),
        "maturity": own.get("maturity"),
        "labels": dict(zip(label_names, label_sets[series.label_set], strict=True)),
        "samples": series.samples,
        "mean": _finite(series.mean),
        "stddev": series.stddev,
        "buckets": dict(zip(series.bounds, series.cumulated, strict=True)),
    }


def _finite(value: float) -> float | None:
    """JSON has no infinity; sums of huge latencies can reach it."""
    return value if math.isfinite(value) else None

"""The newest windows on a terminal: numbers that move, and a line of blocks for those before."""

from collections.abc import Sequence
from datetime import UTC, datetime

from rich import box
from rich.table import Table

from monitor.stream.labels import LabelSets
from monitor.stream.windows import Window

BLOCKS = "▁▂▃▄▅▆▇█"
HISTORY = 30


def sparkline(values: Sequence[float]) -> str:
    """Values between 0 and 1 as blocks.

    >>> sparkline([0.0, 0.5, 1.0])
    '▁▅█'
    """
    return "".join(BLOCKS[min(int(value * len(BLOCKS)), len(BLOCKS) - 1)] for value in values)


def means(windows: Sequence[Window], measure: str, label_set: int) -> list[tuple[Window, float, int]]:
    """The means of one measure in the windows that have any sample of it, oldest first."""
    found: list[tuple[Window, float, int]] = []
    for window in windows:
        for i, column in enumerate(window.stage.columns):
            if column.measure.name == measure and label_set < len(window.cells.sums):
                count = int(window.cells.buckets[label_set, i].sum())
                if count:
                    found.append((window, float(window.cells.sums[label_set, i]) / count, count))
    return found


def live_table(
    windows: Sequence[Window],
    labels: LabelSets,
    measures: Sequence[str],
    size: float,
    delays: Sequence[float],
) -> Table:
    """The newest window of each measure and label set, with the ones before it as a line."""
    table = Table(
        "metric", *labels.names, "newest", "samples", f"last {HISTORY} windows", box=box.SIMPLE_HEAD
    )
    for heading in ("newest", "samples"):
        next(column for column in table.columns if column.header == heading).justify = "right"
    for measure, delay in zip(measures, delays, strict=True):
        of_measure = [w for w in windows if w.size == size and w.stage.delay == delay]
        for number, values in enumerate(labels.values):
            found = means(of_measure, measure, number)[-HISTORY:]
            if found:
                _, newest, samples = found[-1]
                line = sparkline([mean for _, mean, _ in found])
                table.add_row(measure, *values, f"{newest:.3f}", str(samples), line)
    return table


def event_time(windows: Sequence[Window]) -> str:
    """The end of the newest window, as people write it."""
    newest = max((window.end for window in windows), default=None)
    return "-" if newest is None else f"{datetime.fromtimestamp(newest, UTC):%Y-%m-%d %H:%M:%S} UTC"

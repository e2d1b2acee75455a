"""The numbers as tables for a terminal."""

from collections.abc import Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table

from monitor.stream.snapshot import Snapshot


def summary(snapshot: Snapshot) -> RenderableType:
    """How every record ended, and the mean of every metric for every label set."""
    return Group(_books(snapshot), _means(snapshot))


def _books(snapshot: Snapshot) -> Table:
    table = Table("records", "", box=box.SIMPLE_HEAD)
    table.columns[1].justify = "right"
    table.add_row("read", f"{sum(snapshot.records.values()):,}")
    for (kind, fate), count in snapshot.fates.items():
        if count:
            table.add_row(f"{kind} {fate}", f"{count:,}")
    for reason, count in snapshot.rejected.items():
        if count:
            table.add_row(f"rejected: {reason}", f"{count:,}")
    if snapshot.open_impressions or snapshot.pending_interactions:
        table.add_row("impressions held", f"{snapshot.open_impressions:,}")
        table.add_row("interactions held", f"{snapshot.pending_interactions:,}")
    return table


def _means(snapshot: Snapshot) -> Table:
    table = Table("metric", "maturity", box=box.SIMPLE_HEAD)
    for values in snapshot.label_sets:
        table.add_column(", ".join(values) or "mean", justify="right")
        table.add_column("samples", justify="right", style="dim")
    for name, maturity, cells in _rows(snapshot):
        table.add_row(name, maturity, *cells)
    return table


def _rows(snapshot: Snapshot) -> Iterator[tuple[str, str, list[str]]]:
    """One row for each series; columns with the same family and labels are one."""
    columns: dict[tuple[str, tuple[tuple[str, str], ...]], list[int]] = {}
    for i, column in enumerate(snapshot.columns):
        columns.setdefault((column.family, column.labels), []).append(i)
    sums, counts = snapshot.cells.sums, snapshot.cells.counts
    for (family, labels), members in columns.items():
        cells: list[str] = []
        for row in range(len(snapshot.label_sets)):
            count, total = int(counts[row, members].sum()), float(sums[row, members].sum())
            cells += [f"{total / count:.4f}" if count else "-", f"{count:,}"]
        if any(cell != "-" for cell in cells[::2]):
            name = family.removeprefix("vector_").removesuffix("_avg")
            told = dict(labels)
            yield name + (f"@{told['k']}" if "k" in told else ""), told.get("maturity", ""), cells

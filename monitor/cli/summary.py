"""The numbers as tables for a terminal."""

from collections.abc import Iterator

from rich import box
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table

from monitor.stream.snapshot import Snapshot

MOST_LABEL_SETS = 10


def summary(snapshot: Snapshot) -> RenderableType:
    """How every record ended, and the mean of every metric for the busiest label sets."""
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


def _means(snapshot: Snapshot) -> RenderableType:
    """One row for each metric, maturity and label set, of the label sets with the most impressions."""
    sums, counts = snapshot.cells.sums, snapshot.cells.counts
    totals = counts.sum(axis=1)
    busiest = sorted(range(len(totals)), key=lambda row: (-totals[row], row))
    shown, left_out = busiest[:MOST_LABEL_SETS], busiest[MOST_LABEL_SETS:]
    table = Table("metric", "maturity", *snapshot.label_names, "mean", "samples", box=box.SIMPLE_HEAD)
    for column in table.columns:
        column.no_wrap = True
    for column in table.columns[-2:]:
        column.justify = "right"
    for name, maturity, members in _series(snapshot):
        for row in shown:
            count = int(counts[row, members].sum())
            if count:
                mean = float(sums[row, members].sum()) / count
                labels = map(escape, snapshot.label_sets[row])
                table.add_row(name, maturity, *labels, f"{mean:.4f}", f"{count:,}")
    if not left_out:
        return table
    return Group(
        table,
        f"The {len(shown)} label sets with the most samples of {len(busiest)}; {len(left_out)} are left out:"
        " --metrics-out has all.",
    )


def _series(snapshot: Snapshot) -> Iterator[tuple[str, str, list[int]]]:
    """Name, maturity and columns of each series; columns with the same family and labels are one."""
    columns: dict[tuple[str, tuple[tuple[str, str], ...]], list[int]] = {}
    for i, column in enumerate(snapshot.columns):
        columns.setdefault((column.family, column.labels), []).append(i)
    for (family, labels), members in columns.items():
        name, told = family.removeprefix("vector_").removesuffix("_avg"), dict(labels)
        yield name + (f"@{told['k']}" if "k" in told else ""), told.get("maturity", ""), members


def print_whole(shown: RenderableType) -> None:
    """Print without cutting or wrapping: where the terminal is too narrow, it wraps lines itself."""
    console = Console()
    needed = Measurement.get(console, console.options.update(width=100_000), shown).maximum
    console.width = max(console.width, needed)
    console.print(shown)

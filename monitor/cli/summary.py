"""The numbers as tables for a terminal."""

from collections.abc import Iterator

from rich import box
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table

from monitor.stream.snapshot import Snapshot

MOST_LABEL_SETS = 10
MOST_RANKS = 10


def summary(snapshot: Snapshot) -> RenderableType:
    """How every record ended, and for the busiest label sets the mean of every metric and clicks by rank."""
    totals = snapshot.cells.counts.sum(axis=1)
    busiest = sorted(range(len(totals)), key=lambda row: (-totals[row], row))
    shown, left_out = busiest[:MOST_LABEL_SETS], busiest[MOST_LABEL_SETS:]
    parts = [_books(snapshot), _means(snapshot, shown)]
    if snapshot.positions_shown.any():
        parts.append(_clicks_by_rank(snapshot, shown))
    if not left_out:
        return Group(*parts)
    return Group(
        *parts,
        f"The {len(shown)} label sets with the most samples of {len(busiest)}; {len(left_out)} are left out:"
        " --metrics-out has all.",
    )


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


def _means(snapshot: Snapshot, shown: list[int]) -> Table:
    """One row for each metric, maturity and label set."""
    sums, counts = snapshot.cells.sums, snapshot.cells.counts
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
    return table


def _clicks_by_rank(snapshot: Snapshot, shown: list[int]) -> Table:
    """What `position_ctr` would say of the first ranks: clicks there over impressions that reach there."""
    ranks = min(MOST_RANKS, int(snapshot.positions_shown.any(axis=0).sum()))
    table = Table("", *snapshot.label_names, *(f"@{rank + 1}" for rank in range(ranks)), box=box.SIMPLE_HEAD)
    for column in table.columns:
        column.no_wrap = True
    for column in table.columns[-ranks:]:
        column.justify = "right"
    for row in shown:
        reached, clicked = snapshot.positions_shown[row, :ranks], snapshot.positions_clicked[row, :ranks]
        rates = [f"{c / r:.4f}" if r else "" for c, r in zip(clicked.tolist(), reached.tolist(), strict=True)]
        table.add_row("position_ctr", *map(escape, snapshot.label_sets[row]), *rates)
    return table


def _series(snapshot: Snapshot) -> Iterator[tuple[str, str, list[int]]]:
    """Name, maturity and columns of each series; columns with the same family and labels are one."""
    columns: dict[tuple[str, tuple[tuple[str, str], ...]], list[int]] = {}
    for i, column in enumerate(snapshot.columns):
        columns.setdefault((column.family, column.labels), []).append(i)
    for (family, labels), members in columns.items():
        name, told = family.removeprefix("vector_").removesuffix("_avg"), dict(labels)
        yield name + (f"@{told['k']}" if "k" in told else ""), told.get("maturity", ""), members

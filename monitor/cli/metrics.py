"""`ranking-monitor metrics`: what can be computed."""

from typing import Annotated

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from monitor.metrics import METRICS, named


def metrics(
    name: Annotated[str | None, typer.Argument(help="Explain this one.")] = None,
) -> None:
    """List the metrics, or explain one of them."""
    if name is not None:
        print(named(name).doc)
    else:
        table = Table("metric", "parameters", "needs", "what it is", box=box.SIMPLE_HEAD)
        for metric in METRICS.values():
            shown = metric.name + ("@k" if metric.takes_k else "")
            table.add_row(shown, ", ".join(metric.params), metric.need.value, metric.summary)
        Console().print(table)

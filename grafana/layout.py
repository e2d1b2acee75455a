"""A dashboard from its rows: panels get their places and ids."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models import dashboard as models

TAG = "ranking-monitor"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of panels, once or for each value of a variable."""

    title: str
    panels: Sequence[Builder[models.Panel]]
    repeat: str = ""


def start(uid: str, title: str, description: str, *, since: str) -> dashboard.Dashboard:
    """An empty dashboard that knows the others."""
    others = dashboard.DashboardLink("Ranking monitor").type(models.DashboardLinkType.DASHBOARDS)
    return (
        dashboard.Dashboard(title)
        .uid(uid)
        .description(description)
        .tags([TAG])
        .time(since, "now")
        .refresh("1m")
        .timezone("browser")
        .tooltip(models.DashboardCursorSync.CROSSHAIR)
        .link(others.tags([TAG]).as_dropdown(False).include_vars(True).keep_time(True))
    )


def finish(board: dashboard.Dashboard, rows: Iterable[Row]) -> models.Dashboard:
    """Add the rows and number everything from 1 on."""
    for row in rows:
        heading = dashboard.Row(row.title)
        board.with_row(heading.repeat(row.repeat) if row.repeat else heading)
        for panel in row.panels:
            board.with_panel(panel)
    built = board.build()
    for number, placed in enumerate(built.panels or (), start=1):
        placed.id_val = number
    return built

"""Pipeline: is the monitor itself well, so that its numbers can be believed."""

from grafana_foundation_sdk.models import dashboard as models

from grafana.alerts import alert_marks, alert_timeline, restart_marks
from grafana.layout import Row, finish, start
from grafana.rows.clocks import clocks
from grafana.rows.intake import intake, losses
from grafana.rows.process import process
from grafana.rows.timeliness import health, timeliness
from grafana.runbooks import URL, Runbook
from grafana.variables import process_variables

UID = "ranking-pipeline"


def pipeline(runbooks: str = URL) -> models.Dashboard:
    """Rows in the order of the questions on call: is it up, on time, losing anything, and at what cost."""
    board = start(
        UID,
        "Ranking monitor: pipeline",
        "Whether the monitor itself is well: up, on time, losing nothing, and at what cost.",
        since="now-1h",
    )
    board.variables(process_variables(runbooks))
    board.annotations([alert_marks("RankingMonitor.+"), restart_marks()])
    timeline = alert_timeline("RankingMonitor.+", "instance", runbook=Runbook.DOWN, width=24, height=6)
    rows = (health(), timeliness(), clocks(), intake(), losses(), process(), Row("Alerts", [timeline]))
    return finish(board, rows)

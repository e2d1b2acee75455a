"""Ranking quality: did it move, by how much, for which traffic, and why."""

from grafana_foundation_sdk.models import dashboard as models

from grafana.alerts import alert_marks, restart_marks
from grafana.layout import finish, start
from grafana.rows.behaviour import behaviour
from grafana.rows.changes import changes
from grafana.rows.course import against_earlier, over_time
from grafana.rows.distribution import distribution
from grafana.rows.now import now
from grafana.rows.variants import differences, each_variant
from grafana.runbooks import URL
from grafana.variables import process_variables, quality_variables

UID = "ranking-quality"


def quality(runbooks: str = URL) -> models.Dashboard:
    """Rows from the first look to the last."""
    board = start(
        UID,
        "Ranking quality",
        "Whether ranking quality moved: by how much, how surely, for which traffic, and whether only the "
        "judgments did.",
        since="now-6h",
    )
    board.variables([*process_variables(runbooks), *quality_variables()])
    board.annotations([alert_marks("(Vector|RankingMonitor).+"), restart_marks()])
    rows = (
        *(now(), changes(), over_time(), against_earlier()),
        *(differences(), behaviour(), distribution(), each_variant()),
    )
    return finish(board, rows)

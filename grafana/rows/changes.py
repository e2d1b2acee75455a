"""Who moved: every watched metric beside what it usually is, by the series that the alert rules record."""

from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from grafana.layout import Row
from grafana.panels import About, Query, Unit, grid
from grafana.runbooks import Runbook
from monitor.alerting.detector import PREFIX

COLUMNS = {
    "now": "level",
    "usual or baseline": "reference",
    "worse by": "difference",
    "standard errors": "max_zscore",
    "needed": "min_zscore",
}


def changes() -> Row:
    """Against its own past and against the baseline, for the job and each value of the label."""
    return Row("Who moved", [_table(), _missing()])


def _series(name: str) -> str:
    return f'{PREFIX}{name}{{job=~"$job"}}'


def _table() -> Builder[Panel]:
    return grid(
        About(
            title="Against what is usual and against the baseline",
            says="Each watched metric now, what it should be, by how much it is worse (NDCG, MRR and CTR as "
            "a share, abandonment and empty results in points), in how many standard errors, and how many an "
            "alert needs, in the window that is surest. The alert rules record this; without them the table "
            "is empty.",
            good="fewer standard errors than are needed in every line.",
            unit=Unit.SCORE,
            runbook=Runbook.NDCG,
        ),
        [Query(_series(series), name) for name, series in COLUMNS.items()],
        width=16,
        height=10,
    )


def _missing() -> Builder[Panel]:
    return grid(
        About(
            title="Impressions that are missing for a verdict",
            says="How many more impressions the longest window needs before a critical change could be told "
            "from chance. The alert rules record this.",
            good="no line: every label set has enough traffic.",
            unit=Unit.NUMBER,
            runbook=Runbook.TRAFFIC,
        ),
        [Query(f"{_series('missing_impressions')} > 0", "impressions missing")],
        counts=["impressions missing"],
        width=8,
        height=10,
    )

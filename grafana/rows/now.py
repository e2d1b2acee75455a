"""Now: the headlines, how sure they are, and which alerts fire."""

from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from grafana.alerts import alert_timeline
from grafana.headlines import HEADLINES
from grafana.layout import Row
from grafana.panels import About, Query, Unit, grid, number
from grafana.queries import named
from grafana.runbooks import Runbook


def now() -> Row:
    """The first thing to look at."""
    headlines = [
        number(
            About(
                title=headline.title,
                says=f"{headline.says} The mean over the last $window, by k and maturity where it has them.",
                good=headline.good,
                unit=headline.unit,
                runbook=headline.runbook,
            ),
            Query(headline.average.mean, headline.legend),
            thresholds=headline.thresholds,
            width=6,
        )
        for headline in HEADLINES
    ]
    return Row("Now", [*headlines, _sureness(), _alerts()])


def _sureness() -> Builder[Panel]:
    columns = {"mean": "mean", "95% from": "low", "95% to": "high", "impressions": "samples"}
    return grid(
        About(
            title="How sure: 95% interval and impressions of the last $window",
            says="Each mean with the interval that would hold the true mean in 95 of 100 cases (from sum, "
            "squares and count, taking impressions as independent) and the number of impressions "
            "behind it.",
            good="intervals much narrower than the change you care about. If two intervals overlap, choose "
            "a longer `Mean over` before you believe in a difference.",
            unit=Unit.SCORE,
            runbook=Runbook.TRAFFIC,
        ),
        [
            Query(" or ".join(named(getattr(h.average, part), h.title) for h in HEADLINES), name)
            for name, part in columns.items()
        ],
        counts=["impressions"],
        width=14,
        height=9,
    )


def _alerts() -> Builder[Panel]:
    return alert_timeline("(Vector|RankingMonitor).+", "$label", runbook=Runbook.NDCG, width=10, height=9)

"""Distribution: a mean can stand still while more searches fail."""

from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from grafana.headlines import NDCG
from grafana.layout import Row
from grafana.panels import About, Query, Unit, density, lines
from grafana.queries import select
from grafana.runbooks import Runbook


def distribution() -> Row:
    """Repeated for each k, and the heatmap for each maturity: neither may be summed over."""
    return Row("Distribution of NDCG@$k", [_heatmap(), _low_shares()], repeat="k")


def _heatmap() -> Builder[Panel]:
    buckets = select(NDCG.family, "_bucket")
    return (
        density(
            About(
                title="NDCG@$k after $maturity",
                says="How many impressions had which NDCG, from the buckets of the histogram.",
                unit=Unit.SCORE,
                good="a band that stays where it is. A second band further down is a part of the traffic "
                "that fails: find out which below, by variant.",
                runbook=Runbook.NDCG_BUDGET,
            ),
            Query(f"sum by (le) (increase({buckets}[$__rate_interval]))", "{{le}}"),
            width=24,
        )
        .repeat("maturity")
        .repeat_direction("h")
        .max_per_row(2)
    )


def _low_shares() -> Builder[Panel]:
    return lines(
        About(
            title="Impressions with a low NDCG@$k",
            says="Share of impressions at or below 0.5 (a bucket has its upper bound in it), and exactly 0: "
            "nothing relevant in the top k, or the query has no relevant document at all.",
            good="few and level: an objective of 90% allows 10% at or below 0.5.",
            unit=Unit.SHARE,
            runbook=Runbook.NDCG_BUDGET,
        ),
        Query(NDCG.average.share_up_to("0.5"), f"at or below 0.5, {NDCG.legend}"),
        Query(NDCG.average.share_up_to("0.0"), f"exactly 0, {NDCG.legend}"),
        width=24,
    )

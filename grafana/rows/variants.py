"""Variants: each against a chosen one, and each by itself."""

from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from grafana.headlines import ABANDONMENT, CTR, HEADLINES, NDCG, Headline, legend
from grafana.layout import Row
from grafana.panels import About, Query, Unit, lines
from grafana.queries import BASELINE, OTHERS, Average, Difference
from grafana.rows.behaviour import position_ctr
from grafana.rows.course import with_interval
from grafana.runbooks import Runbook


def differences() -> Row:
    """Who is better than the baseline, at the same time and so in the same traffic."""
    return Row("Difference to $baseline", [_difference(headline) for headline in HEADLINES])


def _difference(headline: Headline) -> Builder[Panel]:
    family = headline.family
    pair = Difference(Average(family, by=("$label",), variants=OTHERS), Average(family, variants=BASELINE))
    name = " ".join(("{{$label}}", legend(family))).removesuffix(" mean")
    return lines(
        About(
            title=f"{headline.title}: difference to $baseline",
            says=f"{headline.says} The mean of each other value of the label minus that of $baseline, over "
            "$window; dashed, the 95% interval of the difference.",
            good="an interval that holds 0, or that lies on the better side of it. One that stays on the "
            "worse side is a regression of that variant.",
            unit=headline.unit,
            runbook=headline.runbook,
        ),
        Query(pair.value, name),
        Query(pair.low, f"{name} from", dashed=True),
        Query(pair.high, f"{name} to", dashed=True),
        width=12,
    ).axis_centered_zero(True)


def each_variant() -> Row:
    """A row for each value of the label."""
    panels = [
        with_interval(NDCG, width=8),
        with_interval(CTR, width=8),
        with_interval(ABANDONMENT, width=8),
        _coverage(),
        position_ctr(width=12),
    ]
    return Row("$label: $variant", panels, repeat="variant")


def _coverage() -> Builder[Panel]:
    judged = "vector_judged_avg"
    return lines(
        About(
            title="Judged documents in the top k",
            says="Share of the first k ranks that anyone has judged, in this part of the traffic. New "
            "documents are rarely judged, so a variant that shows more of them looks worse than it is.",
            good="the same for every variant; otherwise compare their NDCG with care.",
            unit=Unit.SHARE,
            runbook=Runbook.COVERAGE,
        ),
        Query(Average(judged).mean, legend(judged)),
        width=12,
    )

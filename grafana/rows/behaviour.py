"""Behaviour: what users did, what they were shown, and how quickly."""

from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from grafana.layout import Row
from grafana.panels import About, Query, Unit, bars, lines
from grafana.queries import Average, quantile, ratio, select
from grafana.runbooks import Runbook


def behaviour() -> Row:
    """Needs no judgments, so it is there first."""
    panels = [
        position_ctr(width=12),
        _traffic(),
        _empty(),
        _latency(),
        _dwell(),
        _depth(),
        _outcomes(),
    ]
    return Row("What users did and were shown", panels)


def position_ctr(*, width: int) -> Builder[Panel]:
    clicks, shown = (
        f"sum by (position) (rate({select(name)}[$window]))"
        for name in ("vector_position_clicks_total", "vector_position_shown_total")
    )
    return bars(
        About(
            title="CTR by position",
            says="Of the impressions that had this position, the share in which it was clicked, over "
            "$window.",
            good="falling from left to right. Flat, or highest further down, means that the order is wrong "
            "or that clicks arrive with wrong positions.",
            unit=Unit.SHARE,
            runbook=Runbook.CTR,
        ),
        Query(ratio(clicks, shown), "CTR"),
        label="position",
        width=width,
    )


def _traffic() -> Builder[Panel]:
    traffic = f"sum by ($label) (rate({select('vector_results', '_count')}[$__rate_interval]))"
    return lines(
        About(
            title="Impressions",
            says="Impressions a second that came to be counted, by value of the label.",
            good="the usual curve of the day. A drop makes every other panel less sure; at 0 nothing here "
            "is news.",
            unit=Unit.PER_SECOND,
            runbook=Runbook.TRAFFIC,
        ),
        Query(traffic, "{{$label}}"),
        width=6,
    )


def _empty() -> Builder[Panel]:
    return lines(
        About(
            title="Empty results",
            says="Share of impressions in which nothing was ranked.",
            good="a few percent at most, and level. A rise is a filter, an index or a shard that is missing.",
            unit=Unit.SHARE,
            runbook=Runbook.EMPTY_RESULTS,
        ),
        Query(Average("vector_empty_avg", by=("$label",)).mean, "{{$label}}"),
        width=6,
    )


def _latency() -> Builder[Panel]:
    return _quantiles(
        About(
            title="Search latency",
            says="How long the search took, as the backend told in its impressions.",
            good="level, and within your objective. Slow searches are abandoned however good the ranking is.",
            unit=Unit.SECONDS,
            runbook=Runbook.ABANDONMENT,
        ),
        "vector_search_latency_seconds",
        {"median": 0.5, "95% within": 0.95, "99% within": 0.99},
    )


def _dwell() -> Builder[Panel]:
    return _quantiles(
        About(
            title="Dwell",
            says="Longest time on a document, of impressions that had any.",
            good="level. Shorter with the same CTR means that results look better than they are.",
            unit=Unit.SECONDS,
            runbook=Runbook.ABANDONMENT,
        ),
        "vector_dwell_seconds",
        {"25% within": 0.25, "median": 0.5, "90% within": 0.9},
    )


def _quantiles(about: About, family: str, quantiles: dict[str, float]) -> Builder[Panel]:
    return lines(about, *(Query(quantile(q, family), name) for name, q in quantiles.items()), width=6)


def _depth() -> Builder[Panel]:
    means = {"deepest click": "vector_click_depth", "deepest scroll": "vector_scroll_depth"}
    return lines(
        About(
            title="Depth",
            says="Mean of the deepest rank that was clicked, and scrolled to, of impressions that had any.",
            good="small and level. Growing means that users have to look further down for what they want.",
            unit=Unit.NUMBER,
            runbook=Runbook.CTR,
        ),
        *(Query(_mean(family), name) for name, family in means.items()),
        width=6,
    )


def _mean(histogram: str) -> str:
    total, count = (f"sum by () (rate({select(histogram, part)}[$window]))" for part in ("_sum", "_count"))
    return ratio(total, count)


def _outcomes() -> Builder[Panel]:
    return lines(
        About(
            title="Satisfied and successful",
            says="Share of impressions with a click that held the user for 30 seconds or more, and share of "
            "outcomes that the application called successful.",
            good="level with last week. Falling while CTR stands: clicks go to results that disappoint.",
            unit=Unit.SHARE,
            runbook=Runbook.ABANDONMENT,
        ),
        Query(Average("vector_satisfied_avg").mean, "satisfied"),
        Query(Average("vector_outcome_success_avg").mean, "successful"),
        width=6,
    )

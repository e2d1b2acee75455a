"""Clocks: how far senders and the monitor itself are off, and how late impressions come."""

from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from grafana.layout import Row
from grafana.panels import About, Query, Unit, lines
from grafana.queries import rate, ratio, select
from grafana.runbooks import Runbook
from monitor.export.catalogue import CLOCK_SKEW, DECISION_DELAY, EVENTS, LATE, LEAD

QUANTILES = (0.5, 0.9, 0.99)


def clocks() -> Row:
    """Whose clock is wrong, and what `lateness_seconds` should be."""
    return Row("Clocks and late impressions", [_lead(), _skew(), _late_share(), _lateness()])


def _lead() -> Builder[Panel]:
    return lines(
        About(
            title="Lead of events by topic",
            says="Largest lead of an event's `ts` over the log's clock within the last 5 to 10 minutes.",
            good="below a second or two. More: the clock of a sender is wrong, or, on every topic at once, "
            "the monitor's own clock is behind.",
            unit=Unit.SECONDS,
            runbook=Runbook.SENDER_AHEAD,
        ),
        Query(f"max by (topic) ({select(LEAD.name)})", "{{topic}}"),
        width=12,
    )


def _skew() -> Builder[Panel]:
    return lines(
        About(
            title="Clock skew",
            says="How far each replica's clock is ahead of the broker's, by topic. Only topics with "
            "`LogAppendTime` have it.",
            good="between -1 and 1 second. A little above 0 is the time that a record takes to be read.",
            unit=Unit.SECONDS,
            runbook=Runbook.CLOCK_SKEW,
        ),
        Query(f"max by (instance, topic) ({select(CLOCK_SKEW.name)})", "{{instance}} {{topic}}"),
        width=12,
    )


def _late_share() -> Builder[Panel]:
    late = rate(EVENTS.name, where='fate="late",type="impression"')
    others = rate(DECISION_DELAY.name, part="_count", where='delay="0s"')
    return lines(
        About(
            title="Late impressions",
            says="Share of the impressions that are late. They count in no metric.",
            good="0, or a trace. The alert fires at 1%.",
            unit=Unit.SHARE,
            runbook=Runbook.LATE_IMPRESSIONS,
        ),
        Query(ratio(late, f"{late} + {others}"), "of all impressions"),
        width=12,
    )


def _lateness() -> Builder[Panel]:
    buckets = rate(LATE.name, "le", part="_bucket")
    return lines(
        About(
            title="How late the late ones are",
            says="Quantiles of how far event time was ahead of a late impression. A `lateness_seconds` above "
            "a quantile would have kept that share of the late ones.",
            good="nothing here: no impression is late. Else choose `lateness_seconds` from it.",
            unit=Unit.SECONDS,
            runbook=Runbook.LATE_IMPRESSIONS,
        ),
        *(Query(f"histogram_quantile({q:g}, {buckets})", f"{q:.0%} within") for q in QUANTILES),
        width=12,
    )

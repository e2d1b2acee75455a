"""Intake and losses: what came in, what became of it, and what was not counted."""

from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from grafana.layout import Row
from grafana.panels import About, Query, Unit, lines, stacked
from grafana.queries import rate, ratio, select
from grafana.runbooks import Runbook
from monitor.export.catalogue import (
    DUPLICATE_KEYS,
    EVENTS,
    EVICTED_JUDGMENTS,
    LABEL_OVERFLOW,
    RECORDS,
    REJECTED,
    SKIPPED,
)


def intake() -> Row:
    """Every event ends in exactly one fate."""
    return Row("What came in, and what became of it", [_records(), _fates()])


def _records() -> Builder[Panel]:
    return stacked(
        About(
            title="Records by topic",
            says="Records read a second.",
            good="the usual curve of the day, on every topic.",
            unit=Unit.PER_SECOND,
            runbook=Runbook.NO_EVENTS,
        ),
        Query(rate(RECORDS.name, "topic"), "{{topic}}"),
        width=12,
    )


def _fates() -> Builder[Panel]:
    return stacked(
        About(
            title="Fates",
            says="Events a second by type and the one fate in which each ended.",
            good="settled impressions, joined interactions and applied judgments; of late, duplicate, "
            "unmatched and evicted only a trace.",
            unit=Unit.PER_SECOND,
            runbook=Runbook.NO_EVENTS,
        ),
        Query(f"{rate(EVENTS.name, 'type', 'fate')} > 0", "{{type}} {{fate}}"),
        width=12,
    )


def losses() -> Row:
    """What was not counted, and why."""
    return Row("What was not counted", [_rejections(), _unmatched(), _evicted(), _skipped(), _set_aside()])


def _rejections() -> Builder[Panel]:
    return stacked(
        About(
            title="Rejections by reason",
            says="Records a second that are not events, by the reason; the log shows examples.",
            good="0 for every reason.",
            unit=Unit.PER_SECOND,
            runbook=Runbook.REJECTIONS,
        ),
        Query(rate(REJECTED.name, "reason"), "{{reason}}"),
        width=12,
    )


def _unmatched() -> Builder[Panel]:
    unmatched = rate(EVENTS.name, "type", where='fate="unmatched"')
    ended = rate(EVENTS.name, "type", where='type=~"click|dwell|outcome"')
    return lines(
        About(
            title="Unmatched interactions",
            says="Share of interactions for which no impression came, or whose key it did not have.",
            good="a few percent at most, and level. More: impressions are lost, come with other ids or "
            "another partitioner, or interactions come later than `attribution_seconds`. It lowers "
            "CTR.",
            unit=Unit.SHARE,
            runbook=Runbook.CTR,
        ),
        Query(ratio(unmatched, ended), "{{type}}"),
        width=12,
    )


def _evicted() -> Builder[Panel]:
    return lines(
        About(
            title="Evicted",
            says="Events a second dropped, and judgments forgotten, because there were more than the bounds "
            "allow.",
            good="0. Anything else is memory traded for completeness: raise the bound or add a replica.",
            unit=Unit.PER_SECOND,
            runbook=Runbook.EVICTING,
        ),
        Query(rate(EVENTS.name, "type", where='fate="evicted"'), "{{type}}"),
        Query(rate(EVICTED_JUDGMENTS.name), "judgments in the table"),
        width=8,
    )


def _skipped() -> Builder[Panel]:
    return lines(
        About(
            title="Skipped since the start",
            says="Records that retention took before they were read, or whose batch cannot be decoded, since "
            "the process started.",
            good="0. Anything else is lost: keep records for longer than the monitor may be away.",
            unit=Unit.NUMBER,
            runbook=Runbook.SKIPPING,
        ),
        Query(f"max by (topic, partition) ({select(SKIPPED.name)})", "{{topic}}-{{partition}}"),
        width=8,
    )


def _set_aside() -> Builder[Panel]:
    late = rate(EVENTS.name, where='fate="late",type="impression"')
    return lines(
        About(
            title="Late, repeated keys, label overflow",
            says="Impressions a second that came behind the watermark; keys that stood twice in one "
            "ranking; impressions "
            'whose label became "other" because it has too many values.',
            good="0, but for a trace of late ones. Many late: choose `lateness_seconds` from how late "
            "they are, or look for a producer that writes old events.",
            unit=Unit.PER_SECOND,
            runbook=Runbook.LATE_IMPRESSIONS,
        ),
        Query(late, "late impressions"),
        Query(rate(DUPLICATE_KEYS.name), "repeated keys"),
        Query(rate(LABEL_OVERFLOW.name, "label"), "overflow of {{label}}"),
        width=8,
    )

"""The alerts on clocks: senders that are ahead, impressions that are late, and the monitor's own clock."""

from collections.abc import Iterator

from monitor.alerting.alert import PIPELINE, Alert
from monitor.alerting.promql import lines, select, summed_increase
from monitor.alerting.values import Values
from monitor.alerting.watched import recorded
from monitor.durations import in_words
from monitor.export import catalogue

KEPT = 0.9
"""Share of the late impressions that the suggested `lateness_seconds` would have kept."""


def clock_alerts(values: Values) -> Iterator[Alert]:
    """Alerts that say that a clock is wrong, or that events take too long to reach Kafka."""
    yield _sender_ahead(values)
    yield _late_impressions(values)
    yield _clock_skew(values)


def _sender_ahead(values: Values) -> Alert:
    timing = values.RankingMonitorSenderAhead
    lead = select(catalogue.LEAD.name, job=values.job)
    return Alert(
        name="RankingMonitorSenderAhead",
        expr=f"max by (job, topic) ({lead}) > {timing.max_lead}",
        wait=timing.for_,
        keep_firing_for=timing.keep_firing_for,
        severity=timing.severity,
        summary="Events of {{ $labels.topic }} are up to {{ $value | humanizeDuration }} ahead of the log's "
        "clock",
        description="A sender's clock is wrong. Its own events get the wrong time, and beyond "
        "`ahead_seconds` they are rejected as future_ts. Events of other senders are not affected.",
        dashboard=PIPELINE,
    )


def _late_impressions(values: Values) -> Alert:
    timing = values.RankingMonitorLateImpressions
    return Alert(
        name="RankingMonitorLateImpressions",
        expr=f"{recorded('ranking_monitor_late_impressions', 'ratio', values)} >= {timing.max_share:g}",
        wait=timing.for_,
        keep_firing_for=timing.keep_firing_for,
        severity=timing.severity,
        summary=f"{{{{ $value | humanizePercentage }}}} of the impressions in {in_words(timing.range)} were "
        "late and count in no metric",
        description=f"Of at least {timing.min_impressions} impressions. {_suggested_lateness(values)}",
        dashboard=PIPELINE,
    )


def _suggested_lateness(values: Values) -> str:
    """A sentence for the description, whatever the histogram knows.

    A quantile above the last bucket is reported as that bucket's bound. Without a late impression it is NaN,
    which no comparison lets through.
    """
    buckets = select(f"{catalogue.LATE.name}_bucket", job=values.job)
    late = summed_increase(buckets, values.RankingMonitorLateImpressions.range, ["le"])
    longest = catalogue.LATE.buckets[-1]
    return (
        f"{{{{ with query `histogram_quantile({KEPT:g}, {late}) > 0` }}}}"
        f"{{{{ $seconds := . | first | value }}}}{{{{ if lt $seconds {longest:.1f} }}}}"
        f'A `lateness_seconds` of about {{{{ $seconds | printf "%.0f" }}}} would have kept {KEPT:.0%} of the '
        f"late ones, and delays every number by as much."
        f"{{{{ else }}}}Not even a `lateness_seconds` of {longest:.0f} would have kept {KEPT:.0%} of "
        f"the late ones: old events are being written into a live topic."
        f"{{{{ end }}}}{{{{ else }}}}How late they were is unknown.{{{{ end }}}}"
    )


def _clock_skew(values: Values) -> Alert:
    timing = values.RankingMonitorClockSkew
    skew = select(catalogue.CLOCK_SKEW.name, job=values.job)
    return Alert(
        name="RankingMonitorClockSkew",
        # Without abs(), so that the sign is left for the summary.
        expr=lines(
            f"max by (job, instance) ({skew}) > {timing.max_skew}",
            f"or min by (job, instance) ({skew}) < -{timing.max_skew}",
        ),
        wait=timing.for_,
        keep_firing_for=timing.keep_firing_for,
        severity=timing.severity,
        summary="The clock of {{ $labels.instance }} is "
        '{{ $value | humanizeDuration | reReplaceAll "^-" "" }} '
        "{{ if gt $value 0.0 }}ahead of{{ else }}behind{{ end }} the broker's",
        description="Compared with the timestamps that the broker writes (`LogAppendTime`). A clock that is "
        "behind delays every number by as much. One that is more than `lateness_seconds` ahead makes "
        "impressions late in partitions that were idle.",
        dashboard=PIPELINE,
    )

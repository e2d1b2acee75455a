"""The alerts on the monitor itself."""

from collections.abc import Iterator

from monitor.alerting.alert import PIPELINE, Alert
from monitor.alerting.clock_alerts import clock_alerts
from monitor.alerting.means import references
from monitor.alerting.promql import lines, select
from monitor.alerting.values import Values
from monitor.alerting.watched import recorded
from monitor.durations import in_words
from monitor.export import catalogue


def pipeline_alerts(values: Values) -> Iterator[Alert]:
    """Those that say that the monitor does not do its work."""
    yield from _down(values)
    yield _no_events(values)
    yield _lag_growing(values)
    yield _watermark_stuck(values)
    yield _rejections_high(values)
    yield _evicting(values)
    yield _commits_stopped(values)
    yield _skipping(values)
    yield _crash_looping(values)
    yield from clock_alerts(values)


def _down(values: Values) -> Iterator[Alert]:
    up, ready = select("up", job=values.job), select(catalogue.READY.name, job=values.job)
    timing, instance = values.RankingMonitorDown, "{{ $labels.instance }}"
    for reason, expr, wait, summary in (
        ("unreachable", f"{up} == 0", timing.for_, f"{instance} could not be scraped"),
        ("absent", f"absent({up})", timing.for_, f"There has been no target of job {values.job}"),
        ("not_ready", f"{ready} == 0", timing.not_ready_for, f"{instance} has not been ready"),
    ):
        yield Alert(
            name="RankingMonitorDown",
            expr=expr,
            wait=wait,
            keep_firing_for=timing.keep_firing_for,
            severity=timing.severity,
            labels={"reason": reason},
            summary=f"{summary} for {in_words(wait)}",
            description="While no replica works there are no numbers, and alerts on quality stay as they "
            "are for their keep_firing_for. Nothing is lost for as long as Kafka keeps the events.",
            dashboard=PIPELINE,
        )


def _no_events(values: Values) -> Alert:
    timing = values.RankingMonitorNoEvents
    now = recorded("ranking_monitor_records", "increase", values)
    then = [f"{now.ago(seconds)} >= {timing.min_records}" for seconds in references(values).values()]
    return Alert(
        name="RankingMonitorNoEvents",
        expr=lines(
            f"{now} == 0",
            f"and on (job) (\n    max_over_time({now}[{in_words(timing.before)}]) >= {timing.min_records}",
            *(f"  or {one}" for one in then),
            ")",
        ),
        wait=timing.for_,
        keep_firing_for=timing.keep_firing_for,
        severity=timing.severity,
        summary=f"{{{{ $value }}}} records came in during {in_words(timing.range)}",
        description=f"There were at least {timing.min_records} in as long within the last "
        f"{in_words(timing.before)}, or at this time yesterday or last week. No number on quality moves.",
        dashboard=PIPELINE,
    )


def _lag_growing(values: Values) -> Alert:
    timing = values.RankingMonitorLagGrowing
    lag = recorded("ranking_monitor_consumer_lag", "sum", values, ("job", "topic"))
    over = in_words(timing.range)
    least, before = (f"min_over_time({lag}[{over}]{offset})" for offset in ("", f" offset {over}"))
    return Alert(
        name="RankingMonitorLagGrowing",
        # The least leaves out what goes up and down; a batch that is being read has a slope below 0.
        expr=lines(
            str(lag),
            f"and {least} - {before} >= {timing.min_lag}",
            f"and deriv({lag}[{over}]) > 0",
        ),
        wait=timing.for_,
        keep_firing_for=timing.keep_firing_for,
        severity=timing.severity,
        summary="{{ $value | humanize }} records of {{ $labels.topic }} are unread, and it is getting more",
        description=f"Its least in {over} is {timing.min_lag} or more above that of the {over} before: "
        "records come faster than they are read, and every number is late by as much.",
        dashboard=PIPELINE,
    )


def _watermark_stuck(values: Values) -> Alert:
    timing = values.RankingMonitorWatermarkStuck
    reached = recorded("ranking_monitor_watermark_timestamp_seconds", "max", values, ("job", "task"))
    return Alert(
        name="RankingMonitorWatermarkStuck",
        expr="max by (job) (\n  "
        + lines(
            f"time() - {reached} > {timing.max_delay}",
            f"and delta({reached}[{in_words(timing.range)}]) < {timing.min_speed * timing.range:g}",
            # A restart reads again what is still needed: event time goes back, and is on its way.
            f"unless resets({reached}[{in_words(timing.range)}]) > 0",
        )
        + "\n)",
        wait=timing.for_,
        keep_firing_for=timing.keep_firing_for,
        severity=timing.severity,
        summary="Event time stands still, {{ $value | humanizeDuration }} behind the clock",
        description="Of the task that is furthest behind. What its partitions bring is held and not decided: "
        "the metrics stand still too. Nothing is lost yet.",
        dashboard=PIPELINE,
    )


def _rejections_high(values: Values) -> Alert:
    timing, job = values.RankingMonitorRejectionsHigh, values.job
    rejected = select(catalogue.REJECTED.name, job=job)
    worst = f"topk(1, sum by (reason) (increase({rejected}[{in_words(timing.range)}])))"
    reason = f"{{{{ with query `{worst}` }}}}{{{{ . | first | label `reason` }}}}{{{{ end }}}}"
    return Alert(
        name="RankingMonitorRejectionsHigh",
        expr=f"{recorded('ranking_monitor_rejected', 'ratio', values)} >= {timing.max_share:g}",
        wait=timing.for_,
        keep_firing_for=timing.keep_firing_for,
        severity=timing.severity,
        summary=f"{{{{ $value | humanizePercentage }}}} of the records in {in_words(timing.range)} were "
        f"rejected, most as {reason}",
        description=f"Of at least {timing.min_records} records. What is rejected counts in no metric: "
        "quality is measured on what is left.",
        dashboard=PIPELINE,
    )


def _evicting(values: Values) -> Alert:
    timing = values.RankingMonitorEvicting
    return Alert(
        name="RankingMonitorEvicting",
        expr=f"{recorded('ranking_monitor_evicted', 'increase', values)} >= {timing.min_evicted}",
        wait=timing.for_,
        keep_firing_for=timing.keep_firing_for,
        severity=timing.severity,
        summary=f"{{{{ $value | humanize }}}} events or judgments were evicted in {in_words(timing.range)}",
        description="A bound of `limits` is reached: the oldest impressions are decided before their time, "
        "without the clicks and judgments that would have come, or judgments are forgotten.",
        dashboard=PIPELINE,
    )


def _commits_stopped(values: Values) -> Alert:
    timing = values.RankingMonitorCommitsStopped
    committed = select(catalogue.COMMITTED.name, job=values.job)
    return Alert(
        name="RankingMonitorCommitsStopped",
        expr=lines(
            f"time() - {committed} > {timing.max_age}",
            # A replica without partitions has no event time, and nothing to commit.
            f"and on (job, instance) {select(catalogue.WATERMARK.name, job=values.job)}",
        ),
        wait=timing.for_,
        keep_firing_for=timing.keep_firing_for,
        severity=timing.severity,
        summary="{{ $labels.instance }} has committed nothing for {{ $value | humanizeDuration }}",
        description="No scrape acknowledges what it was shown: a restart reads again from the last commit, "
        "and what was shown since is counted twice. Or Kafka takes no commits: the counters stand still "
        "until it does.",
        dashboard=PIPELINE,
    )


def _skipping(values: Values) -> Alert:
    timing = values.RankingMonitorSkipping
    skipped = recorded("ranking_monitor_skipped_records", "increase", values, ("job", "topic"))
    return Alert(
        name="RankingMonitorSkipping",
        expr=f"{skipped} >= {timing.min_skipped}",
        wait=timing.for_,
        keep_firing_for=timing.keep_firing_for,
        severity=timing.severity,
        summary="{{ $value | humanize }} records of {{ $labels.topic }} were skipped in "
        f"{in_words(timing.range)}",
        description="Retention took them before they were read, or their batch cannot be decoded. They count "
        "in no metric, and nothing brings them back: the time that they are of is measured in part.",
        dashboard=PIPELINE,
    )


def _crash_looping(values: Values) -> Alert:
    timing = values.RankingMonitorCrashLooping
    started = select("process_start_time_seconds", job=values.job)
    return Alert(
        name="RankingMonitorCrashLooping",
        expr=f"changes({started}[{in_words(timing.range)}]) >= {timing.min_restarts}",
        wait=timing.for_,
        keep_firing_for=timing.keep_firing_for,
        severity=timing.severity,
        summary=f"{{{{ $labels.instance }}}} restarted {{{{ $value }}}} times in {in_words(timing.range)}",
        description="Each start reads the held impressions again and shows no numbers until then.",
        dashboard=PIPELINE,
    )

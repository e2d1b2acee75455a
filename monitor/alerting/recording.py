"""Recording rules: what is summed over replicas, divided, and compared with another time or variant."""

from collections.abc import Iterator

from monitor.alerting.coverage import coverage_records
from monitor.alerting.means import Record, references
from monitor.alerting.promql import lines, select, summed_increase
from monitor.alerting.values import Values
from monitor.alerting.watched import IMPRESSIONS, Watched, recorded
from monitor.durations import in_words
from monitor.export import catalogue
from monitor.export.series import le
from monitor.metrics import METRICS


def quality_records(values: Values) -> Iterator[Record]:
    """What the alerts on ranking quality are about, besides the detector's own rules."""
    yield from coverage_records(values)
    if values.VectorNDCGBudgetBurn.objective is not None:
        yield from _low(values)
    yield from _impressions(values)


def _low(values: Values) -> Iterator[Record]:
    """Share of impressions with a low NDCG, over each of the windows of the budget."""
    ndcg, burn = Watched(METRICS["ndcg"], values), values.VectorNDCGBudgetBurn
    low = ndcg.raw("_bucket").where(f'le="{le(burn.low)}"')
    for speed, rate in (("fast", burn.fast), ("slow", burn.slow)):
        for window, seconds, least in (
            ("long", rate.long, f">= {values.comparison.min_samples}"),
            ("short", rate.short, "> 0"),
        ):
            count = summed_increase(ndcg.raw("_count"), seconds, ndcg.by)
            expr = lines(summed_increase(low, seconds, ndcg.by), f"/ ({count} {least})")
            yield Record(ndcg.recorded("low_ratio").name, expr, {"window": f"{speed}_{window}"})


def _impressions(values: Values) -> Iterator[Record]:
    """Traffic; a ready monitor that has seen nothing since it started has no series, and that is 0."""
    empty, comparison = Watched(METRICS["empty"], values), values.comparison
    now = recorded(IMPRESSIONS, "increase", values)
    ready = select(catalogue.READY.name, job=values.job)
    yield Record(
        now.name,
        lines(
            summed_increase(empty.raw("_count"), comparison.range, ["job"]),
            f"or sum by (job) ({ready} == 1) * 0",
        ),
    )
    for against, seconds in references(values).items():
        expr = f"1 - {now} / ({now.ago(seconds)} >= {comparison.min_samples})"
        yield Record(recorded(IMPRESSIONS, "relative_drop", values).name, expr, {"against": against})


def pipeline_records(values: Values) -> Iterator[Record]:
    """What the alerts on the monitor itself are about."""
    job = {"job": values.job}
    silence, rejections = values.RankingMonitorNoEvents, values.RankingMonitorRejectionsHigh
    records = select(catalogue.RECORDS.name, **job)
    yield Record("job:ranking_monitor_records:increase", summed_increase(records, silence.range, ["job"]))
    rejected = summed_increase(select(catalogue.REJECTED.name, **job), rejections.range, ["job"])
    came = summed_increase(records, rejections.range, ["job"])
    yield Record(
        "job:ranking_monitor_rejected:ratio", lines(rejected, f"/ ({came} >= {rejections.min_records})")
    )
    seconds = in_words(values.RankingMonitorEvicting.range)
    evicted = select(catalogue.EVENTS.name, **job, fate="evicted")
    forgotten = select(catalogue.EVICTED_JUDGMENTS.name, **job)
    yield Record(
        "job:ranking_monitor_evicted:increase",
        f"sum by (job) (\n  increase({evicted}[{seconds}])\n  or increase({forgotten}[{seconds}])\n)",
    )
    yield _skipped(values)
    yield _late(values)
    # A partition that changes hands can be reported by two replicas for a moment.
    lag, watermark = select(catalogue.LAG.name, **job), select(catalogue.WATERMARK.name, **job)
    yield Record(
        "job_topic:ranking_monitor_consumer_lag:sum",
        f"sum by (job, topic) (max by (job, topic, partition) ({lag}))",
    )
    yield Record(
        "job_task:ranking_monitor_watermark_timestamp_seconds:max", f"max by (job, task) ({watermark})"
    )


def _skipped(values: Values) -> Record:
    """Records that are lost, by topic; every replica reads all judgments, and may miss the same of them."""
    seconds = values.RankingMonitorSkipping.range
    skipped = select(catalogue.SKIPPED.name, job=values.job)
    started = select("process_start_time_seconds", job=values.job)
    # What is gone when a process starts is counted before its first scrape: no increase() sees it.
    return Record(
        "job_topic:ranking_monitor_skipped_records:increase",
        f"sum by (job, topic) (\n  max by (job, topic, partition) (\n"
        f"    ({skipped} and on (job, instance) time() - {started} < {seconds}) > 0\n"
        f"    or increase({skipped}[{in_words(seconds)}])\n  )\n)",
    )


def _late(values: Values) -> Record:
    """Share of the impressions that were late."""
    timing = values.RankingMonitorLateImpressions
    late = select(catalogue.EVENTS.name, job=values.job, type="impression", fate="late")
    # Late is known at once, settled only after the longest maturity. So the others are counted at their first
    # deadline: until that maturity has passed, late is the only fate, and a few would look like all of them.
    others = select(f"{catalogue.DECISION_DELAY.name}_count", job=values.job, delay=in_words(0))
    seconds = in_words(timing.range)
    return Record(
        "job:ranking_monitor_late_impressions:ratio",
        lines(
            summed_increase(late, timing.range, ["job"]),
            f"/ (sum by (job) (increase({late}[{seconds}]) or increase({others}[{seconds}]))"
            f" >= {timing.min_impressions})",
        ),
    )

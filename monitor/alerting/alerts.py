"""The alerts on ranking quality: when they fire, and what they say."""

from collections.abc import Iterator

from monitor.alerting.alert import Alert
from monitor.alerting.change_alerts import change_alerts
from monitor.alerting.promql import lines, select
from monitor.alerting.values import BurnRate, Values
from monitor.alerting.watched import COVERAGE, IMPRESSIONS, JUDGED, Watched, recorded
from monitor.alerting.wording import PERCENTAGE, look_up
from monitor.durations import in_words
from monitor.export import catalogue
from monitor.metrics import METRICS

HISTORY = "the same time yesterday and last week"


def quality_alerts(values: Values) -> Iterator[Alert]:
    """Those that say that the ranking got worse, or that nobody can tell."""
    yield from change_alerts(values)
    burn = values.VectorNDCGBudgetBurn
    if burn.objective is not None:
        yield _budget_burn(values, "fast", burn.fast)
        yield _budget_burn(values, "slow", burn.slow)
    yield from _coverage_drop(values)
    yield _traffic_drop(values)


def _budget_burn(values: Values, speed: str, rate: BurnRate) -> Alert:
    burn, ndcg = values.VectorNDCGBudgetBurn, Watched(METRICS["ndcg"], values)
    long, short = (
        ndcg.recorded("low_ratio").where(f'window="{speed}_{window}"') for window in ("long", "short")
    )
    threshold = f"{rate.factor * burn.budget:g}"
    return Alert(
        name="VectorNDCGBudgetBurn",
        expr=lines(
            f"{long} >= {threshold}",
            f"and ignoring (window) {short} >= {threshold}",
        ),
        wait=burn.for_,
        keep_firing_for=burn.keep_firing_for,
        severity=rate.severity,
        labels={"speed": speed},
        summary=f"{{{{ $value | humanizePercentage }}}} of the impressions in {in_words(rate.long)} have an "
        f"NDCG@{values.k} of {burn.low:g} or less; the objective allows {100 * burn.budget:g}%",
        description=f"More than {rate.factor:g} times what the objective of {burn.objective:g} allows, over "
        f"{in_words(rate.long)} and over {in_words(rate.short)}; of at least "
        f"{values.comparison.min_samples} impressions.",
    )


def _coverage_drop(values: Values) -> Iterator[Alert]:
    timing, documents = values.VectorJudgedCoverageDrop, Watched(COVERAGE, values)
    ratio = look_up(recorded(JUDGED, "ratio", values), PERCENTAGE)
    share = look_up(documents.mean, PERCENTAGE)
    for of, name, text in (
        ("impressions", JUDGED, f"{ratio} of the impressions are judged"),
        (
            "documents",
            COVERAGE.family,
            f"{share} of the first {values.k} documents of judged impressions are judged",
        ),
    ):
        drop, relative = (
            f"min without (against) ({recorded(name, operation, values)})"
            for operation in ("drop", "relative_drop")
        )
        enough = f"{drop} >= {timing.min_drop:g}"
        much = f"{drop} and {relative} >= {timing.min_relative_drop:g}"
        yield Alert(
            name="VectorJudgedCoverageDrop",
            expr=f"100 * (\n  {lines(enough, f'or {much}')}\n)",
            wait=timing.for_,
            keep_firing_for=timing.keep_firing_for,
            severity=timing.severity,
            labels={"of": of},
            summary=f'{text}, {{{{ $value | printf "%.1f" }}}} points below {HISTORY}',
            description=f"At maturity {in_words(values.maturity)}, over {in_words(values.comparison.range)}, "
            f"of at least {values.comparison.min_samples}. Judged metrics speak of fewer impressions or "
            "documents than they did: do not read their change as a change of quality.",
        )


def _traffic_drop(values: Values) -> Alert:
    """Only where the monitor sees all there is: no replica away, event time near the clock."""
    timing, behind = values.VectorTrafficDrop, values.RankingMonitorWatermarkStuck.max_delay
    drop, now = recorded(IMPRESSIONS, "relative_drop", values), recorded(IMPRESSIONS, "increase", values)
    up = select("up", job=values.job)
    watermark = select(catalogue.WATERMARK.name, job=values.job)
    return Alert(
        name="VectorTrafficDrop",
        expr=lines(
            f"min without (against) ({drop}) >= {timing.min_drop:g}",
            f"unless on (job) min by (job) ({up}) == 0",
            f"unless on (job) time() - min by (job) ({watermark}) > {behind}",
        ),
        wait=timing.for_,
        keep_firing_for=timing.keep_firing_for,
        severity=timing.severity,
        summary=f"{look_up(now, 'humanize')} impressions in {in_words(values.comparison.range)}, "
        f"{{{{ $value | humanizePercentage }}}} below {HISTORY}",
        description=f"There were at least {values.comparison.min_samples} then. The monitor itself is up and "
        "its event time is near the clock.",
    )

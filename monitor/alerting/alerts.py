"""The alerts on ranking quality: when they fire, and what they say."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from monitor.alerting.promql import lines, select
from monitor.alerting.values import BudgetBurn, BurnRate, Drop, Rise, Timing, Values
from monitor.alerting.watched import COVERAGE, IMPRESSIONS, JUDGED, Watched, recorded
from monitor.alerting.wording import (
    PERCENTAGE,
    certainty,
    coverage_note,
    distance,
    form,
    least,
    look_up,
    now_and_baseline,
)
from monitor.durations import in_words
from monitor.export import catalogue
from monitor.metrics import METRICS

QUALITY, PIPELINE = "ranking-quality", "ranking-pipeline"
"""The uids of the dashboards."""
HISTORY = "the same time yesterday and last week"


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One alerting rule; rules of one name differ in their labels."""

    name: str
    expr: str
    timing: Timing | BudgetBurn
    severity: str
    summary: str
    description: str
    labels: Mapping[str, str] = field(default_factory=dict)
    dashboard: str = QUALITY
    wait: int | None = None
    """How long it must hold, where that is not the `for` of its values."""
    chosen: str | None = None
    """The label whose value the dashboard should show."""


def quality_alerts(values: Values) -> Iterator[Alert]:
    """Those that say that the ranking got worse, or that nobody can tell."""
    means: list[tuple[str, str, str, Drop | Rise]] = [
        ("ndcg", f"NDCG@{values.k}", "VectorNDCGRegression", values.VectorNDCGRegression),
        ("mrr", f"MRR@{values.k}", "VectorMRRRegression", values.VectorMRRRegression),
        ("ctr", f"CTR@{values.k}", "VectorCTRRegression", values.VectorCTRRegression),
        ("abandonment", "Abandonment", "VectorAbandonmentRise", values.VectorAbandonmentRise),
        ("empty", "Share of empty results", "VectorEmptyResultsRise", values.VectorEmptyResultsRise),
    ]
    for metric, title, name, timing in means:
        yield _against_history(name, title, timing, Watched(METRICS[metric], values))
        if values.label is not None:
            watched = Watched(METRICS[metric], values, ("job", values.label))
            yield _against_baseline(name, title, timing, watched)
    burn = values.VectorNDCGBudgetBurn
    yield _budget_burn(values, "fast", burn.fast)
    yield _budget_burn(values, "slow", burn.slow)
    yield from _coverage_drop(values)
    yield _traffic_drop(values)


def _worse(watched: Watched, timing: Drop | Rise, over: str = "") -> str:
    """Large enough to matter, and too large for chance; of several references, `over` all of them."""
    change, unexplained, zscore = (
        f"{over}({series})" if over else str(series)
        for series in (watched.change, watched.unexplained, watched.zscore)
    )
    condition = lines(
        f"{change}\n  and {unexplained} >= {least(timing):g}"
        if watched.judged
        else f"{change} >= {least(timing):g}",
        f"and {zscore} >= {watched.values.comparison.min_zscore:g}",
    )
    # Points read better than fractions: 0.05 more is 5 points more.
    return condition if isinstance(timing, Drop) else f"100 * (\n  {condition}\n)"


def _against_history(name: str, title: str, timing: Drop | Rise, watched: Watched) -> Alert:
    mean = look_up(watched.mean, form(watched.metric))
    return Alert(
        name=name,
        expr=_worse(watched, timing, "min without (against) "),
        timing=timing,
        severity=timing.severity,
        labels={"against": "history"},
        summary=f"{title} is {mean}, {distance(watched.metric)} {HISTORY}",
        description=f"{certainty(watched)} Given is the smaller of the two distances; in the first week "
        f"there is only yesterday.{coverage_note(watched)}",
    )


def _against_baseline(name: str, title: str, timing: Drop | Rise, watched: Watched) -> Alert:
    values, label = watched.values, watched.level[-1]
    mine, base = now_and_baseline(watched, label)
    return Alert(
        name=name,
        expr=_worse(watched, timing),
        timing=timing,
        severity=timing.severity,
        labels={"against": "baseline"},
        summary=f"{title} of {label} {{{{ $labels.{label} }}}} is {mine}, "
        f"{distance(watched.metric)} {values.baseline} ({base})",
        description=f"{certainty(watched)}{coverage_note(watched)}",
        chosen=label,
    )


def _budget_burn(values: Values, speed: str, rate: BurnRate) -> Alert:
    burn, ndcg = values.VectorNDCGBudgetBurn, Watched(METRICS["ndcg"], values)
    long, short = (
        ndcg.recorded("low_ratio").where(f'window="{speed}_{window}"') for window in ("long", "short")
    )
    explainable = ndcg.recorded("explainable_low_ratio").where(f'window="{speed}_long"')
    threshold = f"{rate.factor * burn.budget:g}"
    return Alert(
        name="VectorNDCGBudgetBurn",
        expr=lines(
            f"{long} >= {threshold}",
            f"and ignoring (window) {short} >= {threshold}",
            f"unless {long} - min without (against) ({explainable}) < {threshold}",
        ),
        timing=burn,
        severity=rate.severity,
        labels={"speed": speed},
        summary=f"{{{{ $value | humanizePercentage }}}} of the impressions in {in_words(rate.long)} have an "
        f"NDCG@{values.k} of {burn.low:g} or less; the objective allows {100 * burn.budget:g}%",
        description=f"More than {rate.factor:g} times what the objective of {burn.objective:g} allows, over "
        f"{in_words(rate.long)} and over {in_words(rate.short)}; of at least "
        f"{values.comparison.min_samples} impressions.{coverage_note(ndcg)}",
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
            timing=timing,
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
        timing=timing,
        severity=timing.severity,
        summary=f"{look_up(now, 'humanize')} impressions in {in_words(values.comparison.range)}, "
        f"{{{{ $value | humanizePercentage }}}} below {HISTORY}",
        description=f"There were at least {values.comparison.min_samples} then. The monitor itself is up and "
        "its event time is near the clock.",
    )

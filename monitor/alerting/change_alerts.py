"""The alerts on changes for the worse, of every watched metric: when they fire, and what they say."""

from collections.abc import Iterator

from monitor.alerting.alert import Alert
from monitor.alerting.detector import PREFIX, Detector
from monitor.alerting.means import Record
from monitor.alerting.promql import Selector, lines, quoted, select
from monitor.alerting.quality_inputs import QualityMetric, quality_metrics
from monitor.alerting.values import Values
from monitor.alerting.watched import Watched
from monitor.alerting.wording import (
    NUMBER,
    ONE_DIGIT,
    PERCENTAGE,
    ROUND_DURATION,
    TIME,
    asked,
    look_up,
    own,
)
from monitor.durations import in_words
from monitor.metrics import METRICS

Z95 = 1.96
SAME = 0.999
"""A window with this share of the largest z-score is as sure; sums of floats differ in the last digits."""


def verdict_records(values: Values) -> Iterator[Record]:
    """The surest window: how sure it is, how large its change is, since when, and what the metric is now."""
    own = {"job": values.job}
    zscore, change = _current(values, "zscore"), _current(values, "change")
    surest = select(PREFIX + "max_zscore", **own)
    # Of the windows whose change is large enough, if there are any: a sure but tiny change is not the news.
    least = select(PREFIX + "min_change", **own)
    large = f"max without (window) ({zscore} and {change} >= ignoring (window) group_left () {least})"
    yield Record(surest.name, lines(large, f"or max without (window) ({zscore})"))
    chosen = f"{zscore} == ignoring (window) group_left () {surest}"
    yield Record(PREFIX + "difference", f"max without (window) (\n  {change}\n  and ({chosen})\n)")
    # Windows that hold the same impressions are equally sure: the shortest says best when it began.
    lengths = [
        f"({_of_window(values, 'zscore', window)}"
        f" >= ignoring (window) group_left () ({SAME} * {surest})"
        f" <= ignoring (window) group_left () ({surest} / {SAME})) * 0 + {window}"
        for window in values.detection.windows
    ]
    yield Record(PREFIX + "since", "time() - min without (window) (\n  " + "\n  or ".join(lengths) + "\n)")
    reference, difference = (select(PREFIX + name, **own) for name in ("reference", "difference"))
    relative = select(PREFIX + "is_relative", **own)
    by_metric = "* on (job, metric) group_left ()"
    yield Record(
        PREFIX + "level",
        lines(
            str(reference),
            f"+ {difference} {by_metric} (1 - {relative})",
            f"- {difference} * {reference} {by_metric} {relative}",
        ),
    )
    yield from _firing_records(values)


def _firing_records(values: Values) -> Iterator[Record]:
    """The change in the surest window, where any window is large and sure enough; and the critical ones."""
    change, zscore = _current(values, "change"), _current(values, "zscore")
    least, bound, difference, firing, critical = (
        select(PREFIX + name, job=values.job)
        for name in ("min_change", "min_zscore", "difference", "firing", "critical_size")
    )
    matching = ">= ignoring (window) group_left ()"
    sure = f"{change} {matching} {least}\n  and {zscore} {matching} {bound}"
    yield Record(firing.name, f"{difference} and max without (window) (\n  {sure}\n)")
    large = f"{sure}\n  and {change} >= on (job, metric) group_left () {critical}"
    yield Record(PREFIX + "firing_critical", f"{firing} and max without (window) (\n  {large}\n)")


def _current(values: Values, name: str) -> str:
    """What every window says now."""
    series, seconds = select(PREFIX + name, job=values.job), _slow_range(values)
    detector, windows = Detector(values), values.detection.windows
    fast, slow = (
        series.where(f'window=~"{"|".join(in_words(w) for w in windows if detector.is_slow(w) is is_slow)}"')
        for is_slow in (False, True)
    )
    return f"({fast} or last_over_time({slow}[{seconds}]))"


def _of_window(values: Values, name: str, window: int) -> str:
    """What one window says now."""
    series = select(PREFIX + name, job=values.job, window=in_words(window))
    slow = Detector(values).is_slow(window)
    return f"last_over_time({series}[{_slow_range(values)}])" if slow else str(series)


def _slow_range(values: Values) -> str:
    """A range that always holds a sample of a series recorded at the slow interval."""
    return in_words(values.detection.slow_interval + 5 * values.evaluation_interval)


def change_alerts(values: Values) -> Iterator[Alert]:
    """By size a warning or critical; a warning at most where the judgments themselves changed."""
    kinds = ("history",) if values.label is None else ("history", "baseline")
    for metric in quality_metrics(values):
        judged = Watched(METRICS[metric.name], values).judged
        for against in kinds:
            own_labels = {"job": values.job, "metric": metric.name, "against": against}
            any_size, critical = (
                str(select(PREFIX + n, **own_labels)) for n in ("firing", "firing_critical")
            )
            changed = _judgments_changed(values)
            except_changed = f"unless on (job) {changed}" if judged else ""
            small = lines(any_size, f"unless {critical}", except_changed)
            yield _alert(values, metric, against, "critical", lines(critical, except_changed))
            yield _alert(values, metric, against, "warning", small)
            if judged:
                expr = lines(any_size, f"and on (job) {changed}")
                yield _alert(values, metric, against, "warning", expr, judgments="changed")


def _judgments_changed(values: Values) -> str:
    ratio = select(PREFIX + "judgments_changed_ratio", job=values.job)
    return f"({ratio} >= {values.detection.judgments_changed:g})"


def _alert(
    values: Values, metric: QualityMetric, against: str, severity: str, expr: str, **labels: str
) -> Alert:
    label, judged = values.label, Watched(METRICS[metric.name], values).judged
    whose = f"{{{{ with $labels.{label} }}}} of {label} {{{{ . }}}}{{{{ end }}}}" if label else ""

    def series(name: str) -> Selector:
        return own(select(PREFIX + name, job=values.job, metric=metric.name, against=against), label)

    def found(query: str | Selector, form: str) -> str:
        return look_up(query, form, of=label)

    form = NUMBER if judged else PERCENTAGE
    factor, size_form, unit = ("100 * ", ONE_DIGIT, " points") if metric.rises else ("", PERCENTAGE, "")
    low, high = (
        found(f"{factor}{series('difference')} * (1 {sign} {Z95} / {series('max_zscore')})", size_form)
        for sign in ("-", "+")
    )
    instead = "instead of the usual" if against == "history" else f"instead of {values.baseline}'s"
    window = found(f"time() - {series('since')}", ROUND_DURATION)
    notes = [
        f"95% interval of the change: {low} to {high}{unit}.",
        f"It is surest over the last {window}, so it began about {found(series('since'), TIME)}.",
        f"It is {found(series('max_zscore'), ONE_DIGIT)} standard errors.",
        f"The alert needs {found(series('min_zscore'), ONE_DIGIT)} here.",
        _first_week_note(values, metric, against),
        _changed_note(values) if "judgments" in labels else "",
        _coverage_note(values) if judged else "",
    ]
    return Alert(
        name=metric.alert,
        expr=f"100 * (\n  {expr}\n)" if metric.rises else expr,
        severity=severity,
        keep_firing_for=metric.size.keep_firing_for,
        labels={"against": against, **labels},
        summary=f"{metric.title}{whose} is {found(series('level'), form)} {instead} "
        f"{found(series('reference'), form)}: {{{{ $value | {size_form} }}}}{unit} "
        f"{'more' if metric.rises else 'lower'}",
        description=" ".join(note for note in notes if note),
        chosen=label,
    )


def _first_week_note(values: Values, metric: QualityMetric, against: str) -> str:
    """Said while the stricter rule holds; beside the baseline, the baseline's history decides."""
    settings = values.detection
    seconds = settings.first_week - settings.around // 2
    hour = select(f"{PREFIX}impressions:{in_words(settings.around)}", job=values.job, metric=metric.name)
    if against == "history":
        query = asked(f"{own(hour, values.label).ago(seconds)} > 0", values.label)
    else:
        baseline = hour.where(f"{values.label}={quoted(values.baseline)}")
        query = asked(f"{baseline.ago(seconds)} > 0", None)
    return (
        f"{{{{ with {query} }}}}{{{{ else }}}}There is less than a week of history, so only critical changes "
        f"count, and the bound is higher than usual.{{{{ end }}}}"
    )


def _changed_note(values: Values) -> str:
    ratio = look_up(select(PREFIX + "judgments_changed_ratio", job=values.job), PERCENTAGE)
    return (
        f"{ratio} of the judgments changed within {in_words(values.detection.weekday_around)}, "
        "so the judgments may have changed and not the ranking."
    )


def _coverage_note(values: Values) -> str:
    coverage = own(select(PREFIX + "judged_documents", job=values.job), values.label)
    now, then = (
        look_up(query, NUMBER, of=values.label)
        for query in (coverage, coverage.ago(values.comparison.yesterday))
    )
    return (
        f"judged@{values.k} is {now} (yesterday: {then}); where it is lower, documents that nobody has "
        "judged count as irrelevant and can be part of the drop: see the runbook."
    )

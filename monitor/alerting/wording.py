"""What alerts say: sentences around values that Prometheus fills in when it fires them."""

from monitor.alerting.promql import Selector
from monitor.alerting.values import Drop, Rise
from monitor.alerting.watched import COVERAGE, FALLING, Watched, baseline
from monitor.durations import in_words
from monitor.metrics import Metric, Need

NUMBER, PERCENTAGE = 'printf "%.3f"', "humanizePercentage"


def look_up(series: Selector, form: str, of: str | None = None, offset: int = 0) -> str:
    """The value of a series, of the alert's own value of the label `of`, and `offset` seconds ago.

    >>> from monitor.alerting.promql import select
    >>> look_up(select("a:b:c", job="x"), PERCENTAGE)
    '{{ with query `a:b:c{job="x"}` }}{{ . | first | value | humanizePercentage }}{{ else }}unknown{{ end }}'
    """
    text = str(series.where(f"{of}=%q") if of else series)
    text += f" offset {in_words(offset)}" if offset else ""
    found = f"printf `{text}` $labels.{of} | query" if of else f"query `{text}`"
    return f"{{{{ with {found} }}}}{{{{ . | first | value | {form} }}}}{{{{ else }}}}unknown{{{{ end }}}}"


def form(metric: Metric) -> str:
    """Whether its mean is a score or a share of the impressions."""
    return NUMBER if metric.need is Need.JUDGMENTS else PERCENTAGE


def now_and_baseline(watched: Watched, label: str) -> tuple[str, str]:
    """The means of the alert's variant and of the baseline."""
    shown = form(watched.metric)
    return (
        look_up(watched.mean, shown, of=label),
        look_up(baseline(watched.mean, watched.values), shown),
    )


def distance(metric: Metric) -> str:
    """How far the value is from its reference."""
    if metric in FALLING:
        return "{{ $value | humanizePercentage }} below"
    return '{{ $value | printf "%.1f" }} points above'


def certainty(watched: Watched) -> str:
    """Over what, of how many, and how surely."""
    comparison = watched.values.comparison
    return (
        f"Means over {in_words(comparison.range)}, of at least {comparison.min_samples} impressions each, "
        f"that are {comparison.min_zscore:g} standard errors apart or more."
    )


def coverage_note(watched: Watched) -> str:
    """Said of every judged mean: a change of coverage must not be taken for a change of quality."""
    if not watched.judged:
        return ""
    coverage, values = Watched(COVERAGE, watched.values, watched.level), watched.values
    if len(watched.level) == 1:
        mine, reference = (
            look_up(coverage.mean, NUMBER, offset=ago) for ago in (0, values.comparison.yesterday)
        )
        whose = "yesterday"
    else:
        mine, reference = now_and_baseline(coverage, watched.level[-1])
        whose = values.baseline
    return (
        f" judged@{values.k} is {mine} ({whose}: {reference}); where it is lower, documents that nobody has "
        f"judged count as irrelevant and can be part of the drop: see the runbook."
    )


def least(timing: Drop | Rise) -> float:
    """The smallest change that matters."""
    return timing.min_drop if isinstance(timing, Drop) else timing.min_rise

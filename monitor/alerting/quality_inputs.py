"""The first rules of the detector: what it reads of the monitor's series, and constants of the metrics."""

from collections.abc import Iterator
from dataclasses import dataclass

from monitor.alerting.detector import PREFIX
from monitor.alerting.means import Record
from monitor.alerting.promql import Selector, lines, select, summed_increase
from monitor.alerting.values import Drop, Rise, Values
from monitor.alerting.watched import COVERAGE, Watched
from monitor.durations import in_words
from monitor.export import catalogue
from monitor.metrics import METRICS
from monitor.stream.labels import OTHER, UNKNOWN

FRESH_SECONDS = 15 * 60
"""A process that started since then may still be reading the judgments of the past."""
CHANGES = "applied|regraded|withdrawn"


@dataclass(frozen=True, slots=True)
class QualityMetric:
    """A metric that the detector watches, and the alert on it."""

    name: str
    title: str
    alert: str
    size: Drop | Rise
    is_share: bool

    @property
    def constants(self) -> dict[str, float]:
        """What the rules know of it."""
        if isinstance(self.size, Drop):
            sizes = {
                "is_relative": 1.0,
                "warning_size": self.size.min_drop,
                "critical_size": self.size.critical_drop,
                "min_points": self.size.min_points,
            }
        else:
            sizes = {
                "is_relative": 0.0,
                "warning_size": self.size.min_rise,
                "critical_size": self.size.critical_rise,
                "min_points": 0.0,
            }
        return {**sizes, "is_share": float(self.is_share)}

    @property
    def rises(self) -> bool:
        """Whether more of it is worse."""
        return isinstance(self.size, Rise)


def quality_metrics(values: Values) -> list[QualityMetric]:
    """Those that are watched."""
    k = values.k
    return [
        QualityMetric("ndcg", f"NDCG@{k}", "VectorNDCGRegression", values.VectorNDCGRegression, False),
        QualityMetric("mrr", f"MRR@{k}", "VectorMRRRegression", values.VectorMRRRegression, False),
        QualityMetric("ctr", f"CTR@{k}", "VectorCTRRegression", values.VectorCTRRegression, True),
        QualityMetric(
            "abandonment", "Abandonment", "VectorAbandonmentRise", values.VectorAbandonmentRise, True
        ),
        QualityMetric(
            "empty",
            "The share of empty results",
            "VectorEmptyResultsRise",
            values.VectorEmptyResultsRise,
            True,
        ),
    ]


def input_records(values: Values) -> Iterator[Record]:
    """Impressions, value and squares of one evaluation interval; nothing while event time is behind."""
    yield from _event_time(values)
    yield from _judgment_changes(values)
    yield _judged_documents(values)
    for metric in quality_metrics(values):
        for name, constant in metric.constants.items():
            labels = {"job": values.job, "metric": metric.name}
            yield Record(PREFIX + name, f"vector({constant:g})", labels)
        watched = Watched(METRICS[metric.name], values)
        count, value, squares = (_increases(watched, raw) for raw in ("_count", "_sum", None))
        if metric.rises:
            # The share without: of (1 - x), and of (1 - x) squared.
            value, squares = f"({count} - {value})", f"({count} - 2 * {value} + {squares})"
        for name, expr in (("impressions", count), ("value", value), ("squares", squares)):
            labels = {"metric": metric.name}
            yield Record(PREFIX + name, lines(expr, f"unless on (job) {_behind(values)}"), labels)


def _increases(watched: Watched, suffix: str | None) -> str:
    """For each value of the label, and for the job: what came in one evaluation interval, smoothed."""
    values = watched.values
    series = watched.squares if suffix is None else watched.raw(suffix)
    seconds = values.detection.windows[0]
    share = f"{seconds / values.evaluation_interval:g}"
    whole = summed_increase(series, seconds, watched.by)
    if values.label is None:
        return f"({whole} / {share})"
    chosen = series.where(f'{values.label}!~"|{UNKNOWN}|{OTHER}"')
    by_label = summed_increase(chosen, seconds, ["job", values.label, *watched.by[1:]])
    return f"(({by_label} or {whole}) / {share})"


def _event_time(values: Values) -> Iterator[Record]:
    """How far it is behind the clock; a task that changes hands can be reported by two replicas."""
    watermark = select(catalogue.WATERMARK.name, job=values.job)
    yield Record(PREFIX + "event_time_delay", f"time() - min by (job) (max by (job, task) ({watermark}))")


def _behind(values: Values) -> str:
    """Jobs that are behind, or were within the range of the increases."""
    delay = select(PREFIX + "event_time_delay", job=values.job)
    seconds = values.detection.windows[0] + values.evaluation_interval
    return f"(max_over_time({delay}[{in_words(seconds)}]) > {values.detection.max_delay})"


def _judged_documents(values: Values) -> Record:
    """The judged share of the documents, for each value of the label and for the job."""
    coverage, seconds = Watched(COVERAGE, values), values.comparison.range
    value, count = (
        " or ".join(summed_increase(series, seconds, by) for series, by in _levels(coverage, suffix))
        for suffix in ("_sum", "_count")
    )
    return Record(PREFIX + "judged_documents", f"({value}) / (({count}) > 0)")


def _levels(watched: Watched, suffix: str) -> list[tuple[Selector, list[str]]]:
    """A family for each value of the label, and for the job."""
    label, series, others = watched.values.label, watched.raw(suffix), watched.by[1:]
    whole = (series, ["job", *others])
    if label is None:
        return [whole]
    return [(series.where(f'{label}!~"|{UNKNOWN}|{OTHER}"'), ["job", label, *others]), whole]


def _judgment_changes(values: Values) -> Iterator[Record]:
    """Changes of the judgment table in one evaluation interval, and the share that changed lately.

    Every replica reads all judgments: the most of them counts. At its start a process reads what is old.
    """
    settings, own = values.detection, {"job": values.job}
    seconds, share = settings.windows[0], settings.windows[0] / values.evaluation_interval
    changes = select(catalogue.EVENTS.name, **own, type="judgment").where(f'fate=~"{CHANGES}"')
    started = select("process_start_time_seconds", **own)
    yield Record(
        PREFIX + "judgment_changes",
        lines(
            f"max by (job) (sum by (job, instance) (increase({changes}[{in_words(seconds)}])) / {share:g}",
            f"and on (job, instance) time() - {started} > {FRESH_SECONDS})",
        ),
    )
    table = select(catalogue.JUDGMENTS.name, **own)
    changed = select(PREFIX + "judgment_changes", **own)
    span = in_words(settings.weekday_around - values.evaluation_interval // 2)
    yield Record(
        PREFIX + "judgments_changed_ratio",
        f"sum_over_time({changed}[{span}]) / (max by (job) ({table}) > 0)",
    )

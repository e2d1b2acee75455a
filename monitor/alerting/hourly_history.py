"""Reads hourly sums of the watched metrics from Prometheus: of the job, and of the busiest label values."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from monitor.alerting.calibration import HOURS_OF_DAY, HourlySums, hours_left_out
from monitor.alerting.evaluation_grid import Floats
from monitor.alerting.evaluator import Row
from monitor.alerting.prometheus_api import PrometheusApi, PrometheusError, RangeSamples
from monitor.alerting.promql import Selector, quoted, select, summed_increase
from monitor.alerting.quality_inputs import QualityMetric, quality_metrics
from monitor.alerting.values import Values
from monitor.alerting.watched import Watched
from monitor.durations import in_words
from monitor.export.series import le
from monitor.metrics import METRICS
from monitor.stream.labels import OTHER, UNKNOWN
from monitor.visible import one_line, short

HOUR, WEEK = 3600, 7 * 86400
MOST_VALUES = 20
"""The busiest values of the label, of which everything is read."""
MIN_DAYS = 3
"""Fewer days than these say nothing about noise."""
MEANS = '{__name__=~"vector_.+_avg_count"}'
NAMED = 8
"""How many names an error lists."""


@dataclass(slots=True)
class History:
    """What Prometheus knows about the last weeks."""

    start: int
    end: int
    metrics: list[QualityMetric]
    """Those that have series."""
    absent: list[QualityMetric]
    """Those that have none."""
    rows: dict[Row, HourlySums] = field(default_factory=dict)
    """For each metric the job, then the values of the label by traffic."""
    compared: int = 0
    """Label sets that the rules compare: the most in an hour of the last day."""
    label_values: list[str] = field(default_factory=list)
    """All values of the label by traffic; only the busiest are among the rows."""
    low: Floats | None = None
    """Impressions of the job with a low NDCG, by hour."""

    @property
    def days(self) -> int:
        """Days of which there are impressions of the job."""
        return max((sums.days for row, sums in self.rows.items() if row.value is None), default=0)


def read_history(api: PrometheusApi, values: Values, weeks: int, now: float) -> History:
    """Hourly sums up to the last full hour; an error says which value has to be set otherwise."""
    end = int(now) // HOUR * HOUR
    return _Reader(api, values, end - weeks * WEEK, end).read()


class _Reader:
    def __init__(self, api: PrometheusApi, values: Values, start: int, end: int) -> None:
        self.api, self.values = api, values
        self.start, self.end = start, end
        self.ends = range(start + HOUR, end + HOUR, HOUR)

    def read(self) -> History:
        families = self._families()
        wanted = [m for m in quality_metrics(self.values) if m.alert not in self.values.left_out]
        there = [m for m in quality_metrics(self.values) if METRICS[m.name].family + "_count" in families]
        metrics = [m for m in wanted if m in there]
        if not metrics:
            raise self._nothing(f"job {self._name(self.values.job)} has none of the watched metrics")
        for metric in metrics:
            self._check_labels(self._watched(metric))
        history = History(self.start, self.end, metrics, [m for m in wanted if m not in metrics])
        # The rules record a metric even if its alert is not wanted: it is compared as well.
        counts = {metric.name: dict(self._sums(metric, "_count")) for metric in there}
        busiest = history.label_values = self._busiest(counts.values())
        history.compared = _most_at_once(array for of in counts.values() for array in of.values())
        for metric in metrics:
            history.rows.update(self._rows(metric, counts[metric.name], busiest[:MOST_VALUES]))
        if history.days < MIN_DAYS:
            raise PrometheusError(
                f"job {self._name(self.values.job)} has impressions on {history.days} days of the last "
                f"{in_words(self.end - self.start)}, and noise needs at least {MIN_DAYS}; calibrate later"
            )
        if any(metric.name == "ndcg" for metric in metrics):
            history.low = self._low()
        return history

    def _watched(self, metric: QualityMetric) -> Watched:
        return Watched(METRICS[metric.name], self.values)

    # What there is.

    def _families(self) -> set[str]:
        job, span = self.values.job, (self.start, self.end)
        jobs = self.api.label_values("job", MEANS, *span)
        if not jobs:
            raise self._nothing("no job has series of ranking-monitor")
        if job not in jobs:
            raise PrometheusError(
                one_line(
                    f"{self.api.address} has no series of job {self._name(job)} in the last "
                    f"{in_words(self.end - self.start)}; set `job` in --values to one of: {_listed(jobs)}"
                )
            )
        selector = select("", job=job).where('__name__=~"vector_.+_avg_count"')
        return set(self.api.label_values("__name__", str(selector), *span))

    def _check_labels(self, watched: Watched) -> None:
        """That the cut-off, the maturity and the label of the values are among those of the series."""
        values, span = self.values, (self.start, self.end)
        series = select(watched.metric.family + "_count", job=values.job)
        for label in ("k", "maturity"):
            if label not in watched.labels:
                continue
            given, known = watched.labels[label], self.api.label_values(label, str(series), *span)
            if given not in known:
                raise PrometheusError(
                    one_line(
                        f'{series} has no {label}="{given}"; set `{label}` in --values to one of: '
                        f"{_listed(known)}"
                    )
                )
        if values.label is None:
            return
        names = self.api.label_names(str(watched.raw("_count")), *span)
        if values.label not in names:
            own = {"__name__", "job", "instance", "le", "k", "maturity"}
            others = [name for name in names if name not in own]
            choice = (
                f"one of: {_listed(others)}, or null" if others else "null: the series have none of their own"
            )
            raise PrometheusError(
                one_line(f'{series} has no label "{values.label}"; set `label` in --values to {choice}')
            )

    def _nothing(self, what: str) -> PrometheusError:
        return PrometheusError(
            one_line(
                f"{self.api.address}: {what} in the last {in_words(self.end - self.start)}; check that this "
                "Prometheus scrapes ranking-monitor, and has done so for some days"
            )
        )

    def _name(self, text: str) -> str:
        return f'"{short(text)}"'

    # What it was.

    def _rows(
        self, metric: QualityMetric, counts: dict[str | None, Floats], busiest: Sequence[str]
    ) -> Iterator[tuple[Row, HourlySums]]:
        value, squares = (dict(self._sums(metric, suffix, busiest)) for suffix in ("_sum", None))
        empty = np.full(len(self.ends), np.nan)
        for name in (None, *busiest):
            if name not in counts or not np.nansum(counts[name]):
                continue
            if name not in squares:
                raise self._nothing(f"{self._watched(metric).squares.name} has no series")
            known = (
                np.isfinite(counts[name]) & np.isfinite(value.get(name, empty)) & np.isfinite(squares[name])
            )
            left_out = ~known | hours_left_out(self.values.detection, self.ends, name)
            sums = HourlySums(counts[name], value.get(name, empty), squares[name]).without(left_out)
            if np.nansum(sums.count):
                yield Row(metric.name, name), sums

    def _sums(
        self, metric: QualityMetric, suffix: str | None, chosen: Sequence[str] | None = None
    ) -> Iterator[tuple[str | None, Floats]]:
        """By value of the label (all that are chosen, or all) and for the whole job (None)."""
        watched, label = self._watched(metric), self.values.label
        series = watched.squares if suffix is None else watched.raw(suffix)
        yield from ((None, array) for _, array in self._hourly(series, ["job"]))
        if label is None or chosen == ():
            return
        regex = "|".join(map(re.escape, chosen)) if chosen is not None else ".+"
        values = series.where(f"{label}=~{quoted(regex)}", f'{label}!~"{UNKNOWN}|{OTHER}"')
        yield from ((labels[label], array) for labels, array in self._hourly(values, [label]))

    def _low(self) -> Floats | None:
        ndcg, low = Watched(METRICS["ndcg"], self.values), self.values.VectorNDCGBudgetBurn.low
        series = ndcg.raw("_bucket").where(f'le="{le(low)}"')
        return next((array for _, array in self._hourly(series, ["job"])), None)

    def _hourly(self, series: Selector, by: list[str]) -> Iterator[tuple[dict[str, str], Floats]]:
        found = self.api.query_range(summed_increase(series, HOUR, by), self.ends[0], self.ends[-1], HOUR)
        for samples in found:
            yield samples.labels, self._array(samples)

    def _array(self, samples: RangeSamples) -> Floats:
        return np.array([samples.values.get(end, np.nan) for end in self.ends])

    def _busiest(self, counts: Iterable[dict[str | None, Floats]]) -> list[str]:
        """Values of the label by traffic."""
        totals: dict[str, float] = {}
        for of in counts:
            for value, array in of.items():
                if value is not None:
                    totals[value] = totals.get(value, 0.0) + float(np.nansum(array))
        return sorted(totals, key=lambda value: (-totals[value], value))


def _most_at_once(counts: Iterable[Floats]) -> int:
    return int(np.isfinite([array[-HOURS_OF_DAY:] for array in counts]).sum(axis=0).max())


def _listed(names: Sequence[str]) -> str:
    listed = ", ".join(short(name) for name in sorted(names)[:NAMED])
    return listed + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")

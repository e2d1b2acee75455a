"""Ranking metrics: one registry, vectorised kernels, one file per family."""

from monitor.metrics import behaviour, binary, cascade, dedup, diversity, graded, impression
from monitor.metrics.batch import Batch, Bools, Floats, Floats32, Ints, judged_batch
from monitor.metrics.parameters import Interval, Parameter, Value
from monitor.metrics.registry import (
    ALIASES,
    METRICS,
    UNIT_BUCKETS,
    Measure,
    Metric,
    Need,
    Reads,
    metric,
    named,
    parse,
)
from monitor.metrics.spec import MetricError, UnknownMetric

__all__ = [
    "ALIASES",
    "METRICS",
    "UNIT_BUCKETS",
    "Batch",
    "Bools",
    "Floats",
    "Floats32",
    "Interval",
    "Ints",
    "Measure",
    "Metric",
    "MetricError",
    "Need",
    "Parameter",
    "Reads",
    "UnknownMetric",
    "Value",
    "behaviour",
    "binary",
    "cascade",
    "dedup",
    "diversity",
    "graded",
    "impression",
    "judged_batch",
    "metric",
    "named",
    "parse",
]

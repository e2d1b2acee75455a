"""A backfill without files and blocks: events by hand, and the samples of a series by time."""

import json
from collections.abc import Sequence

import numpy as np

from monitor.backfill.event_files import LineBatch
from monitor.backfill.grid import Grid
from monitor.backfill.sampling import RowMaker, SampledSpan, Sampler, SampleRow
from monitor.backfill.stepping import Step, Stepper
from monitor.config import Config
from monitor.events import times_of
from monitor.sources.jsonl import Line
from tests.unit.stream.timeline import HOUR, Event

LABELS = {"job": "search", "instance": "backfill"}


def batch(*events: Event | bytes) -> LineBatch:
    values = [event if isinstance(event, bytes) else json.dumps(event).encode() for event in events]
    return LineBatch([Line(value, i) for i, value in enumerate(values)], np.array(times_of(values)))


def steps(
    config: Config, *batches: LineBatch, step: int = 60, until: float = 100_000, since: float = -np.inf
) -> list[Step]:
    """Every step of a backfill, on a grid that ends at a time after the hour."""
    stepper = Stepper(config, Grid.ending(HOUR + until, step), HOUR + since)
    return [*(each for one in batches for each in stepper.take(one)), *stepper.finish()]


def rows(config: Config, taken: Sequence[Step], since: float = -np.inf) -> list[SampleRow]:
    maker = RowMaker(config.labels, LABELS)
    return [maker.row(step) for step in taken if step.at >= HOUR + since]


def spans(config: Config, taken: Sequence[Step], since: float = -np.inf) -> list[SampledSpan]:
    sampler, found = Sampler(), rows(config, taken, since)
    if found:
        sampler.begin(found[0])
    return [*(span for row in found for span in sampler.take(row)), *sampler.finish()]


def samples(found: Sequence[SampledSpan], name: str, **labels: str) -> dict[int, float]:
    """The samples of one series, by seconds after the hour."""
    return {
        int(at - HOUR): float(value)
        for span in found
        for series in span.series
        if series.name == name and series.labels.items() >= labels.items()
        for at, value in zip(series.times.tolist(), series.values.tolist(), strict=True)
    }

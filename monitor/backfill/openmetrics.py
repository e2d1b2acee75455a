"""Samples as OpenMetrics text, as `promtool tsdb create-blocks-from openmetrics` reads it."""

from collections.abc import Iterable
from operator import add
from typing import TextIO

import numpy as np

from monitor.backfill.sampling import SampledSeries
from monitor.export.text import END_OF_OPENMETRICS, beginning
from monitor.metrics import Floats, Ints

MAX_EXACT = 2.0**53
"""Whole numbers up to this are exact."""


def write_openmetrics(series: Iterable[SampledSeries], file: TextIO) -> int:
    """Write series after series, each by time; how many samples these are.

    Types are left out: blocks have none, and a histogram would have to be written time by time.
    """
    samples = 0
    ends: dict[tuple[int, int], list[str]] = {}
    for one in series:
        if not len(one.times):
            continue
        span = (int(one.times[0]), len(one.times))
        if span not in ends:
            ends[span] = _ends(one.times)
        # A line begins with the end of the one before it.
        begin = beginning(one.name, one.labels).removeprefix("\n")
        file.write(begin)
        file.write(begin.join(map(add, _numbers(one.values), ends[span])))
        samples += len(one.times)
    file.write(END_OF_OPENMETRICS)
    return samples


def _ends(times: Ints) -> list[str]:
    return [f" {time}\n" for time in times.tolist()]


def _numbers(values: Floats) -> list[str]:
    """Numbers as short as they can be.

    >>> _numbers(np.array([0.0, 12.0])), _numbers(np.array([0.1, 2.0, np.inf]))
    (['0', '12'], ['0.1', '2.0', 'inf'])
    """
    if np.all(np.abs(values) <= MAX_EXACT) and np.all(values == np.floor(values)):
        return [str(value) for value in values.astype(np.int64).tolist()]
    return [repr(value) for value in values.tolist()]

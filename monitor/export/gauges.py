"""The window gauges: each family's mean and sample count in closed windows, and where the windows begin."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress, count

import numpy as np

from monitor.durations import in_words
from monitor.export.beginnings import Beginnings, Labels
from monitor.export.catalogue import WINDOW_START, Family, window_families
from monitor.export.text import Filled, numbers
from monitor.stream.plan import Column
from monitor.stream.windows import Window


def window_gauges(
    windows: Iterable[Window],
    label_sets: Sequence[tuple[str, ...]],
    beginnings: Beginnings,
    *,
    timestamps: bool = False,
) -> Iterator[Filled]:
    """The gauges of all that has samples, each with the time its window ends if `timestamps` are wanted.

    Only the label sets that the caller knows count: one that came up after he looked is left for next time.
    """
    gathered = _Gathered()
    for window in windows:
        at = f" {window.end}" if timestamps else ""
        size = ("window", in_words(window.size))
        for column, counts, means, samples in _averaged(window, len(label_sets)):
            if any(counts):
                own: Labels = (*column.labels, size)
                families = window_families(column, beginnings.label_names)
                for family, texts in zip(families, (means, samples), strict=True):
                    lines = beginnings.of(family, own, label_sets)
                    gathered.add(family, compress(lines, counts), compress(texts, counts), at)
        begin = beginnings.one(WINDOW_START, (size, ("delay", in_words(window.stage.delay))))
        gathered.add(WINDOW_START, begin, numbers(np.array([window.start])), at)
    return gathered.collect()


def _averaged(window: Window, label_sets: int) -> Iterator[tuple[Column, list[int], list[str], list[str]]]:
    """Each column that has a mean: how many of each label set, their means and again how many, as texts."""
    columns = [i for i, column in enumerate(window.stage.columns) if column.averaged]
    counts = window.cells.counts[:label_sets, columns].T
    means = numbers(window.cells.sums[:label_sets, columns].T / np.maximum(counts, 1))
    samples = numbers(counts.astype(np.float64))
    for first, i, here in zip(count(step=counts.shape[1]), columns, counts.tolist(), strict=False):
        these = slice(first, first + len(here))
        yield window.stage.columns[i], here, means[these], samples[these]


class _Gathered:
    """Numbers by family and line: the formats want each of them in one piece."""

    def __init__(self) -> None:
        self._families: dict[str, tuple[Family, dict[str, list[str]]]] = {}

    def add(self, family: Family, lines: Iterable[str], texts: Iterable[str], at: str) -> None:
        series = self._families.setdefault(family.name, (family, {}))[1]
        for line, text in zip(lines, texts, strict=True):
            series.setdefault(line, []).append(text + at)

    def collect(self) -> Iterator[Filled]:
        for family, series in self._families.values():
            lines = [line for line, texts in series.items() for _ in texts]
            yield Filled(family, lines, list(chain.from_iterable(series.values())))

"""The window gauges: each family's mean and sample count in closed windows, and where the windows begin."""

from collections.abc import Iterable, Iterator, Sequence

from prometheus_client import Metric
from prometheus_client.samples import Sample

from monitor.durations import in_words
from monitor.export.catalogue import WINDOW_START, Family, window_families
from monitor.export.series import series_of
from monitor.stream.windows import Window

Key = tuple[tuple[str, str], ...]


def window_metrics(
    windows: Iterable[Window],
    label_names: tuple[str, ...],
    label_sets: Sequence[tuple[str, ...]],
    *,
    timestamps: bool = False,
) -> Iterator[Metric]:
    """The gauges of all that has samples, each with the time its window ends if `timestamps` are wanted."""
    gathered = _Gathered()
    for window in windows:
        at = window.end if timestamps else None
        size = in_words(window.size)
        families = {c: window_families(c, label_names) for c in window.stage.columns if c.averaged}
        for one in series_of(window, len(label_sets)):
            if one.column in families:
                mean, samples = families[one.column]
                own = zip(label_names, label_sets[one.label_set], strict=True)
                labels = (*one.column.labels, *own, ("window", size))
                gathered.add(mean, labels, one.mean, at)
                gathered.add(samples, labels, one.samples, at)
        begin = (("window", size), ("delay", in_words(window.stage.delay)))
        gathered.add(WINDOW_START, begin, window.start, at)
    return gathered.collect()


class _Gathered:
    """Samples by family and series: the formats want each of them in one piece."""

    def __init__(self) -> None:
        self._families: dict[str, tuple[Family, dict[Key, list[Sample]]]] = {}

    def add(self, family: Family, labels: Key, value: float, at: float | None) -> None:
        series = self._families.setdefault(family.name, (family, {}))[1]
        series.setdefault(labels, []).append(Sample(family.name, dict(labels), value, at))

    def collect(self) -> Iterator[Metric]:
        for family, series in self._families.values():
            metric = Metric(family.name, family.help, family.kind.value)
            metric.samples = [sample for samples in series.values() for sample in samples]
            yield metric

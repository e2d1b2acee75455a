"""The text that promtool reads: exact bytes, and the same numbers again when it is parsed."""

import io

import numpy as np
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from monitor.backfill.openmetrics import write_openmetrics
from monitor.backfill.sampling import SampledSeries

TIMES = np.array([1_700_000_040, 1_700_000_100])


def text(*series: SampledSeries) -> tuple[int, str]:
    file = io.StringIO()
    return write_openmetrics(series, file), file.getvalue()


def test_each_series_is_written_by_time_with_its_labels_escaped():
    labels = {"variant": 'say "hi"\n', "job": "search"}
    assert text(
        SampledSeries("a_total", labels, TIMES, np.array([0.0, 12.0])),
        SampledSeries("job:a:mean", {}, TIMES[1:], np.array([0.25])),
    ) == (
        3,
        (
            'a_total{job="search",variant="say \\"hi\\"\\n"} 0 1700000040\n'
            'a_total{job="search",variant="say \\"hi\\"\\n"} 12 1700000100\n'
            "job:a:mean 0.25 1700000100\n"
            "# EOF\n"
        ),
    )


def test_a_series_without_samples_is_left_out():
    assert text(SampledSeries("a", {}, TIMES[:0], np.empty(0))) == (0, "# EOF\n")


def test_numbers_come_back_as_they_were():
    values = np.array([0.1 + 0.2, 1e300, 5e-324, 2.0**53, 123456789.125])
    times = np.arange(5) + 1_700_000_000
    _, written = text(SampledSeries("a", {}, times, values))
    (family,) = text_string_to_metric_families(written)
    assert [sample.value for sample in family.samples] == values.tolist()


def test_large_whole_numbers_are_exact():
    values = np.array([2.0**53, 2.0**60, 1e22])
    _, written = text(SampledSeries("a", {}, np.arange(3) + 1_700_000_000, values))
    assert [float(line.split()[1]) for line in written.splitlines()[:-1]] == values.tolist()

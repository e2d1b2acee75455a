"""Sampling: series that are born at 0 and never go down, in spans that follow each other."""

import numpy as np
import pytest

from monitor.backfill import sampling
from tests.unit.backfill.steps import batch, samples, spans, steps
from tests.unit.stream.timeline import HOUR, impression, settings

CONFIG = settings(labels=["variant"], lateness_seconds=0)
"""Without lateness an impression is counted in the step in which it is shown."""


def shown(name: str, at: float, variant: str):
    return impression(name, at, labels={"variant": variant})


TRAFFIC = batch(
    shown("a1", 10, "a"),
    shown("a2", 70, "a"),
    shown("b1", 130, "b"),
    shown("a3", 190, "a"),
    shown("b2", 250, "b"),
)


def counts(found, variant: str) -> dict[int, float]:
    return samples(found, "vector_results_count", variant=variant)


def test_every_label_set_has_its_own_samples_and_is_born_at_0_one_step_before_its_first_increase():
    found = spans(CONFIG, steps(CONFIG, TRAFFIC, until=300))
    assert counts(found, "a") == {0: 0, 60: 1, 120: 2, 180: 2, 240: 3, 300: 3}
    assert counts(found, "b") == {120: 0, 180: 1, 240: 1, 300: 2}


def test_all_series_of_a_histogram_are_born_together_those_that_stay_at_0_too():
    (span,) = spans(CONFIG, steps(CONFIG, TRAFFIC, until=300))
    of_b = [
        series
        for series in span.series
        if series.labels.get("variant") == "b" and series.name.startswith("vector_ndcg_avg_")
    ]
    assert len(of_b) == 2 * 14  # maturities; 12 buckets, count and sum
    assert {(series.times[0], series.values[0]) for series in of_b} == {(HOUR + 120, 0.0)}


def test_the_books_are_there_from_the_first_step_on():
    found = spans(CONFIG, steps(CONFIG, TRAFFIC, until=300))
    late = samples(found, "ranking_monitor_events_total", type="impression", fate="late")
    assert late == dict.fromkeys(range(0, 301, 60), 0.0)


def test_no_series_ever_goes_down():
    for span in spans(CONFIG, steps(CONFIG, TRAFFIC)):
        for series in span.series:
            assert np.all(np.diff(series.values) >= 0), series


def test_every_series_has_the_labels_of_the_job():
    (span,) = spans(CONFIG, steps(CONFIG, TRAFFIC))
    assert {(each.labels["job"], each.labels["instance"]) for each in span.series} == {("search", "backfill")}
    assert len({(each.name, *sorted(each.labels.items())) for each in span.series}) == len(span.series)


@pytest.mark.parametrize("rows", [1, 2, 3])
def test_a_series_that_is_born_with_the_first_step_of_a_span_has_its_0_in_the_span_before(monkeypatch, rows):
    whole = spans(CONFIG, steps(CONFIG, TRAFFIC, until=300))
    # All series of a row or two are too many: spans are as short as can be.
    monkeypatch.setattr(sampling, "MAX_SAMPLES", rows * 150)
    parts = spans(CONFIG, steps(CONFIG, TRAFFIC, until=300))
    assert len(parts) > 1
    assert [at for span in parts for at in span.times.tolist()] == [HOUR + at for at in range(0, 301, 60)]
    for variant in "ab":
        assert counts(parts, variant) == counts(whole, variant)


def test_a_span_ends_where_a_block_of_prometheus_does():
    begin = sampling.SPAN_SECONDS - HOUR % sampling.SPAN_SECONDS
    traffic = batch(shown("a", begin - 100, "a"), shown("b", begin + 100, "a"))
    first, second = spans(CONFIG, steps(CONFIG, traffic))
    assert second.times[0] == HOUR + begin
    assert first.times[-1] == HOUR + begin - 60


def test_what_was_counted_before_the_samples_begin_is_taken_off():
    found = spans(CONFIG, steps(CONFIG, TRAFFIC, until=300), since=115)
    assert counts(found, "a") == {120: 0, 180: 0, 240: 1, 300: 1}
    assert counts(found, "b") == {120: 0, 180: 1, 240: 1, 300: 2}

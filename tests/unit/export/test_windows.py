"""Closed windows as dicts, JSON lines and OpenMetrics."""

import json
import math
from statistics import stdev
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from monitor.export.windows import as_dict, to_json_lines, to_openmetrics
from monitor.stream.plan import make_plan
from monitor.stream.windows import Window
from tests.unit.export.snapshots import SMALL, make_window, stage_of

NAMES = ("variant",)
SETS = [("control",), ("treatment",)]
JUDGED = stage_of(make_plan(SMALL), 60.0)
CLICKS = stage_of(make_plan(SMALL), 300.0)
START = 1_700_000_040.0


def window(**changes: Any) -> Window:
    return make_window(JUDGED, START, {1: {"ndcg@10": [0.25, 0.5, 1.0]}}, **changes)


def test_a_window_says_when_it_was_and_for_which_delay() -> None:
    told = as_dict(window(), NAMES, SETS)
    del told["series"]
    assert told == {
        "window": "1m",
        "start": START,
        "end": START + 60,
        "start_time": "2023-11-14T22:14:00Z",
        "end_time": "2023-11-14T22:15:00Z",
        "delay": "1m",
        "maturity": "1m",
        "partial": False,
    }


def test_a_series_has_its_labels_samples_mean_deviation_and_buckets() -> None:
    (series,) = as_dict(window(), NAMES, SETS)["series"]
    buckets = series.pop("buckets")
    assert series.pop("mean") == pytest.approx(1.75 / 3)
    assert series.pop("stddev") == pytest.approx(stdev([0.25, 0.5, 1.0]))
    assert series == {
        "metric": "ndcg",
        "family": "vector_ndcg_avg",
        "k": "10",
        "maturity": "1m",
        "labels": {"variant": "treatment"},
        "samples": 3,
    }
    assert next(iter(buckets)) == "0.0"
    assert [buckets[le] for le in ("0.2", "0.3", "0.5", "1.0", "+Inf")] == [0, 1, 2, 3, 3]


def test_a_single_sample_has_no_deviation() -> None:
    told = as_dict(make_window(JUDGED, START, {0: {"ndcg@10": [0.5]}}), NAMES, SETS)
    assert told["series"][0]["stddev"] is None


def test_click_windows_have_no_maturity_and_metrics_without_k_say_so() -> None:
    told = as_dict(make_window(CLICKS, START, {0: {"ctr@3": [1.0], "dwell_seconds": [40.0]}}), NAMES, SETS)
    assert told["maturity"] is None
    assert {series["metric"]: series["k"] for series in told["series"]} == {"ctr": "3", "dwell_seconds": None}
    dwell = told["series"][1]["buckets"]
    assert list(dwell)[-2:] == ["1800.0", "+Inf"]


def test_what_overflows_is_null_for_json_has_no_infinity() -> None:
    stage = stage_of(make_plan(SMALL), 0.0)
    with pytest.warns(RuntimeWarning, match="overflow"):
        huge = make_window(stage, START, {0: {"latency": [1e200, 1e200]}})
    (line,) = to_json_lines([huge], NAMES, SETS)
    (series,) = json.loads(line)["series"]
    assert series["mean"] == 1e200
    assert series["stddev"] is None


def test_json_lines_are_one_object_a_line_oldest_first() -> None:
    windows = [
        window(),
        make_window(CLICKS, START - 60, {0: {"ctr@3": [1.0]}}),
        window(partial=True, size=30.0),
    ]
    lines = list(to_json_lines(windows, NAMES, SETS))
    assert all(line.count("\n") == 1 and line.endswith("\n") for line in lines)
    told = [json.loads(line) for line in lines]
    assert [each["end"] for each in told] == [START, START + 30, START + 60]
    assert [each["partial"] for each in told] == [False, True, False]


def test_openmetrics_has_the_window_end_as_the_time_of_each_sample() -> None:
    windows = [
        make_window(JUDGED, START + 60, {0: {"ndcg@10": [1.0]}, 1: {"ndcg@10": [0.0]}}),
        make_window(JUDGED, START, {0: {"ndcg@10": [0.5, 0.7]}}),
        make_window(JUDGED, START - 60, {0: {"ndcg@10": [0.1]}}, partial=True),
    ]
    text = to_openmetrics(windows, NAMES, SETS)
    assert text.endswith("# EOF\n")
    parsed = text_string_to_metric_families(text)  # type: ignore[no-untyped-call]
    families = {family.name: family for family in parsed}
    means = [
        (s.labels["variant"], s.value, float(s.timestamp or math.nan))
        for s in families["vector_window_ndcg_avg"].samples
    ]
    assert means == [
        ("control", 0.6, START + 60),
        ("control", 1.0, START + 120),
        ("treatment", 0.0, START + 120),
    ]
    assert [s.value for s in families["vector_window_ndcg_samples"].samples] == [2, 1, 1]
    assert [s.value for s in families["vector_window_start_seconds"].samples] == [START, START + 60]


def test_openmetrics_of_no_windows_is_empty_and_complete() -> None:
    assert to_openmetrics([], NAMES, []) == "# EOF\n"

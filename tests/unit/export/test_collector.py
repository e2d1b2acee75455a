"""What a snapshot becomes, seen as Prometheus sees it."""

import random
from collections.abc import Sequence
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Histogram, Metric, generate_latest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families

from monitor.config import Config
from monitor.export.collector import ProcessStatus
from monitor.export.render import Exposition
from monitor.metrics.registry import UNIT_BUCKETS
from monitor.stream.cells import Cells
from monitor.stream.plan import make_plan
from monitor.stream.snapshot import Snapshot
from tests.unit.export.snapshots import SMALL, busy_snapshot, make_snapshot, make_window, observe, stage_of

STATUS = ProcessStatus(
    "1.2.3",
    "c0ffee",
    ready=True,
    lag={("search-events", 0): 12},
    skipped={("search-events", 0): 3, ("search-events", 1): 0},
)


PROMETHEUS = (
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
    "text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
)


def exported(snapshot: Snapshot) -> list[Metric]:
    body, _ = Exposition().render(snapshot, STATUS)
    return list(text_string_to_metric_families(body.decode()))


def samples(snapshot: Snapshot, name: str) -> list[tuple[dict[str, str], float]]:
    return [
        (sample.labels, sample.value)
        for metric in exported(snapshot)
        for sample in metric.samples
        if sample.name == name
    ]


def one(snapshot: Snapshot, name: str, **labels: str) -> float:
    found = [value for own, value in samples(snapshot, name) if labels.items() <= own.items()]
    assert len(found) == 1, f"{len(found)} series of {name} with {labels}"
    return found[0]


def observed(values: Sequence[float], config: Config = SMALL, measure: str = "ndcg@10") -> Snapshot:
    plan = make_plan(config)
    cells = observe(Cells(plan.columns), plan.columns, 0, {measure: values})
    return make_snapshot(config, [("control",)], cells=cells)


def test_the_bounds_of_a_unit_family_are_exactly_tenths() -> None:
    bounds = [labels["le"] for labels, _ in samples(observed([0.5]), "vector_ndcg_avg_bucket")]
    assert bounds == [f"0.{i}" for i in range(10)] + ["1.0", "+Inf"]


def test_a_histogram_says_the_same_as_prometheus_clients_own() -> None:
    rng = random.Random(7)
    values = [0.0, 0.1, 0.2, 0.30000000000000004, 1.0, *(rng.random() for _ in range(200))]
    registry = CollectorRegistry()
    theirs = Histogram(
        "vector_ndcg_avg",
        "Normalised discounted cumulative gain: how near the order is to the best possible one.",
        ["k", "maturity", "variant"],
        buckets=UNIT_BUCKETS,
        registry=registry,
    ).labels("10", "1m", "control")
    for value in values:
        theirs.observe(value)
    expected = lines_of(generate_latest(registry), "vector_ndcg_avg")
    body, _ = Exposition().render(observed(values), STATUS)
    ours = lines_of(body, "vector_ndcg_avg")
    assert ours[:-1] == expected[:-1]
    assert float(ours[-1].split()[-1]) == pytest.approx(float(expected[-1].split()[-1]))


def lines_of(body: bytes, family: str) -> list[str]:
    """The lines of a family in their order, its sum last."""
    lines = [line for line in body.decode().splitlines() if f"{family}" in line and "_created" not in line]
    lines = [line for line in lines if not line.startswith("# ") or line.split()[2] == family]
    return sorted(lines, key=lambda line: "_sum" in line)


def test_buckets_are_cumulated_and_end_in_the_count() -> None:
    snapshot = observed([0.0, 0.1, 0.25, 1.0])
    counts = [value for _, value in samples(snapshot, "vector_ndcg_avg_bucket")]
    assert counts == [1, 2, 2, 3, 3, 3, 3, 3, 3, 3, 4, 4]
    assert one(snapshot, "vector_ndcg_avg_count") == 4
    assert one(snapshot, "vector_ndcg_avg_sum") == pytest.approx(1.35)
    assert one(snapshot, "vector_ndcg_squares_total") == pytest.approx(1.0725)


def test_a_family_with_buckets_of_its_own_ends_after_its_own_last_bound() -> None:
    snapshot = observed([0.03, 60.0], measure="latency")
    buckets = samples(snapshot, "vector_search_latency_seconds_bucket")
    assert [labels["le"] for labels, _ in buckets][-3:] == ["5.0", "10.0", "+Inf"]
    assert [value for _, value in buckets][-2:] == [1, 2]


def test_a_series_has_k_maturity_and_the_configured_labels() -> None:
    labels, _ = samples(observed([0.5]), "vector_ndcg_avg_count")[0]
    assert labels == {"k": "10", "maturity": "1m", "variant": "control"}


def test_columns_that_share_family_and_labels_are_one_series() -> None:
    config = Config.model_validate({"judgments": {"maturities": [60, 3600]}})
    plan = make_plan(config)
    delays = [i for i, column in enumerate(plan.columns) if column.measure.name == "label_delay"]
    assert len(delays) == 2
    snapshot = observed([2.0, 30.0], config, "label_delay")
    assert one(snapshot, "vector_label_delay_seconds_count") == 4
    assert one(snapshot, "vector_label_delay_seconds_sum") == 64.0


def test_a_label_set_that_nothing_was_observed_for_is_exported_at_zero_in_every_family() -> None:
    snapshot = busy_snapshot()
    new = {"variant": snapshot.label_sets[1][0]}
    families = {column.family for column in snapshot.columns}
    for family in families:
        assert one(snapshot, f"{family}_count", **new) == 0
        assert one(snapshot, f"{family}_sum", **new) == 0
    assert one(snapshot, "vector_ndcg_squares_total", **new) == 0
    assert one(snapshot, "vector_position_clicks_total", position="2", **new) == 0


def test_without_configured_labels_there_is_one_series_of_each_column() -> None:
    config = Config.model_validate({"labels": [], "metrics": ["ndcg@10"]})
    snapshot = make_snapshot(config, [()])
    assert samples(snapshot, "vector_ndcg_avg_count") == [
        ({"k": "10", "maturity": maturity}, 0) for maturity in ("1m", "1h")
    ]


def test_before_the_first_impression_the_books_are_there_at_zero() -> None:
    snapshot = make_snapshot()
    assert samples(snapshot, "vector_ndcg_avg_count") == []
    assert one(snapshot, "ranking_monitor_records_total", topic="search-events") == 0
    assert one(snapshot, "ranking_monitor_rejected_total", reason="not_json") == 0
    assert one(snapshot, "ranking_monitor_events_total", type="click", fate="unmatched") == 0


def test_a_window_shows_its_mean_and_samples_only_where_it_has_any() -> None:
    snapshot = busy_snapshot()
    labels = {"k": "10", "maturity": "1m", "variant": "control", "window": "1m"}
    assert samples(snapshot, "vector_window_ndcg_avg") == [(labels, 0.625)]
    assert samples(snapshot, "vector_window_ndcg_samples") == [(labels, 2)]
    assert samples(snapshot, "vector_window_start_seconds") == [
        ({"window": "1m", "delay": "1m"}, 1_700_000_040.0)
    ]


def test_windows_of_all_sizes_stand_together_in_one_family() -> None:
    judged = stage_of(make_plan(SMALL), 60.0)
    windows = [make_window(judged, 600.0, {0: {"ndcg@10": [0.5]}}, size=size) for size in (60.0, 300.0)]
    snapshot = make_snapshot(SMALL, [("control",)], windows=windows)
    assert [labels["window"] for labels, _ in samples(snapshot, "vector_window_ndcg_avg")] == ["1m", "5m"]


def test_a_label_set_that_came_up_after_the_window_closed_is_no_trouble() -> None:
    judged = stage_of(make_plan(SMALL), 60.0)
    window = make_window(judged, 600.0, {0: {"ndcg@10": [0.5]}, 1: {"ndcg@10": [0.7]}})
    snapshot = make_snapshot(SMALL, [("control",)], windows=[window])
    assert len(samples(snapshot, "vector_window_ndcg_avg")) == 1


def test_times_that_are_not_finite_are_not_exported() -> None:
    snapshot = busy_snapshot()
    assert samples(snapshot, "ranking_monitor_watermark_timestamp_seconds") == [
        ({"task": "0"}, 1_700_000_160.5)
    ]
    assert samples(snapshot, "ranking_monitor_newest_event_timestamp_seconds") == [
        ({"topic": "search-events", "partition": "0"}, 1_700_000_220.5)
    ]


def test_the_process_tells_its_lag_readiness_and_versions() -> None:
    snapshot = make_snapshot()
    assert one(snapshot, "ranking_monitor_consumer_lag", topic="search-events", partition="0") == 12
    assert one(snapshot, "ranking_monitor_ready") == 1
    assert one(snapshot, "ranking_monitor_build_info", version="1.2.3") == 1
    assert one(snapshot, "ranking_monitor_config_info", hash="c0ffee") == 1


def test_skipped_records_are_counted_by_partition_from_zero_on() -> None:
    assert samples(make_snapshot(), "ranking_monitor_skipped_records_total") == [
        ({"topic": "search-events", "partition": "0"}, 3),
        ({"topic": "search-events", "partition": "1"}, 0),
    ]


def test_decision_delays_are_a_histogram_by_delay() -> None:
    snapshot = busy_snapshot()
    assert one(snapshot, "ranking_monitor_decision_delay_seconds_bucket", delay="1m", le="5.0") == 2
    assert one(snapshot, "ranking_monitor_decision_delay_seconds_count", delay="1m") == 3


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("", "text/plain; version=0.0.4; charset=utf-8"),
        ("*/*", "text/plain; version=0.0.4; charset=utf-8"),
        ("text/plain;version=0.0.4;q=0.5", "text/plain; version=0.0.4; charset=utf-8"),
        (
            "text/plain;version=1.0.0;escaping=allow-utf-8",
            "text/plain; version=1.0.0; charset=utf-8; escaping=allow-utf-8",
        ),
        (
            PROMETHEUS,
            "application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=underscores",
        ),
        ("application/openmetrics-text;version=nonsense", "text/plain; version=0.0.4; charset=utf-8"),
        ("text/plain;version=1.x", "text/plain; version=0.0.4; charset=utf-8"),
    ],
)
def test_the_accept_header_chooses_the_format(accept: str, content_type: str) -> None:
    body, given = Exposition().render(busy_snapshot(), STATUS, accept)
    assert given == content_type
    assert body.endswith(b"# EOF\n") == content_type.startswith("application/openmetrics-text")


def test_openmetrics_is_what_its_parser_takes_and_says_the_same_as_text() -> None:
    snapshot = busy_snapshot()
    body, _ = Exposition().render(snapshot, STATUS, "application/openmetrics-text; version=1.0.0")
    parsed: dict[tuple[str, Any], float] = {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in parse_openmetrics(body.decode())  # type: ignore[no-untyped-call]
        for sample in family.samples
    }
    for metric in exported(snapshot):
        for sample in metric.samples:
            if sample.name.startswith(("vector_", "ranking_monitor_")):
                assert parsed[sample.name, tuple(sorted(sample.labels.items()))] == sample.value


def test_a_scrape_has_the_process_and_no_creation_times() -> None:
    body, _ = Exposition().render(busy_snapshot(), STATUS)
    text = body.decode()
    assert "\nprocess_start_time_seconds " in text
    assert "\npython_info{" in text
    assert "\npython_gc_objects_collected_total{" in text
    assert "_created" not in text

"""Recorded sessions: whatever is in the file belongs, and the numbers are the daemon's."""

import gzip
import json
import math
import random

import pytest

from monitor.evaluation.files.inputs import InputError
from monitor.evaluation.latency import Latency
from monitor.evaluation.sessions import SESSION_MEASURES, Mean, evaluate_sessions
from monitor.metrics import MetricError
from tests.unit.simulate import runs
from tests.unit.stream.timeline import (
    Timeline,
    click,
    dwell,
    impression,
    judgment,
    outcome,
)

DAY = 86_400
EVENTS = [
    impression("i", 0, "abcde", session_id="s", latency_seconds=0.1),
    click("i", 4, "b"),
    dwell("i", 50, 45, "b"),
    click("i", 60, "d", dwell_seconds=5),
    outcome("i", 70, outcome="successful", max_scroll_position=5),
    impression("j", 100, "ab", session_id="s", latency_seconds=0.3),
    outcome("j", 130, outcome="unsuccessful"),
    impression("k", 200, "a"),
    click("k", 210, "a"),
    impression("l", 300, ""),
]
MEANS = {
    "ctr@1": (1 / 4, 4),
    "ctr@3": (2 / 4, 4),
    "ctr@10": (2 / 4, 4),
    "position_ctr@1": (1 / 3, 3),
    "position_ctr@2": (1 / 2, 2),
    "position_ctr@3": (0, 1),
    "position_ctr@10": (None, 0),
    "click_mrr@10": ((1 / 2 + 1) / 4, 4),
    "abandonment": (2 / 4, 4),
    "outcome_success": (1 / 2, 2),
    "dwell_seconds": (45, 1),
    "satisfied": (1 / 4, 4),
    "click_depth": ((4 + 1) / 2, 2),
    "scroll_depth": (5, 1),
}


@pytest.mark.parametrize("name", MEANS)
def test_a_mean_is_over_the_impressions_that_have_a_value(name):
    assert evaluate_sessions(EVENTS).means[name] == MEANS[name]


def test_the_means_alone_are_an_aggregate_without_nan():
    aggregate = evaluate_sessions(EVENTS).aggregate()
    assert list(aggregate) == list(SESSION_MEASURES)
    assert aggregate["position_ctr@10"] is None
    assert not any(value is not None and math.isnan(value) for value in aggregate.values())


def test_impressions_of_one_session_id_are_one_session_and_those_without_are_their_own():
    found = evaluate_sessions(EVENTS)
    assert (found.impressions, found.sessions, found.with_clicks, found.without_clicks) == (4, 3, 2, 1)


def test_latency_has_its_mean_and_percentiles():
    events = [impression(f"i{i}", i, latency_seconds=i / 100) for i in range(101)]
    expected = Latency(mean=0.5, p50=0.5, p95=0.95, p99=0.99, queries=101)
    assert evaluate_sessions(events).latency == pytest.approx(expected)


def test_latency_that_nobody_told_is_none():
    assert evaluate_sessions([impression("i", 0)]).latency is None


def test_the_order_of_the_events_changes_nothing():
    shuffled = random.Random(1).sample(EVENTS, len(EVENTS))
    assert shuffled != EVENTS
    assert evaluate_sessions(shuffled) == evaluate_sessions(EVENTS)


@pytest.mark.parametrize("days", [-3, 400])
def test_a_click_belongs_to_its_impression_however_far_away_it_is(days):
    found = evaluate_sessions([impression("i", 0), click("i", days * DAY), impression("j", 1000 * DAY)])
    assert found.means["ctr@10"] == Mean(0.5, 2)


def test_a_time_that_is_still_to_come_is_as_good_as_any():
    assert evaluate_sessions([impression("i", 1e9)]).impressions == 1


def test_every_event_has_a_fate():
    found = evaluate_sessions(
        [
            impression("i", 0),
            impression("i", 5),
            click("i", 6),
            click("i", 6),
            click("i", 7, "not shown"),
            dwell("nobody", 8, 3),
            outcome("nobody", 9),
            judgment("a", 10, 1),
            {"type": "purchase"},
            b"nonsense",
        ]
    )
    assert found.fates == {
        ("impression", "settled"): 1,
        ("impression", "duplicate"): 1,
        ("click", "joined"): 1,
        ("click", "duplicate"): 1,
        ("click", "unmatched"): 1,
        ("dwell", "unmatched"): 1,
        ("outcome", "unmatched"): 1,
        ("judgment", "unused"): 1,
    }
    assert found.rejected == {"unknown_type": 1, "not_json": 1}


def test_no_events_have_no_means():
    found = evaluate_sessions([])
    assert (found.impressions, found.sessions, found.with_clicks, found.latency) == (0, 0, 0, None)
    assert set(found.means.values()) == {Mean(None, 0)}
    assert not found.fates


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("kind", [str, lambda path: path])
def test_a_file_is_read_as_its_events_are(tmp_path, pack, kind):
    path = tmp_path / "events.jsonl"
    path.write_bytes(pack(b"\xef\xbb\xbf" + b"".join(json.dumps(e).encode() + b"\r\n\n" for e in EVENTS)))
    assert evaluate_sessions(kind(path)) == evaluate_sessions(EVENTS)


def test_a_missing_file_is_told_in_one_line(tmp_path):
    with pytest.raises(InputError, match=r'^cannot read ".*none.jsonl": No such file or directory$'):
        evaluate_sessions(tmp_path / "none.jsonl")


def test_any_measure_of_what_was_shown_or_done_can_be_asked_for():
    found = evaluate_sessions(EVENTS, ["ctr", " position_ctr@4 ", "results", "empty"])
    assert found.aggregate() == {"ctr": 0.5, "position_ctr@4": 1, "results": 2, "empty": 0.25}


def test_diversity_is_measured_where_the_impressions_bring_embeddings():
    events = [impression("i", 0, "ab", embeddings=[[1, 0], [0, 1]]), impression("j", 0)]
    assert evaluate_sessions(events, ["ild"]).means["ild"] == Mean(1, 1)


def test_a_measure_that_needs_judgments_is_refused():
    with pytest.raises(MetricError, match=r'^metric "ndcg@10" needs judgments; '):
        evaluate_sessions(EVENTS, ["ctr@1", "ndcg@10"])


def test_a_recording_without_late_events_has_the_means_of_the_daemon():
    events = [event.value for event in runs.events(rate=5.0, seconds=300.0)]
    found = evaluate_sessions(events)
    asked = ["ctr@10", "position_ctr@3", "click_mrr@10", "abandonment", "satisfied"]
    daemon = Timeline(metrics=asked, attribution_seconds=1000, lateness_seconds=1000)
    daemon.bring(*events)
    daemon.finish()
    always = [
        "vector_dwell_seconds",
        "vector_click_depth",
        "vector_scroll_depth",
        "vector_outcome_success_avg",
    ]
    families = [f"vector_{name.partition('@')[0]}_avg" for name in asked] + always
    names = [*asked, "dwell_seconds", "click_depth", "scroll_depth", "outcome_success"]
    for family, name in zip(families, names, strict=True):
        [(samples, total)] = daemon.observed(family)
        assert found.means[name] == pytest.approx((total / samples, samples)), name
        assert samples > 100
    assert found.impressions > 1000
    for kind in ("click", "dwell", "outcome"):
        assert {fate: n for (of, fate), n in found.fates.items() if of == kind} == daemon.fates(kind)

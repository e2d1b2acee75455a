"""Every query of every dashboard, asked of a real Prometheus that scrapes the demo."""

import math
import re
import sys
import time
from collections.abc import Iterator

import pytest

from grafana.queries import BASELINE, OTHERS, Average, Difference
from tests.support.grafana import (
    DASHBOARDS,
    LABEL_VALUES,
    Choice,
    Target,
    answer,
    as_saved,
    filled_in,
    put_in,
    targets,
    variables,
)
from tests.support.ports import free_port
from tests.support.programs import running
from tests.support.prometheus import Prometheus, prometheus

pytestmark = pytest.mark.prometheus

NO_BROKER = "the demo reads no broker, so nothing can lag or be skipped, and no broker writes timestamps"
NONE_LATE = "the demo's impressions come in order, so none is late"
TOO_YOUNG = "this Prometheus has no yesterday; the same query with an offset of seconds has to answer"
NO_RULES = "the alert rules are not loaded here"
EMPTY_ON_PURPOSE = {
    ("pipeline", "Lag"): NO_BROKER,
    ("pipeline", "Lag by partition"): NO_BROKER,
    ("pipeline", "Skipped since the start"): NO_BROKER,
    ("pipeline", "Clock skew"): NO_BROKER,
    ("pipeline", "How late the late ones are"): NONE_LATE,
    ("quality", "Against what is usual and against the baseline"): NO_RULES,
    ("quality", "Impressions that are missing for a verdict"): NO_RULES,
}
CHOICES: dict[str, dict[str, Choice]] = {
    "as saved": {},
    "all of everything": {name: ["$__all"] for name in ("job", "instance", "variant", "k", "maturity")},
    "several": {"variant": ["candidate", "control"], "k": ["5", "10"], "maturity": ["1m", "1h"]},
    "one, as in a repeated row": {"variant": ["candidate"], "k": ["10"], "maturity": ["1m"]},
}
ALERTS = """
groups:
  - name: of the test
    rules:
      - {alert: VectorNDCGRegression, expr: vector(1), labels: {variant: candidate, severity: page}}
      - {alert: RankingMonitorDown, expr: 'up{job="ranking-monitor"} == 1', for: 1h}
      - {alert: RankingMonitorEvicting, expr: 'up{job="ranking-monitor"} == 1'}
"""
ROUGHLY = 0.25
"""Prometheus extrapolates by up to 1.1 intervals beyond the first and the last scrape, here of 13 or more."""
each_target = pytest.mark.parametrize("target", targets(), ids=str)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """Scrapes the demo every second, and has alerts that are pending and firing."""
    folder = tmp_path_factory.mktemp("dashboards")
    rules = folder / "alerts.yml"
    rules.write_text(ALERTS)
    address = f"127.0.0.1:{free_port()}"
    demo = [sys.executable, "-m", "monitor.cli", "demo", "--listen", address]
    with (
        prometheus(folder, {"ranking-monitor": [address]}, rules=[rules]) as started,
        running(demo, folder / "demo.log"),
    ):
        yield started


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("job", {"ranking-monitor"}),
        ("variant", {"candidate", "control"}),
        ("baseline", {"candidate", "control"}),
        ("k", {"1", "3", "5", "10"}),
        ("maturity", {"1m", "1h"}),
    ],
)
def test_a_variable_has_the_values_that_are_there(server: Prometheus, name: str, expected: set[str]) -> None:
    server.wait_for(lambda: set(_resolve(server, "quality", name)) >= expected)
    assert set(_resolve(server, "quality", name)) == expected


@pytest.mark.parametrize(
    ("dashboard", "name"),
    [
        (d, name)
        for d, board in DASHBOARDS.items()
        for name, v in variables(board).items()
        if v["type"] == "query"
    ],
)
def test_every_variable_resolves_and_what_is_saved_is_among_its_values(
    server: Prometheus, dashboard: str, name: str
) -> None:
    values = server.wait_for(lambda: _resolve(server, dashboard, name))
    saved = as_saved(DASHBOARDS[dashboard])[name]
    assert saved == ["$__all"] or set([saved] if isinstance(saved, str) else saved) <= set(values)


@each_target
def test_a_query_of_a_panel_returns_data(server: Prometheus, target: Target) -> None:
    for choice in CHOICES.values():
        expression = filled_in(target, choice)
        if "offset" in expression:
            assert not answer(server, target, expression), TOO_YOUNG
            expression = re.sub(r"offset 1[dw]", "offset 3s", expression)
        if reason := EMPTY_ON_PURPOSE.get((target.dashboard, target.panel["title"])):
            assert not answer(server, target, expression), f"has data, though {reason}"
        else:
            server.wait_for(lambda: answer(server, target, expression), 40)  # noqa: B023


@pytest.mark.parametrize("dashboard", DASHBOARDS)
def test_every_annotation_finds_something(server: Prometheus, dashboard: str) -> None:
    board = DASHBOARDS[dashboard]
    for mark in board["annotations"]["list"]:
        expression = put_in(mark["expr"], board, as_saved(board))
        assert server.wait_for(lambda: server.query(expression))  # noqa: B023


def test_a_restart_is_marked_at_its_time_in_milliseconds(server: Prometheus) -> None:
    board = DASHBOARDS["pipeline"]
    (mark,) = (mark for mark in board["annotations"]["list"] if mark["name"] == "Restarts")
    started = server.wait_for(lambda: server.query(put_in(mark["expr"], board, as_saved(board))))
    assert float(started[0]["value"][1]) / 1000 == pytest.approx(time.time(), abs=300)


def test_an_interval_is_what_sum_squares_and_count_say(server: Prometheus) -> None:
    at = _when_both_are_judged(server)
    total = _grown(server, "vector_ndcg_avg_sum", at)
    squares = _grown(server, "vector_ndcg_squares_total", at)
    count = _grown(server, "vector_ndcg_avg_count", at)
    mean = total / count
    error = math.sqrt((squares - count * mean**2) / (count - 1) / count)
    average = Average("vector_ndcg_avg")
    assert _ask(server, average.samples, at) == pytest.approx(count, rel=ROUGHLY)
    assert _ask(server, average.mean, at) == pytest.approx(mean, rel=0.02)
    assert _ask(server, average.margin, at) == pytest.approx(1.96 * error, rel=ROUGHLY)
    assert _ask(server, average.high, at) - _ask(server, average.low, at) == pytest.approx(
        2 * _ask(server, average.margin, at)
    )


def test_a_share_is_of_the_impressions_at_or_below_its_bound(server: Prometheus) -> None:
    at = _when_both_are_judged(server)
    count = _grown(server, "vector_ndcg_avg_count", at)
    for le in ("0.0", "0.5"):
        low = _grown(server, "vector_ndcg_avg_bucket", at, f',le="{le}"')
        share = _ask(server, Average("vector_ndcg_avg").share_up_to(le), at)
        assert share == pytest.approx(low / count, rel=ROUGHLY)


def test_a_difference_is_that_of_the_means_and_its_margin_that_of_both(server: Prometheus) -> None:
    at = _when_both_are_judged(server)
    one = Average("vector_ndcg_avg", by=("$label",), variants=OTHERS)
    other = Average("vector_ndcg_avg", variants=BASELINE)
    pair = Difference(one, other)
    value, margin, mean, others_mean, own, others = (
        _ask(server, expression, at, "candidate", "control")
        for expression in (pair.value, pair.margin, one.mean, other.mean, one.margin, other.margin)
    )
    assert value == pytest.approx(mean - others_mean)
    assert margin == pytest.approx(math.hypot(own, others))


def _when_both_are_judged(server: Prometheus) -> float:
    """A moment at which each variant has been scraped often enough that the edges do not weigh much."""
    judged = 'count_over_time(vector_ndcg_avg_count{k="10",maturity="1m"}[15m]) > 12'
    server.wait_for(lambda: len(server.query(judged)) == 2)
    return time.time()


def _grown(server: Prometheus, name: str, at: float, more: str = "") -> float:
    """By how much the series of one variant has grown in all scrapes."""
    selector = f'{name}{{k="10",maturity="1m",variant="control"{more}}}'
    (series,) = server.get("query", query=f"{selector}[15m]", time=at)["result"]
    return float(series["values"][-1][1]) - float(series["values"][0][1])


def _ask(server: Prometheus, expression: str, at: float, *variants: str) -> float:
    board = DASHBOARDS["quality"]
    chosen: dict[str, Choice] = {"k": ["10"], "maturity": ["1m"], "variant": list(variants) or ["control"]}
    return server.value(put_in(expression, board, {**as_saved(board), **chosen}), at)


def _resolve(server: Prometheus, dashboard: str, name: str) -> list[str]:
    board = DASHBOARDS[dashboard]
    query = put_in(variables(board)[name]["query"]["query"], board, as_saved(board))
    match = LABEL_VALUES.fullmatch(query)
    assert match, query
    return server.label_values(match[2], match[1])

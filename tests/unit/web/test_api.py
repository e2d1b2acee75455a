"""The windows API: what it gives, what it filters by, and what it refuses."""

from typing import Any

import httpx
import pytest

from monitor.config import Config
from monitor.stream.plan import make_plan
from monitor.web.app import create_app
from tests.unit.export.snapshots import make_window, stage_of
from tests.unit.web.views import MadeUpView

CONFIG = Config.model_validate({"metrics": ["ndcg@5", "ndcg@10", "ctr@3"]})
PLAN = make_plan(CONFIG)
START = 1_700_000_400.0
SCORES = {"ndcg@5": [0.2, 0.4], "ndcg@10": [0.5, 1.0]}


def made_up() -> MadeUpView:
    windows = [
        make_window(stage_of(PLAN, 60.0), START, {0: SCORES, 1: SCORES}),
        make_window(stage_of(PLAN, 60.0), START + 60, {0: SCORES}),
        make_window(stage_of(PLAN, 60.0), START, {0: SCORES}, size=300.0, partial=True),
        make_window(stage_of(PLAN, 3600.0), START, {1: SCORES}),
        make_window(stage_of(PLAN, 300.0), START, {0: {"ctr@3": [1.0]}}),
    ]
    return MadeUpView(CONFIG, closed=windows)


async def ask(query: str = "", view: MadeUpView | None = None) -> httpx.Response:
    transport = httpx.ASGITransport(create_app(view or made_up()))
    async with httpx.AsyncClient(transport=transport, base_url="http://monitor") as client:
        return await client.get(f"/api/v1/windows{query}")


async def windows(query: str = "") -> list[dict[str, Any]]:
    response = await ask(query)
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/json"
    found: list[dict[str, Any]] = response.json()["windows"]
    return found


async def test_without_filters_all_windows_come_newest_first() -> None:
    assert [(w["window"], w["end"] - START, w["delay"], w["partial"]) for w in await windows()] == [
        ("5m", 300.0, "1m", True),
        ("1m", 120.0, "1m", False),
        ("1m", 60.0, "1m", False),
        ("1m", 60.0, "5m", False),
        ("1m", 60.0, "1h", False),
    ]


async def test_a_series_has_what_a_chart_needs() -> None:
    (window,) = await windows("?metric=ctr")
    (series,) = window["series"]
    assert window["start_time"] == "2023-11-14T22:20:00Z"
    assert window["maturity"] is None
    assert {key: series[key] for key in ("metric", "k", "labels", "samples", "mean")} == {
        "metric": "ctr",
        "k": "3",
        "labels": {"variant": "control"},
        "samples": 1,
        "mean": 1.0,
    }
    assert series["buckets"]["+Inf"] == 1


@pytest.mark.parametrize(
    ("query", "count", "series"),
    [
        ("?window=1m", 4, 9),
        ("?window=5m", 1, 2),
        ("?metric=ndcg&k=10", 4, 5),
        ("?maturity=1h", 1, 2),
        ("?variant=treatment", 2, 4),
        ("?variant=treatment&k=5&maturity=1m", 1, 1),
        ("?variant=nobody", 0, 0),
        ("?limit=2", 2, 4),
        ("?k=3", 1, 1),
    ],
)
async def test_filters_keep_what_they_name(query: str, count: int, series: int) -> None:
    found = await windows(query)
    assert (len(found), sum(len(window["series"]) for window in found)) == (count, series)


async def test_the_answer_says_whether_there_are_more() -> None:
    assert (await ask("?limit=2")).json()["more"] is True
    assert (await ask("?limit=5")).json()["more"] is False


async def test_without_windows_the_list_is_empty() -> None:
    assert (await ask(view=MadeUpView())).json() == {"windows": [], "more": False}


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("?windows=1m", 'unknown parameter "windows"; known are window, metric, k, maturity, limit, variant'),
        ("?window=7m", 'window must be one of 1m, 5m, 1h, not "7m"'),
        ("?k=7", 'k must be one of 5, 10, 3, not "7"'),
        ("?maturity=1d", 'maturity must be one of 1m, 1h, not "1d"'),
        ("?limit=0", 'limit must be a number from 1 to 10000, not "0"'),
        ("?limit=1e3", 'limit must be a number from 1 to 10000, not "1e3"'),
        ("?limit=10001", 'limit must be a number from 1 to 10000, not "10001"'),
        ("?limit=%D9%A3", 'limit must be a number from 1 to 10000, not "٣"'),
        ("?k=5&k=10", '"k" is given twice; give it once'),
        ("?variant=a&variant=b", '"variant" is given twice; give it once'),
    ],
)
async def test_what_cannot_be_answered_is_refused_in_one_line(query: str, message: str) -> None:
    response = await ask(query)
    assert (response.status_code, response.json()) == (400, {"error": message})
    assert response.text.count("\n") == 1


async def test_an_unknown_metric_is_refused_with_the_known_ones() -> None:
    message = (await ask("?metric=ndgc")).json()["error"]
    assert message.startswith("metric must be one of click_depth, ctr, ")
    assert message.endswith(', not "ndgc"')


async def test_a_huge_parameter_is_not_sent_back_in_full() -> None:
    assert len((await ask("?k=" + 5000 * "x")).text) < 200

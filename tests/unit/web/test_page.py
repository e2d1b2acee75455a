"""The page, read as text: what it says in which state."""

import re
from dataclasses import replace
from html import unescape

import httpx
import pytest

from monitor.config import Config
from monitor.stream.plan import make_plan
from monitor.web.app import create_app
from monitor.web.page import MOST, WIDE
from monitor.web.view import Health
from tests.unit.export.snapshots import SMALL, make_window, stage_of
from tests.unit.web.views import STATUS, MadeUpView

PLAN = make_plan(SMALL)
JUDGED = stage_of(PLAN, 60.0)
START = 1_700_000_040.0


async def get(view: MadeUpView, query: str = "") -> httpx.Response:
    transport = httpx.ASGITransport(create_app(view))
    async with httpx.AsyncClient(transport=transport, base_url="http://monitor") as client:
        return await client.get(f"/{query}")


async def words(view: MadeUpView, query: str = "") -> str:
    """The text of the page's main part, one space between pieces."""
    main = re.search("<main>(.*)</main>", (await get(view, query)).text, re.DOTALL)
    assert main
    return " ".join(unescape(re.sub("<[^>]*>", " ", main[1])).split())


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (
            Health(healthy=True, ready=True, lines=["one partition is idle"]),
            "Healthy: reading 3 partitions, 12 records behind, event time 64 s ago one partition is idle",
        ),
        (Health(healthy=True, ready=False, lines=["no partition yet"]), "Not ready: no partition yet"),
        (Health(healthy=False, ready=False, lines=["no answer"]), "Unhealthy: no answer"),
    ],
    ids=["well", "starting", "silent"],
)
async def test_health_stands_first_in_words(said: Health, sentence: str) -> None:
    assert (await words(MadeUpView(said=said))).startswith(sentence + " records read 1,204,331")


async def test_a_metric_has_its_mean_confidence_and_samples_for_each_label_set() -> None:
    scores = {0: {"ndcg@10": [0.25, 0.5, 1.0]}, 1: {"ndcg@10": [0.5]}}
    text = await words(MadeUpView(closed=[make_window(JUDGED, START, scores)]))
    assert "Judged 1m after the impression window 22:14 – 22:15 metric" in text
    assert "metric variant=control variant=treatment ndcg@10 0.583 ±0.432 n=3 0.500 n=1" in text


async def test_what_has_no_window_yet_says_so() -> None:
    text = await words(MadeUpView())
    assert "Judged 1m after the impression no window closed yet: ndcg@10, label_delay" in text
    assert "Clicks, 5m after the impression no window closed yet: ctr@3, outcome_success" in text


async def test_a_metric_without_samples_in_the_window_has_a_dash() -> None:
    text = await words(MadeUpView(closed=[make_window(JUDGED, START, {1: {"ndcg@10": [0.5]}})]))
    assert "ndcg@10 – 0.500 n=1 label_delay – –" in text


async def test_the_newest_window_of_the_chosen_size_is_shown() -> None:
    config = Config.model_validate({"metrics": ["ndcg@10"], "windows": [60, 300]})
    stage = stage_of(make_plan(config), 60.0)
    closed = [
        make_window(stage, START + 60, {0: {"ndcg@10": [0.2]}}),
        make_window(stage, START, {0: {"ndcg@10": [0.1]}}),
        make_window(stage, START - 240, {0: {"ndcg@10": [0.9]}}, size=300.0, partial=True),
    ]
    view = MadeUpView(config, closed=closed)
    assert "window 22:15 – 22:16 metric variant=control variant=treatment ndcg@10 0.200" in await words(view)
    five = await words(view, "?window=5m")
    assert "window 22:10 – 22:15 partial metric variant=control variant=treatment ndcg@10 0.900" in five


async def test_an_unknown_window_size_is_refused_with_the_known_ones() -> None:
    response = await get(MadeUpView(), "?window=7m")
    assert (response.status_code, response.json()) == (400, {"error": 'window must be one of 1m, not "7m"'})


async def test_many_label_sets_are_rows() -> None:
    sets = [(f"v{i:03}",) for i in range(WIDE + 1)]
    scores = {i: {"ndcg@10": [i / 10]} for i in range(len(sets))}
    text = await words(MadeUpView(label_sets=sets, closed=[make_window(JUDGED, START, scores)]))
    assert "labels ndcg@10 label_delay variant=v000 0.000 n=1 – variant=v001 0.100 n=1 –" in text


async def test_too_many_label_sets_are_cut_to_the_busiest_and_the_page_says_so() -> None:
    sets = [(f"v{i:03}",) for i in range(MOST + 20)]
    scores = {i: {"ndcg@10": [0.5] * (2 if i >= 20 else 1)} for i in range(len(sets))}
    text = await words(MadeUpView(label_sets=sets, closed=[make_window(JUDGED, START, scores)]))
    assert "100 of 120 label sets" in text
    assert "variant=v019" not in text
    assert "variant=v119" in text


async def test_label_values_are_text_never_markup() -> None:
    evil = '"><script>alert(1)</script>'
    view = MadeUpView(
        label_sets=[(evil,)],
        closed=[make_window(JUDGED, START, {0: {"ndcg@10": [0.5]}})],
        said=Health(healthy=True, ready=False, lines=["<img src=x>"]),
        status=replace(STATUS, version="<1>"),
    )
    page = (await get(view)).text
    assert "alert(1)</script>" not in page
    assert "<img" not in page
    assert "<1>" not in page
    assert f"variant={evil}" in unescape(page)


async def test_without_labels_there_is_one_column_for_all_traffic() -> None:
    config = Config.model_validate({"labels": [], "metrics": ["ndcg@10"]})
    window = make_window(stage_of(make_plan(config), 60.0), START, {0: {"ndcg@10": [0.5]}})
    assert "metric all traffic ndcg@10 0.500 n=1" in await words(MadeUpView(config, [()], [window]))


async def test_without_window_sizes_the_page_says_so() -> None:
    config = Config.model_validate({"windows": []})
    assert "No windows are configured." in await words(MadeUpView(config))

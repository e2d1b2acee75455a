"""The page in a real browser: it is drawn, keeps itself up to date, and loads nothing from elsewhere."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, expect

from monitor.stream.plan import make_plan
from monitor.web.app import create_app
from monitor.web.view import Health
from tests.support.browser import chromium
from tests.support.ports import free_port
from tests.unit.export.snapshots import SMALL, make_window, stage_of
from tests.unit.web.views import MadeUpView

pytestmark = pytest.mark.browser

JUDGED = stage_of(make_plan(SMALL), 60.0)
START = 1_700_000_040.0


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def view() -> MadeUpView:
    scores = {0: {"ndcg@10": [0.25, 0.5, 1.0]}, 1: {"ndcg@10": [0.5, 0.75]}}
    return MadeUpView(
        label_sets=[("control",), ("treatment <b>2</b>",)], closed=[make_window(JUDGED, START, scores)]
    )


@pytest.fixture
def page(browser: Browser, view: MadeUpView) -> Iterator[Page]:
    """The page, opened; afterwards it must not have complained of anything."""
    complaints: list[str] = []
    asked: list[str] = []
    with served(view) as address, browser.new_context() as context:
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(address)
        yield page
        assert not [url for url in asked if not url.startswith((address, "data:"))]
    assert complaints == []


@contextmanager
def served(view: MadeUpView) -> Iterator[str]:
    port = free_port()
    server = uvicorn.Server(uvicorn.Config(create_app(view), port=port, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        deadline = time.monotonic() + 10
        while not server.started:
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.should_exit = True
        thread.join()


def table(page: Page) -> list[list[str]]:
    rows = page.locator("section").filter(has_text="Judged 1m").locator("tr").all()
    return [[cell.inner_text() for cell in row.locator("th, td").all()] for row in rows]


def test_the_table_has_every_metric_and_label_set(page: Page) -> None:
    assert page.title() == "ranking-monitor"
    expect(page.locator(".health")).to_have_text(
        "Healthy: reading 3 partitions, 12 records behind, event time 64 s ago"
    )
    assert [[" ".join(cell.split()) for cell in row] for row in table(page)] == [
        ["metric", "variant=control", "variant=treatment <b>2</b>"],
        ["ndcg@10", "0.583 ±0.432 n=3", "0.625 ±0.245 n=2"],
        ["label_delay", "–", "–"],
    ]


def test_the_bar_is_as_long_as_the_mean(page: Page) -> None:
    track, value = page.locator("td svg").first.locator("rect").all()
    whole, part = track.bounding_box(), value.bounding_box()
    assert whole
    assert part
    assert part["width"] / whole["width"] == pytest.approx(0.583, abs=0.01)


def test_the_style_is_applied_in_light_and_in_dark(page: Page) -> None:
    colours = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        colours.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert colours == ["rgb(246, 247, 249)", "rgb(18, 21, 27)"]


def test_the_page_keeps_itself_up_to_date(page: Page, view: MadeUpView) -> None:
    view.closed.append(make_window(JUDGED, START + 60, {0: {"ndcg@10": [0.125]}}))
    view.said = Health(healthy=True, ready=False, lines=["no partition is assigned"])
    expect(page.locator(".health")).to_have_text("Not ready: no partition is assigned", timeout=15_000)
    assert " ".join(table(page)[1][1].split()) == "0.125 n=1"
    expect(page.locator("#stale")).to_be_hidden()


def test_the_page_says_when_there_is_no_answer(browser: Browser, view: MadeUpView) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        with served(view) as address:
            page.goto(address)
        expect(page.locator("#stale")).to_be_visible(timeout=15_000)
        expect(page.locator("#stale")).to_have_text("no answer, trying again")


def test_it_works_without_javascript(browser: Browser, view: MadeUpView) -> None:
    with served(view) as address, browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(address)
        assert table(page)[1][0] == "ndcg@10"
        page.get_by_role("link", name="1m").click()
        assert page.url == f"{address}?window=1m"

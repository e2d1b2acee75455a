"""The report in a real browser, from a file and without a network: drawn, quiet, and its own."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from monitor.evaluation.comparing.compare import compare_all, summarise
from monitor.evaluation.comparing.report import Background, write_report
from tests.support.browser import chromium
from tests.unit.evaluation.comparing.compared import HOSTILE, evaluation, systems

pytestmark = pytest.mark.browser

CHARTS = 2 * (2 + 2) + 1
"""Bars and differences and two scatters for each of two measures, and the curves."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three systems, one with a hostile name, by two measures."""
    old, new, newer = systems(3, queries=200)
    hostile = evaluation(
        HOSTILE,
        list(newer.scores["ndcg@10"]),
        queries=[HOSTILE, *old.queries[1:]],
        latency=list(np.linspace(0.01, 0.02, 200)),
    )
    evaluations = [
        evaluation(each.name, list(each.scores["ndcg@10"]), queries=hostile.queries) for each in (old, new)
    ]
    evaluations.append(hostile)
    for each in evaluations:
        each.scores["map"] = each.scores["ndcg@10"] ** 2
    background = Background(
        files={each.name: f"{each.name}.run" for each in evaluations},
        qrels="qrels.txt",
        curves={each.name: np.linspace(0.9 - 0.1 * i, 0.2, 11) for i, each in enumerate(evaluations)},
        in_words={"ndcg@10": summarise(evaluations, "ndcg@10")},
    )
    path = tmp_path_factory.mktemp("report") / "report.html"
    write_report(path, compare_all(evaluations, ["ndcg@10", "map"]), background)
    return path


@pytest.fixture
def page(browser: Browser, report: Path) -> Iterator[Page]:
    """The report, opened; it must not complain, and nothing but the file itself may be asked for."""
    complaints: list[str] = []
    asked: list[str] = []
    with browser.new_context(offline=True, viewport={"width": 1280, "height": 900}) as context:
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", lambda dialog: complaints.append(f"dialog: {dialog.message}"))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(report.as_uri())
        yield page
        assert [url for url in asked if not url.startswith(("data:", "blob:"))] == [report.as_uri()]
    assert complaints == []


def test_every_plot_is_drawn(page: Page) -> None:
    expect(page.locator(".chart .main-svg").first).to_be_visible()
    charts = page.locator(".chart").all()
    assert len(charts) == CHARTS
    for chart in charts:
        box = chart.locator(".main-svg").first.bounding_box()
        assert box
        assert box["width"] > 300
        assert box["height"] > 150
        assert chart.locator(".bars .point, .points path, .lines path").count() >= 2


def test_a_bar_is_as_long_as_the_mean_and_has_a_whisker(page: Page) -> None:
    chart = page.locator(".chart").first
    bars = [bar.bounding_box() for bar in chart.locator(".bars .point path").all()]
    assert len(bars) == 3
    cells = page.locator("table").first.locator("tbody td:nth-child(2)").all_inner_texts()
    lengths = [box["width"] / float(mean) for box, mean in zip(bars, cells, strict=True) if box]
    assert lengths == pytest.approx([lengths[0]] * 3, rel=0.02)
    assert chart.locator(".xerror").count() == 3


def test_the_scatter_has_a_point_for_each_query_and_hovering_names_it(page: Page) -> None:
    scatter = page.locator(".queries .chart").first
    points = scatter.locator(".points path")
    assert points.count() == 200
    points.nth(20).hover(force=True)
    label = scatter.locator(".hoverlayer .hovertext")
    expect(label).to_have_count(1)
    expect(label).to_contain_text("→")
    expect(label).to_contain_text("q")


def test_hostile_names_are_shown_as_they_are(page: Page) -> None:
    assert page.title() == f"system-1 and {HOSTILE} against baseline"
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 3
    expect(page.locator("tbody th .name").filter(has_text="<script>alert(1)").first).to_be_attached()
    shown = page.locator(".chart").nth(1).locator(".ytick text").last.text_content()
    assert shown is not None
    assert shown.startswith("</script>")


def test_it_is_light_or_dark_with_the_reader_plots_included(page: Page) -> None:
    tick = page.locator(".chart .xtick text").first
    colours = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        body = page.evaluate("getComputedStyle(document.body).backgroundColor")
        colours.append((body, tick.evaluate("tick => getComputedStyle(tick).fill")))
    assert colours == [
        ("rgb(246, 247, 249)", "rgb(102, 112, 133)"),
        ("rgb(18, 21, 27)", "rgb(152, 162, 179)"),
    ]


def test_plots_follow_the_width_of_the_window(page: Page) -> None:
    page.set_viewport_size({"width": 420, "height": 800})
    for svg in page.locator(".chart .main-svg:first-child").all():
        expect(svg).to_have_attribute("width", re.compile(r"^3\d\d"))
    assert page.evaluate("document.documentElement.scrollWidth") <= 420


def test_on_paper_it_is_light_and_nothing_is_cut_off(page: Page) -> None:
    page.emulate_media(color_scheme="dark", media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.set_viewport_size({"width": 718, "height": 1000})
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(27, 31, 39)"
    assert page.evaluate("document.documentElement.scrollWidth") <= 718


def test_without_javascript_the_numbers_are_there(browser: Browser, report: Path) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(report.as_uri())
        assert page.locator("table").count() > 6
        expect(page.locator(".verdicts li")).to_have_count(4)

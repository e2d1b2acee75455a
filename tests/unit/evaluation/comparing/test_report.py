"""The page of a comparison: everything in it, nothing from outside, and names that stay names."""

import json
import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import plotly.graph_objects
import pytest

from monitor import __version__
from monitor.evaluation.comparing.compare import compare, compare_all, summarise
from monitor.evaluation.comparing.drawing import MOST_POINTS, shortened
from monitor.evaluation.comparing.figures import query_scatter
from monitor.evaluation.comparing.report import STYLE, Background, render_report, write_report
from tests.unit.evaluation.comparing.compared import HOSTILE, evaluation, systems

MADE = datetime(2025, 3, 4, 5, 6, 7, tzinfo=UTC)


class Reader(HTMLParser):
    """What a browser would make of the page: its elements, and the text outside scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.data: dict[str | None, str] = {}
        self._within: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._within.append(tag)

    def handle_endtag(self, tag):
        while self._within and self._within.pop() != tag:
            pass

    def handle_data(self, data):
        within = self._within[-1] if self._within else ""
        if within == "script":
            name = self.elements[-1][1].get("id")
            self.data[name] = self.data.get(name, "") + data
        elif within != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def figures(self) -> list[dict]:
        return json.loads(self.data["figures"])


@pytest.fixture(autouse=True)
def small_library(monkeypatch):
    """The library is 5 MB of somebody else's code; the browser's test has the real one."""
    monkeypatch.setattr("plotly.offline.get_plotlyjs", lambda: "/* plotly */")


def read(reports, background=None, movers=5) -> Reader:
    reader = Reader()
    reader.feed(render_report(reports, background or Background(made=MADE), movers=movers))
    return reader


@pytest.fixture
def background():
    evaluations = systems(3)
    return Background(
        files={"baseline": "runs/baseline.run", "system-1": "runs/one.run"},
        qrels="qrels.txt",
        curves={each.name: np.linspace(1, 0.2, 11) for each in evaluations},
        in_words={"ndcg@10": summarise(evaluations, "ndcg@10")},
        made=MADE,
    )


def test_every_plot_is_there_and_plotly_understands_it(background):
    page = read([compare(systems(3), "ndcg@10")], background)
    assert len(page.figures) == 1 + 1 + 2 + 1, "bars, differences, two scatters, curves"
    assert len([each for each in page.all("div") if each.get("class") == "chart"]) == len(page.figures)
    for figure in page.figures:
        plotly.graph_objects.Figure(figure)  # refuses properties that do not exist


def test_bars_and_whiskers_are_means_and_their_intervals():
    report = compare(systems(2), "ndcg@10")
    (bars,) = read([report]).figures[0]["data"]
    means = [system.mean for system in report.systems]
    assert bars["x"] == pytest.approx(means)
    highs = np.add(bars["x"], bars["error_x"]["array"])
    lows = np.subtract(bars["x"], bars["error_x"]["arrayminus"])
    assert highs == pytest.approx([system.high for system in report.systems])
    assert lows == pytest.approx([system.low for system in report.systems])


def test_the_scatter_has_every_query_once_and_names_it():
    report = compare(systems(2, queries=60), "ndcg@10")
    (found,) = report.comparisons
    traces = query_scatter(report, found)["data"]
    drawn = {
        query: (x, y)
        for trace in traces
        for query, x, y in zip(trace["text"], trace["x"], trace["y"], strict=True)
    }
    expected = zip(found.baseline_scores, found.system_scores, strict=True)
    assert drawn == {
        query: pytest.approx(pair, abs=1e-6) for query, pair in zip(found.queries, expected, strict=True)
    }
    assert [trace["name"] for trace in traces] == [
        f"better ({found.wins})",
        f"same ({found.ties})",
        f"worse ({found.losses})",
    ]


def test_a_scatter_of_very_many_queries_is_a_sample_and_says_so():
    rng = np.random.default_rng(1)
    many = [evaluation(name, rng.random(20_000)) for name in ("a", "b")]
    page = read([compare(many, "ndcg@10")])
    scatter = page.figures[2]["data"]
    assert sum(len(trace["x"]) for trace in scatter) == MOST_POINTS
    assert "a random sample of 5,000 of the 20,000 queries" in page.text


def test_the_page_has_the_numbers_as_text_too(background):
    report = compare(systems(3), "ndcg@10")
    text = read([report], background).text
    for system in report.systems:
        assert f"{system.mean:.4f}" in text
        assert f"[{system.low:.4f}, {system.high:.4f}]" in text
    for found in report.comparisons:
        assert f"{found.result.difference:+.4f}" in text
        assert found.verdict in text
        assert all(mover.query in text for mover in found.movers(5)[0])
    assert "Interpolated precision at 11 levels of recall" in text


def test_it_says_what_was_compared(background):
    text = read([compare(systems(3), "ndcg@10", test="wilcoxon", seed=11)], background).text
    for words in (
        "runs/baseline.run",
        "Judgments: qrels.txt.",
        "Test: Wilcoxon signed-rank test, two-sided, seed 11.",
        "Holm's correction over 2 comparisons.",
        f"ranking-monitor {__version__}",
        "2025-03-04 05:06 UTC",
    ):
        assert words in text


@pytest.mark.parametrize(
    ("common_queries", "words"),
    [
        (False, "A judged query that a run lacks counts as an empty ranking."),
        (True, "Queries that a run lacks are left out."),
    ],
)
def test_it_says_what_became_of_missing_queries(common_queries, words):
    background = Background(common_queries=common_queries, made=MADE)
    assert words in read([compare(systems(2), "ndcg@10")], background).text


def test_means_are_told_in_words(background):
    text = read([compare(systems(3), "ndcg@10")], background).text
    assert "In words" in text
    assert "good" in text


def test_parts_without_data_are_left_out():
    page = read([compare(systems(2), "ndcg@10")], movers=0)
    for words in ("Recall and precision", "In words", "Latency", "moved most"):
        assert words not in page.text


def test_latency_stands_there_where_a_run_tells_it():
    old = evaluation("old", [0.1, 0.2, 0.3], latency=[0.010, 0.020, 0.030])
    text = read([compare([old, evaluation("new", [0.1, 0.2, 0.4])], "ndcg@10")]).text
    assert "Latency in milliseconds" in text
    assert "20.0" in text


def test_several_measures_have_a_part_each():
    evaluations = systems(2)
    for each in evaluations:
        each.scores["map"] = each.scores["ndcg@10"] ** 2
    page = read(compare_all(evaluations, ["ndcg@10", "map"]))
    assert len(page.figures) == 2 * 3
    assert "map: against baseline" in page.text


def test_hostile_names_of_runs_and_queries_are_only_text():
    queries = [f"{HOSTILE}{i}" for i in range(3)]
    evaluations = [
        evaluation(f"{HOSTILE} old", [0.1, 0.2, 0.3], queries=queries),
        evaluation(f"{HOSTILE} new", [0.2, 0.9, 0.1], queries=queries),
    ]
    background = Background(
        files={f"{HOSTILE} old": HOSTILE},
        qrels=HOSTILE,
        curves={each.name: np.zeros(11) for each in evaluations},
        in_words={"ndcg@10": summarise(evaluations, "ndcg@10")},
        made=MADE,
    )
    page = read([compare(evaluations, "ndcg@10")], background)
    assert page.all("img") == []
    assert len(page.all("script")) == 3, "the figures, the library and the page's own"
    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert HOSTILE in page.text
    assert page.data.keys() == {"figures", None}
    drawn = json.dumps(page.figures)
    assert "<img" not in drawn, "plotly reads tags in what it shows"
    assert "$" not in drawn, "plotly reads formulas too"
    assert "&lt;img" in drawn


def test_nothing_is_asked_for_from_outside(background):
    page = read([compare(systems(2), "ndcg@10")], background)
    for _, attributes in page.elements:
        assert not {"src", "href", "action"} & attributes.keys()
    assert not re.search(r"url\(|@import", STYLE)
    (policy,) = [each["content"] for each in page.all("meta") if "http-equiv" in each]
    assert policy is not None
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "connect-src" not in policy


def test_every_plot_has_a_caption_and_every_table_its_headings(background):
    page = read([compare(systems(3), "ndcg@10")], background)
    charts = [each for each in page.all("div") if each.get("class") == "chart"]
    assert all(each["role"] == "img" and each["aria-label"] for each in charts)
    assert len(page.all("figcaption")) == len(page.all("figure")) == len(charts)
    assert len(page.all("caption")) == len(page.all("table")) > 3
    assert {each.get("scope") for each in page.all("th")} == {"row", "col"}
    assert page.all("html") == [{"lang": "en"}]
    assert len(page.all("title")) == 1


def test_it_wears_the_colours_of_the_daemon_s_page():
    def palettes(style):
        return re.findall(r"--([a-z]+): (#[0-9a-f]+)", style)

    page = (files("monitor.web") / "page.css").read_text(encoding="utf-8")
    assert palettes(STYLE) == palettes(page)
    assert len(palettes(STYLE)) == 20


def test_the_page_is_written_as_it_is_rendered(tmp_path):
    path = tmp_path / "report.html"
    reports = [compare(systems(2), "ndcg@10")]
    write_report(path, reports, Background(made=MADE))
    assert path.read_bytes().decode() == render_report(reports, Background(made=MADE), movers=5)


def test_long_names_are_cut_where_there_is_no_room():
    assert shortened("x" * 32) == "x" * 32
    cut = shortened("start" + "x" * 200 + "end")
    assert len(cut) == 32
    assert cut.startswith("start")
    assert cut.endswith("end")

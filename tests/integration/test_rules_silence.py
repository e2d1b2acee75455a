"""What must not fire an alert on ranking quality, over noisy series."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.rules.promtool import fired, says
from tests.rules.world import END, JOB, TROUBLE, Search, Story, label, scraped, steady, turn

pytestmark = pytest.mark.prometheus


def a_good_yesterday(hour: float, variant: str) -> Search:
    return Search(ndcg=0.9, mrr=0.95, ctr=0.7, abandonment=0.2) if 1.25 <= hour < TROUBLE else Search()


SILENT: Mapping[str, Story] = {
    "noise": steady,
    "chance that is large enough to matter": lambda _, __: Search(searches=50, ctr=0.1, judged=0.9),
    "a drop in too little traffic": turn(
        Search(searches=3, ndcg=0.2, mrr=0.2, ctr=0.1, abandonment=0.9, empty=0.5, judged=0.3),
        Search(searches=3),
    ),
    "a variant that is worse in too little traffic": turn(
        Search(searches=8, ndcg=0.5, ctr=0.1, empty=0.5), variants=["candidate"], before=Search(searches=8)
    ),
    "a drop that is certain but too small to matter": turn(
        Search(searches=3000, ndcg=0.78, mrr=0.83, ctr=0.48, abandonment=0.42, empty=0.03),
        Search(searches=3000),
    ),
    "a yesterday that was better than usual": a_good_yesterday,
    "a variant that gets no traffic": lambda _, variant: Search(searches=120 if variant == "control" else 0),
    "a baseline that gets no traffic": lambda _, variant: Search(
        searches=0 if variant == "control" else 240, ndcg=0.72, ctr=0.3
    ),
    "a batch of late judgments, of queries that do worse": turn(
        Search(judged=0.8, ndcg=0.68, mrr=0.73), Search(judged=0.5)
    ),
    "a small batch of late judgments": turn(Search(judged=0.58, ndcg=0.74, mrr=0.79), Search(judged=0.5)),
    "a batch of judgments of more documents": turn(
        Search(judged_documents=0.9, ndcg=0.68, mrr=0.73), Search(judged_documents=0.6)
    ),
}


@pytest.mark.parametrize("story", SILENT.values(), ids=SILENT)
def test_nothing_fires_on(story: Story, tmp_path: Path) -> None:
    assert fired(tmp_path, scraped(story)) == []


def test_nothing_fires_on_a_restart(tmp_path: Path) -> None:
    """Both replicas begin at 0 again, one of them twice."""
    restarts = [(TROUBLE, "a"), (TROUBLE + 0.25, "b"), (TROUBLE + 0.5, "a")]
    assert fired(tmp_path, scraped(steady, restarts=restarts)) == []


def test_nothing_fires_on_a_series_of_another_maturity(tmp_path: Path) -> None:
    """Judgments that come an hour late lower `maturity="1h"` and leave the watched one alone."""
    samples = scraped(steady)
    lower = {
        name.replace('maturity="1m"', 'maturity="1h"'): [
            value * (0.5 if i * 300 >= TROUBLE * 3600 and "_sum" in name else 1.0)
            for i, value in enumerate(values)
            if not isinstance(value, str)
        ]
        for name, values in samples.items()
        if 'maturity="1m"' in name
    }
    assert fired(tmp_path, {**samples, **lower}) == []


def test_a_gap_fires_only_that_the_monitor_is_down(tmp_path: Path) -> None:
    found = fired(tmp_path, scraped(steady, hours=3.0, gaps=[(TROUBLE, TROUBLE + 0.75)]))
    assert {alert.name for alert in found} == {"RankingMonitorDown"}


def test_a_gap_yesterday_fires_nothing_today(tmp_path: Path) -> None:
    found = fired(tmp_path, scraped(steady, gaps=[(1.0, 1.75)]), since=TROUBLE)
    assert {alert.name for alert in found} == set()


def test_a_change_of_coverage_is_told_as_such(tmp_path: Path) -> None:
    """Fewer impressions are judged, and those that are left do worse: nobody can tell about quality."""
    story = turn(Search(judged=0.5, ndcg=0.71, mrr=0.79))
    found = fired(tmp_path, scraped(story))
    assert {(alert.name, alert.labels.get("of")) for alert in found} == {
        ("VectorJudgedCoverageDrop", "impressions")
    }
    text = "#% of the impressions are judged, # points below the same time yesterday and last week"
    says(found[-1].summary, text, 50, 30)


def test_a_drop_of_traffic_is_not_told_of_a_monitor_that_is_behind(tmp_path: Path) -> None:
    samples = scraped(turn(Search(searches=20)))
    steps = int(END * 12)
    behind = {
        label("ranking_monitor_watermark_timestamp_seconds", task="0", job=JOB, instance="a"): [
            i * 300.0 - 900 for i in range(steps)
        ]
    }
    assert fired(tmp_path, {**samples, **behind}) == []

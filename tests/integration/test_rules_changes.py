"""The alerts on changes in Prometheus's own engine: whom they name, what they say, what holds them back."""

from pathlib import Path
from typing import Any

import pytest

from monitor.alerting.values import Values
from tests.rules.promtool import Fired, fired, last, says
from tests.rules.quality import Searches, Story, counters, from_minute, means, scraped
from tests.rules.world import JOB, label

pytestmark = [pytest.mark.prometheus, pytest.mark.timeout(400)]

TROUBLE, END = 70, 88
SHORT_DAYS = {
    "windows": ["5m", "10m"],
    "day": "30m",
    "days": 1,
    "around": "10m",
    "weekday_around": "10m",
    "chunk": "2m",
    "slow_interval": "1m",
}
"""Days of half an hour, and no other: promtool evaluates every rule each minute."""
MANY = Searches(count=600.0)
WORSE = Searches(count=600.0, means=means(ndcg=0.54, mrr=0.63, ctr=0.3, abandonment=0.4, empty=0.08))
"""Ten percent less NDCG and MRR, a quarter less CTR, 10 points more abandonment, 7 more of empty results."""
BAD_DEPLOY = from_minute(TROUBLE, WORSE, "candidate", before=MANY)
OWN = {"job": JOB, "instance": "a"}


def alerts(folder: Path, story: Story, since: int = TROUBLE, **more: Any) -> list[Fired]:
    comparison = {"range": "10m", "yesterday": "30m", "last_week": "1h"}
    values = Values.model_validate({"detection": SHORT_DAYS, "comparison": comparison})
    samples = scraped(counters(story, END, ("control", "candidate")), END) | more.pop("own", {})
    hours = since / 60
    found = fired(folder, samples, values, step=60, every=60, since=hours, group="quality", detector=True)
    return [alert for alert in found if alert.name not in ("VectorTrafficDrop", "VectorJudgedCoverageDrop")]


SAYS = {
    "VectorNDCGRegression": ("NDCG@10", "#", "#%", "lower", (0.54, 0.6, 10)),
    "VectorMRRRegression": ("MRR@10", "#", "#%", "lower", (0.63, 0.7, 10)),
    "VectorCTRRegression": ("CTR@10", "#%", "#%", "lower", (30, 40, 25)),
    "VectorAbandonmentRise": ("Abandonment", "#%", "# points", "more", (40, 30, 10)),
    "VectorEmptyResultsRise": ("The share of empty results", "#%", "# points", "more", (8, 1, 7)),
}


@pytest.fixture(scope="module")
def bad_deploy(tmp_path_factory: pytest.TempPathFactory) -> list[Fired]:
    return alerts(tmp_path_factory.mktemp("bad-deploy"), BAD_DEPLOY)


@pytest.mark.parametrize("name", SAYS)
def test_a_bad_deploy_fires_within_minutes_and_names_its_variant(name: str, bad_deploy: list[Fired]) -> None:
    title, form, size, word, numbers = SAYS[name]
    for against, instead in (("history", "the usual"), ("baseline", "control's")):
        own = {"variant": "candidate", "against": against}
        first = next(a for a in bad_deploy if a.name == name and own.items() <= a.labels.items())
        assert TROUBLE <= first.hours * 60 <= TROUBLE + 15
        alert = last(bad_deploy, name, **own, severity="critical")
        text = f"{title} of variant candidate is {form} instead of {instead} {form}: {size} {word}"
        says(alert.summary, text, *numbers, within=0.35)
        assert alert.annotations["dashboard_url"].endswith("&var-label=variant&var-variant=candidate")
        description = alert.annotations["description"]
        assert "unknown" not in description
        unit = " points" if word == "more" else ""
        percent = "" if word == "more" else "%"
        assert description.startswith("95% interval of the change: ")
        interval = description.split(" It is surest")[0]
        text = f"95% interval of the change: #{percent} to #{percent}{unit}."
        says(interval, text, 0.85 * numbers[2], 1.15 * numbers[2], within=0.6)
        assert "less than a week of history" not in description


def test_the_job_as_a_whole_is_named_without_a_variant(bad_deploy: list[Fired]) -> None:
    whole = [a for a in bad_deploy if a.name == "VectorNDCGRegression" and "variant" not in a.labels]
    assert {a.labels["against"] for a in whole} == {"history"}
    says(whole[-1].summary, "NDCG@10 is # instead of the usual #: #% lower", 0.57, 0.6, 5, within=0.2)


def test_the_alert_says_since_when(bad_deploy: list[Fired]) -> None:
    """The story begins at the epoch, so the trouble at ten past one."""
    alert = last(bad_deploy, "VectorNDCGRegression", variant="candidate", against="history")
    assert "so it began about 1970-01-01 01:" in alert.annotations["description"]


def test_where_the_judgments_changed_a_drop_is_a_warning_that_says_so(tmp_path: Path) -> None:
    """A fifth of the table is regraded just before; clicks are not judged, so theirs stays critical."""
    regraded = label("ranking_monitor_events_total", type="judgment", fate="regraded", **OWN)
    own = {
        label("ranking_monitor_judgments", **OWN): [1000.0] * END,
        regraded: [0.0 if minute < TROUBLE else 200.0 for minute in range(END)],
    }
    found = alerts(tmp_path, BAD_DEPLOY, own=own)
    for name in ("VectorNDCGRegression", "VectorMRRRegression"):
        of_name = [a for a in found if a.name == name and 3 < a.hours * 60 - TROUBLE < 11]
        assert {(a.labels["severity"], a.labels.get("judgments")) for a in of_name} == {
            ("warning", "changed")
        }
        assert "of the judgments changed within 10m" in of_name[-1].annotations["description"]
    assert last(found, "VectorCTRRegression", variant="candidate").labels["severity"] == "critical"


def test_while_event_time_is_behind_nothing_is_compared(tmp_path: Path) -> None:
    watermark = label("ranking_monitor_watermark_timestamp_seconds", task="0", **OWN)
    behind = [60.0 * minute - (600.0 if minute >= TROUBLE else 10.0) for minute in range(END)]
    assert alerts(tmp_path, BAD_DEPLOY, own={watermark: behind}) == []

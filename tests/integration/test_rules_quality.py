"""What fires the alerts on ranking quality, over noisy series, and what they say."""

from pathlib import Path

import pytest

from monitor.alerting.values import Values
from tests.rules.promtool import SHORT, fired, last, says
from tests.rules.world import END, TROUBLE, Search, scraped, turn

pytestmark = pytest.mark.prometheus

HISTORY = "the same time yesterday and last week"


DROPS = {
    "VectorNDCGRegression": (Search(ndcg=0.6), "NDCG@10 is #, #% below", (0.6, 25)),
    "VectorMRRRegression": (Search(mrr=0.6), "MRR@10 is #, #% below", (0.6, 29.4)),
    "VectorCTRRegression": (Search(ctr=0.3), "CTR@10 is #%, #% below", (30, 40)),
    "VectorAbandonmentRise": (Search(abandonment=0.6), "Abandonment is #%, # points above", (60, 20)),
    "VectorEmptyResultsRise": (Search(empty=0.2), "Share of empty results is #%, # points above", (20, 18)),
}


@pytest.mark.parametrize("name", DROPS)
def test_a_change_for_the_worse_fires_and_says_how_much(name: str, tmp_path: Path) -> None:
    after, text, expected = DROPS[name]
    found = fired(tmp_path, scraped(turn(after)))
    alert = last(found, name, against="history")
    says(alert.summary, f"{text} {HISTORY}", *expected, within=0.15)
    assert alert.labels["severity"] == ("critical" if "NDCG" in name else "warning")
    assert {a.name for a in found} - {"VectorNDCGBudgetBurn"} == {name}
    assert min(a.hours for a in found) < TROUBLE + 0.5


@pytest.mark.parametrize("name", DROPS)
def test_a_worse_variant_fires_at_once_and_is_named(name: str, tmp_path: Path) -> None:
    """There is no yesterday, and a restart and a gap on the way do not matter."""
    after, text, expected = DROPS[name]

    def story(_: float, variant: str) -> Search:
        return after if variant == "candidate" else Search()

    samples = scraped(story, hours=1.0, restarts=[(0.5, "a")], gaps=[(0.7, 0.75)])
    found = [alert for alert in fired(tmp_path, samples) if alert.name != "RankingMonitorDown"]
    assert {(a.name, a.labels["variant"], a.labels["against"]) for a in found} == {
        (name, "candidate", "baseline")
    }
    of = f"{text} control (#%)" if "%" in text.split(",")[0] else f"{text} control (#)"
    good = {"NDCG": 0.8, "MRR": 0.85, "CTR": 50.0, "Abandonment": 40.0, "Share": 2.0}
    reference = next(value for word, value in good.items() if text.startswith(word))
    says(
        found[-1].summary,
        of.replace(" is #", " of variant candidate is #", 1),
        *expected,
        reference,
        within=0.25 if "Empty" in name else 0.07,
    )
    assert found[-1].annotations["dashboard_url"].endswith("&var-label=variant&var-variant=candidate")


def test_a_drop_in_the_first_week_is_compared_with_yesterday(tmp_path: Path) -> None:
    values = Values.model_validate({"comparison": {"yesterday": "45m"}})
    found = fired(tmp_path, scraped(turn(Search(ndcg=0.6))), values)
    says(last(found, "VectorNDCGRegression").summary, f"NDCG@10 is #, #% below {HISTORY}", 0.6, 25)


def test_a_drop_that_coverage_cannot_explain_fires(tmp_path: Path) -> None:
    """Of the drop of 50%, at most 14% are queries that were not judged before."""
    found = fired(tmp_path, scraped(turn(Search(judged=0.7, ndcg=0.4), Search(judged=0.6))))
    assert last(found, "VectorNDCGRegression", against="history")


@pytest.mark.parametrize(
    ("after", "before"),
    [
        (Search(judged=0.5, ndcg=0.4), Search(judged=0.8)),
        (Search(judged=0.1, ndcg=0.25, searches=600), Search(judged=0.2, searches=600)),
    ],
    ids=["from 0.8 to 0.5", "from 0.2 to 0.1"],
)
def test_a_judged_share_that_falls_does_not_hide_a_drop(
    after: Search, before: Search, tmp_path: Path
) -> None:
    """Those that are not judged any more were at 1 at best: 15% and 25% of the mean, not 60% and 100%."""
    values = Values.model_validate(
        SHORT | {"VectorNDCGBudgetBurn": {"fast": {"long": "30m", "short": "15m"}}}
    )
    found = fired(tmp_path, scraped(turn(after, before)), values)
    assert last(found, "VectorNDCGRegression", against="history")
    assert last(found, "VectorJudgedCoverageDrop", of="impressions")
    assert last(found, "VectorNDCGBudgetBurn", speed="fast")


def test_a_variant_of_which_less_is_judged_does_not_hide_a_drop(tmp_path: Path) -> None:
    def story(_: float, variant: str) -> Search:
        return Search(judged=0.4, ndcg=0.4) if variant == "candidate" else Search()

    found = fired(tmp_path, scraped(story, hours=1.0))
    assert last(found, "VectorNDCGRegression", against="baseline", variant="candidate")


def test_documents_that_nobody_judged_are_told_beside_the_drop(tmp_path: Path) -> None:
    """A broken ranking shows such documents, so they must not silence it; who reads it must know."""
    found = fired(tmp_path, scraped(turn(Search(judged_documents=0.5, ndcg=0.5))))
    description = last(found, "VectorNDCGRegression").annotations["description"]
    says(description[description.index("judged@") :].split(";")[0], "judged@10 is # (yesterday: #)", 0.5, 0.9)
    says(
        last(found, "VectorJudgedCoverageDrop", of="documents").summary,
        f"#% of the first 10 documents of judged impressions are judged, # points below {HISTORY}",
        *(50, 40),
        within=0.05,
    )


def test_the_budget_burns_without_a_yesterday(tmp_path: Path) -> None:
    found = fired(tmp_path, scraped(lambda _, __: Search(ndcg=0.35), hours=1.5))
    assert {(a.name, a.labels["speed"], a.labels["severity"]) for a in found} == {
        ("VectorNDCGBudgetBurn", "fast", "critical"),
        ("VectorNDCGBudgetBurn", "slow", "warning"),
    }
    text = "#% of the impressions in 1h have an NDCG@10 of 0.5 or less; the objective allows 10%"
    says(last(found, "VectorNDCGBudgetBurn", speed="fast").summary, text, 71, within=0.1)


def test_the_budget_burns_after_days_on_which_nothing_was_judged(tmp_path: Path) -> None:
    """A share that was 0 says nothing about what is judged now."""
    found = fired(tmp_path, scraped(turn(Search(ndcg=0.3), Search(judged=0.0))))
    assert last(found, "VectorNDCGBudgetBurn", speed="fast")


def test_the_budget_does_not_burn_by_a_batch_of_late_judgments(tmp_path: Path) -> None:
    """Twice as many impressions are judged as yesterday, and the new ones are bad."""
    found = fired(tmp_path, scraped(turn(Search(judged=0.9, ndcg=0.5), Search(judged=0.4))))
    assert {alert.name for alert in found} == set()


@pytest.mark.parametrize(("left", "drop"), [(40, 66.7), (0, 100)])
def test_a_drop_of_traffic_fires(left: int, drop: float, tmp_path: Path) -> None:
    """Two replicas, two variants, six steps."""
    found = fired(tmp_path, scraped(turn(Search(searches=left))))
    text = f"# impressions in 30m, #% below {HISTORY}"
    says(last(found, "VectorTrafficDrop").summary, text, left * 2 * 2 * 6, drop)


def test_no_traffic_after_a_restart_is_a_drop_too(tmp_path: Path) -> None:
    """A new process has no series until the first impression: that is no traffic, and not no data."""
    samples = {
        name: [*values[: int(TROUBLE * 12)], "stale"] if "variant=" in name else values
        for name, values in scraped(turn(Search(searches=0))).items()
    }
    assert last(fired(tmp_path, samples), "VectorTrafficDrop").hours == pytest.approx(END - 1 / 12)


def test_a_gap_does_not_resolve_what_fires(tmp_path: Path) -> None:
    """Nothing was scraped for longer than the range of the means, but not for as long as keep_firing_for."""
    values = Values.model_validate(SHORT | {"VectorNDCGRegression": {"keep_firing_for": "40m"}})
    gap, end = (TROUBLE + 0.5, TROUBLE + 1.1), TROUBLE + 1.5
    samples = scraped(turn(Search(ndcg=0.6), variants=["candidate"]), gaps=[gap], hours=end)
    found = [a for a in fired(tmp_path, samples, values) if a.labels.get("variant") == "candidate"]
    hours = [round(a.hours * 12) for a in found if a.name == "VectorNDCGRegression"]
    assert hours == list(range(hours[0], int(end * 12)))
    assert hours[0] < gap[0] * 12


def test_a_gap_does_not_resolve_a_budget_that_burns(tmp_path: Path) -> None:
    """Longer than the short ranges, so that there is nothing to compare, but not than keep_firing_for."""
    budget = {"fast": {"short": "15m"}, "slow": {"long": "2h"}, "keep_firing_for": "70m"}
    values = Values.model_validate(SHORT | {"VectorNDCGBudgetBurn": budget})
    gap, end = (1.5, 2.25), 3.0
    found = fired(tmp_path, scraped(lambda _, __: Search(ndcg=0.35), gaps=[gap], hours=end), values)
    for speed in ("fast", "slow"):
        hours = [round(a.hours * 12) for a in found if a.labels.get("speed") == speed]
        assert hours == list(range(hours[0], int(end * 12)))
        assert hours[0] < gap[0] * 12


def test_what_fired_ends_after_the_trouble(tmp_path: Path) -> None:
    def story(hour: float, _: str) -> Search:
        return Search(ndcg=0.6 if TROUBLE <= hour < TROUBLE + 0.4 else 0.8)

    found = fired(tmp_path, scraped(story, hours=3.5))
    hours = [a.hours for a in found if a.name == "VectorNDCGRegression"]
    # The range of the mean and keep_firing_for after the trouble, at the latest.
    assert TROUBLE < min(hours) < max(hours) <= TROUBLE + 0.4 + 0.75 + 0.01


def test_the_default_values_compare_with_a_day_and_a_week_ago(tmp_path: Path) -> None:
    """Evaluated by the hour, of one replica and variant, so that it does not take forever."""
    week, step = 7 * 24 + 2, 900

    def story(hour: float, variant: str) -> Search:
        return Search(ndcg=0.6 if hour > week else 0.8, searches=900 if variant == "control" else 0)

    samples = {
        name: values
        for name, values in scraped(story, hours=week + 4, step=step).items()
        if 'instance="a"' in name and 'variant="control"' in name and ("ndcg" in name or "judged" in name)
    }
    found = fired(tmp_path, samples, Values(), step=step, every=3600, since=week - 3)
    found = [alert for alert in found if alert.name == "VectorNDCGRegression"]
    assert [alert.hours for alert in found] == [week + 2, week + 3]
    says(found[-1].summary, f"NDCG@10 is #, #% below {HISTORY}", 0.6, 25, within=0.1)

"""What fires the alerts on the budget, on traffic and on coverage, over noisy series, and what they say."""

from pathlib import Path

import pytest

from monitor.alerting.values import Values
from tests.rules.promtool import SHORT, fired, last, says
from tests.rules.world import END, TROUBLE, Search, scraped, turn

pytestmark = pytest.mark.prometheus

HISTORY = "the same time yesterday and last week"


def test_the_budget_burns_without_a_yesterday(tmp_path: Path) -> None:
    found = fired(tmp_path, scraped(lambda _, __: Search(ndcg=0.35), hours=1.5))
    assert {(a.name, a.labels["speed"], a.labels["severity"]) for a in found} == {
        ("VectorNDCGBudgetBurn", "fast", "critical"),
        ("VectorNDCGBudgetBurn", "slow", "warning"),
    }
    text = "#% of the impressions in 1h have an NDCG@10 of 0.5 or less; the objective allows 10%"
    says(last(found, "VectorNDCGBudgetBurn", speed="fast").summary, text, 71, within=0.1)


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


def test_a_gap_does_not_resolve_a_budget_that_burns(tmp_path: Path) -> None:
    """Longer than the short ranges, so that there is nothing to compare, but not than keep_firing_for."""
    budget = {"objective": 0.9, "fast": {"short": "15m"}, "slow": {"long": "2h"}, "keep_firing_for": "70m"}
    values = Values.model_validate(SHORT | {"VectorNDCGBudgetBurn": budget})
    gap, end = (1.5, 2.25), 3.0
    found = fired(tmp_path, scraped(lambda _, __: Search(ndcg=0.35), gaps=[gap], hours=end), values)
    for speed in ("fast", "slow"):
        hours = [round(a.hours * 12) for a in found if a.labels.get("speed") == speed]
        assert hours == list(range(hours[0], int(end * 12)))
        assert hours[0] < gap[0] * 12

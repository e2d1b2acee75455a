"""What fires the alerts on clocks and late impressions, what they say, and what does not fire them."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.rules.own_series import (
    BEGIN,
    CLOCK_SKEW,
    DECIDED,
    LATE,
    LATE_BUCKET,
    LEAD,
    OWN,
    STEPS,
    TROUBLE,
    UP,
    UP_NAME,
    counter,
    names,
    noisy,
    seen,
    since_trouble,
)
from tests.rules.promtool import fired, says
from tests.rules.world import Samples, label

pytestmark = pytest.mark.prometheus


def replica_b(name: str) -> str:
    return name.replace('instance="a"', 'instance="b"')


def test_a_sender_ahead_fires_for_its_topic_and_says_how_far(tmp_path: Path) -> None:
    """One of two replicas reads its partition."""
    samples = {
        LEAD: [2.0] * STEPS,
        replica_b(LEAD): since_trouble(lambda _: 2.0, lambda _: 192.0),
        LEAD.replace("search-events", "search-clicks"): [59.0] * STEPS,
    }
    found = seen(tmp_path, {**UP, **samples})
    assert {(alert.name, alert.labels["topic"]) for alert in found} == {
        ("RankingMonitorSenderAhead", "search-events")
    }
    assert found[0].hours == pytest.approx(TROUBLE + 10 / 60)
    assert found[-1].summary == "Events of search-events are up to 3m 12s ahead of the log's clock"


@pytest.mark.parametrize(("minutes", "expected"), [(10, set()), (11, {"RankingMonitorSenderAhead"})])
def test_one_event_ahead_is_silent(minutes: int, expected: set[str], tmp_path: Path) -> None:
    """The gauge remembers an event for up to 10 minutes; what is seen for longer was not a single one."""
    lead = [300.0 if 30 <= i < 30 + minutes else 1.0 for i in range(90)]
    samples = {UP_NAME: [1.0] * len(lead), LEAD: lead}
    found = fired(tmp_path, samples, step=60, every=60, group="ranking-monitor")
    assert {alert.name for alert in found} == expected


def late(share: float, buckets: Mapping[str, float]) -> Samples:
    """1,000 impressions in a step; since trouble began a share of them is late, in these buckets."""
    growth = since_trouble(lambda _: 0.0, lambda _: 1000 * share)
    histogram = {
        LATE_BUCKET.replace("+Inf", bound): counter(within * more for more in growth)
        for bound, within in buckets.items()
    }
    decided = counter(1000 - more for more in growth)
    return {**UP, LATE: counter(growth), DECIDED: decided, **histogram}


MINUTES_LATE = {"60.0": 0.0, "120.0": 0.4, "300.0": 0.88, "600.0": 1.0, "+Inf": 1.0}


def test_late_impressions_fire_and_say_which_lateness_would_have_kept_them(tmp_path: Path) -> None:
    found = seen(tmp_path, late(0.05, MINUTES_LATE))
    assert {alert.name for alert in found} == {"RankingMonitorLateImpressions"}
    assert "topic" not in found[-1].labels
    says(found[-1].summary, "#% of the impressions in 15m were late and count in no metric", 5)
    says(
        found[-1].annotations["description"],
        "Of at least 100 impressions. A `lateness_seconds` of about # would have kept #% of the late ones, "
        "and delays every number by as much.",
        350,
        90,
        within=0.01,
    )


def test_the_lateness_is_that_of_all_replicas(tmp_path: Path) -> None:
    """Replica b has ten times as many late impressions, all of them by less than a minute more."""
    many = {replica_b(name): some for name, some in late(0.5, {**MINUTES_LATE, "120.0": 1.0}).items()}
    found = seen(tmp_path, {**late(0.05, MINUTES_LATE), **many})
    says(
        found[-1].annotations["description"].split(" would ")[0],
        "Of at least 100 impressions. A `lateness_seconds` of about #",
        # 0.9 of (0.4 + 10) of the 11 parts that are up to 2 minutes late.
        60 + 60 * (0.9 * 11 / 10.4),
        within=0.01,
    )


@pytest.mark.parametrize(
    ("buckets", "expected"),
    [
        (
            {"86400.0": 0.2, "+Inf": 1.0},
            "Not even a `lateness_seconds` of 86400 would have kept 90% of the late",
        ),
        ({}, "How late they were is unknown."),
        ({"60.0": 0.0, "+Inf": 0.0}, "How late they were is unknown."),
    ],
    ids=["days late", "no histogram", "an empty histogram"],
)
def test_late_impressions_fire_whatever_the_histogram_knows(
    buckets: Mapping[str, float], expected: str, tmp_path: Path
) -> None:
    found = seen(tmp_path, late(0.05, buckets))
    assert {alert.name for alert in found} == {"RankingMonitorLateImpressions"}
    assert found[-1].annotations["description"].startswith(f"Of at least 100 impressions. {expected}")


@pytest.mark.parametrize(("impressions", "late"), [(1000, 5), (20, 4)])
def test_few_late_impressions_or_few_impressions_are_silent(
    impressions: float, late: float, tmp_path: Path
) -> None:
    samples = {DECIDED: counter(noisy(impressions)), LATE: counter(noisy(late, seed=5))}
    assert names(tmp_path, samples) == set()


def test_a_few_late_impressions_are_silent_though_none_is_settled_yet(tmp_path: Path) -> None:
    """For the longest maturity after the first start, late is the only fate that an impression can have."""
    settled = label("ranking_monitor_events_total", type="impression", fate="settled", **OWN)
    samples = {DECIDED: counter(noisy(20_000)), LATE: counter(noisy(100)), settled: [0.0] * STEPS}
    assert names(tmp_path, samples) == set()


@pytest.mark.parametrize(("skew", "expected"), [(9.0, "9s ahead of"), (-75.0, "1m 15s behind")])
def test_a_clock_that_is_off_fires_once_for_its_replica(skew: float, expected: str, tmp_path: Path) -> None:
    off = since_trouble(lambda _: 0.1, lambda _: skew)
    samples = {
        CLOCK_SKEW: off,
        CLOCK_SKEW.replace("search-events", "search-clicks"): off,
        replica_b(CLOCK_SKEW): [0.1] * STEPS,
    }
    found = seen(tmp_path, {**UP, **samples})
    assert {(alert.name, alert.labels["instance"]) for alert in found} == {("RankingMonitorClockSkew", "a")}
    assert found[0].hours == pytest.approx(TROUBLE + 10 / 60)
    assert len({alert.hours for alert in found}) == len(found)
    assert found[-1].summary == f"The clock of a is {expected} the broker's"


@pytest.mark.parametrize("skew", [4.9, -4.9])
def test_a_clock_that_is_off_a_little_is_silent(skew: float, tmp_path: Path) -> None:
    assert names(tmp_path, {CLOCK_SKEW: [skew] * STEPS}) == set()


def test_a_clock_that_is_put_right_at_once_is_silent(tmp_path: Path) -> None:
    assert names(tmp_path, {CLOCK_SKEW: [60.0 if i == BEGIN else 0.1 for i in range(STEPS)]}) == set()

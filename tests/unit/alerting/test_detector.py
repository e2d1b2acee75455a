"""What the detector finds and what it does not, by its numpy form; days last an hour here, and weeks two."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from monitor.alerting.detector import PREFIX, Detector
from monitor.alerting.evaluation_grid import EvaluationGrid, Floats
from monitor.alerting.evaluator import CRITICAL, WARNING, Row, evaluate, firing
from monitor.alerting.values import Values
from tests.rules.quality import SHORT_DAYS, Searches, Story, counters, from_minute, inputs, means, steady

VARIANTS = ("control", "candidate")
TROUBLE, END = 200, 260
MANY = 600.0
"""Impressions in a minute: enough to find a drop of 5% in some minutes."""


class Seen:
    """What the rules make of a story."""

    def __init__(
        self,
        story: Story,
        *,
        end: int = END,
        seed: int = 1,
        missing: Sequence[tuple[int, int]] = (),
        variants: Sequence[str] = VARIANTS,
        start: int = 0,
        **settings: Any,
    ) -> None:
        values = Values.model_validate({"detection": {**SHORT_DAYS, **settings}})
        self.detector = Detector(values)
        self.rows, given = inputs(counters(story, end, variants, seed), variants)
        for since, until in missing:
            for array in given.values():
                array[:, since:until] = np.nan
        self.grid: EvaluationGrid = evaluate(self.detector, self.rows, given, start)

    def severity(self, metric: str, value: str | None, against: str = "history") -> Floats:
        found: Floats = firing(self.detector, self.grid, self.rows, against)[
            self.rows.index(Row(metric, value))
        ]
        return found

    def first(self, metric: str, value: str | None, against: str = "history") -> int | None:
        """The minute at which it fires first."""
        fires = np.flatnonzero(self.severity(metric, value, against))
        return int(fires[0]) if len(fires) else None

    def fires(self, since: int = 0) -> set[tuple[str, str | None, str]]:
        """Everything that ever fires from a minute on."""
        return {
            (*row, against)
            for against in ("history", "baseline")
            for row in self.rows
            if self.severity(*row, against)[since:].any()
        }

    def recorded(self, name: str, metric: str, value: str | None) -> Floats:
        found: Floats = self.grid.recorded[PREFIX + name][self.rows.index(Row(metric, value))]
        return found


def many(**changed: float) -> Searches:
    return Searches(count=MANY, means=means(**changed))


def busy(story: Mapping[str, float], *variants: str, at: int = TROUBLE) -> Story:
    """The same with much traffic from the beginning."""
    return from_minute(at, many(**story), *variants, before=many())


WORSE = {"ndcg": 0.56, "mrr": 0.65, "ctr": 0.36, "abandonment": 0.36, "empty": 0.05}


@pytest.mark.parametrize("metric", WORSE)
def test_a_change_for_the_worse_of_one_variant_is_found_within_minutes(metric: str) -> None:
    seen = Seen(busy({metric: WORSE[metric]}, "candidate"))
    for against in ("history", "baseline"):
        found = seen.first(metric, "candidate", against)
        assert found is not None
        assert TROUBLE <= found <= TROUBLE + 25
        assert seen.severity(metric, "candidate", against).max() == CRITICAL
    assert {row[:2] for row in seen.fires()} <= {(metric, "candidate"), (metric, None)}


@pytest.mark.parametrize("metric", WORSE)
def test_a_change_for_the_better_fires_nothing(metric: str) -> None:
    better = {"ndcg": 0.7, "mrr": 0.8, "ctr": 0.5, "abandonment": 0.2, "empty": 0.001}
    seen = Seen(busy({metric: better[metric]}))
    assert seen.fires() == set()


def test_a_steady_search_fires_nothing() -> None:
    assert Seen(steady, end=600).fires() == set()


def test_a_small_drop_is_a_warning() -> None:
    seen = Seen(busy({"ndcg": 0.578}), end=300)
    assert seen.severity("ndcg", None).max() == WARNING


def test_a_drop_that_is_certain_but_too_small_to_matter_fires_nothing() -> None:
    seen = Seen(lambda m, _: Searches(count=20 * MANY, means=means(ndcg=0.594 if m >= TROUBLE else 0.6)))
    assert seen.fires() == set()


def test_a_small_share_needs_points_and_not_percents() -> None:
    """From 1.0% to 1.5% of empty results is half as much again, and half a point."""
    seen = Seen(lambda m, _: Searches(count=20 * MANY, means=means(empty=0.015 if m >= TROUBLE else 0.01)))
    assert seen.fires() == set()


def test_too_little_traffic_is_not_compared_and_says_how_much_is_missing() -> None:
    few = Searches(count=0.5)
    seen = Seen(from_minute(TROUBLE, Searches(count=0.5, means=means(ndcg=0.3)), before=few))
    assert seen.fires() == set()
    missing = seen.recorded("missing_impressions", "ndcg", "candidate")
    assert 1_000 < missing[-1] < 20_000


def test_with_enough_traffic_no_impressions_are_missing() -> None:
    assert Seen(busy({})).recorded("missing_impressions", "ndcg", None)[-1] == 0


def test_the_first_week_takes_more() -> None:
    """Before two of the short days have passed, a drop of 4% is nothing, and one of 10% is found."""
    small, large = (Seen(busy({"ndcg": mean}, at=90), end=118) for mean in (0.576, 0.54))
    assert small.fires() == set()
    assert large.first("ndcg", None) is not None
    assert Seen(busy({"ndcg": 0.576})).first("ndcg", None) is not None


def test_the_more_is_compared_the_surer_each_has_to_be() -> None:
    few, more = (Seen(steady, variants=[f"v{i}" for i in range(n)]) for n in (1, 12))
    bounds = [seen.recorded("min_zscore:history", "ndcg", None)[-1] for seen in (few, more)]
    assert bounds == pytest.approx([np.sqrt(25 + 2 * np.log(2 * 5 * n)) for n in (2, 13)])


def test_a_day_without_data_does_not_empty_what_is_usual() -> None:
    seen = Seen(busy({"ndcg": 0.54}), missing=[(130, 190)])
    assert seen.first("ndcg", None) is not None


def test_a_gap_fires_nothing_and_what_follows_it_neither() -> None:
    assert Seen(busy({}), missing=[(TROUBLE, TROUBLE + 20)]).fires() == set()


def test_a_weekday_that_is_always_worse_is_no_drop() -> None:
    """Every second of the short days is 4% lower: their week has two days."""

    def story(minute: int, variant: str) -> Searches:
        return many(ndcg=0.576 if (minute // 60) % 2 else 0.6)

    assert {metric for metric, *_ in Seen(story, end=420).fires(since=130)} == set()


def test_sessions_are_learned_from_the_past() -> None:
    """What varies more than impressions do makes a bound wider than chance alone would."""
    rng = np.random.default_rng(5)
    wander = np.repeat(rng.normal(scale=0.02, size=400), 6)

    def story(minute: int, variant: str) -> Searches:
        return many(ndcg=0.6 * (1 + wander[minute]))

    seen = Seen(story, end=900)
    assert seen.recorded("inflation:5m", "ndcg", None)[-1] > 2
    assert not [row for row in seen.fires(since=240) if row[0] == "ndcg"]


def test_a_variant_without_a_past_borrows_the_baselines_inflation() -> None:
    rng = np.random.default_rng(6)
    wander = np.repeat(rng.normal(scale=0.02, size=400), 6)

    def story(minute: int, variant: str) -> Searches:
        if variant == "candidate" and minute < 290:
            return Searches(count=0.0)
        return many(ndcg=0.6 * (1 + wander[minute]))

    seen = Seen(story, end=300)
    own, borrowed = (seen.recorded("inflation:5m", "ndcg", v)[-1] for v in ("control", "candidate"))
    assert own > 2
    assert borrowed == pytest.approx(own, rel=0.3)


def at(minute: int) -> str:
    return datetime.fromtimestamp(60 * minute, UTC).isoformat()


def test_an_accepted_level_is_the_standard_from_then_on() -> None:
    """The lower level fires until it is accepted; a further drop fires again."""
    story = busy({"ndcg": 0.5})

    def falls_twice(minute: int, variant: str) -> Searches:
        return many(ndcg=0.4) if minute >= 330 else story(minute, variant)

    seen = Seen(falls_twice, end=370, accepted=[{"since": at(220)}])
    severity = seen.severity("ndcg", None)
    assert not severity[225:330].any()
    assert severity[330:].any()
    assert Seen(falls_twice, end=330).severity("ndcg", None)[225:].any()


def test_a_level_is_accepted_for_one_variant_alone() -> None:
    seen = Seen(busy({"ndcg": 0.5}), end=300, accepted=[{"since": at(220), "variant": "candidate"}])
    assert not seen.severity("ndcg", "candidate")[225:].any()
    assert seen.severity("ndcg", "control")[225:].any()


def test_an_ignored_incident_is_no_standard() -> None:
    """What was 0.7 for an hour is left out of what is usual."""

    def story(minute: int, variant: str) -> Searches:
        return many(ndcg=0.7 if 140 <= minute < 185 else 0.6)

    ignored = [{"from": at(140), "to": at(190)}]
    usual = [Seen(story, ignore=span).recorded("usual", "ndcg", None)[-1] for span in (ignored, ())]
    assert usual[0] == pytest.approx(0.6, abs=0.005)
    assert usual[1] > 0.61


@pytest.mark.parametrize("against", ["history", "baseline"])
def test_an_alert_ends_soon_after_the_trouble(against: str) -> None:
    """The window of 40 minutes would hold the bad half hour for 40 more; its last quarter is well again."""

    def story(minute: int, variant: str) -> Searches:
        bad = variant == "candidate" and TROUBLE <= minute < TROUBLE + 30
        return many(ndcg=0.5 if bad else 0.6)

    severity = Seen(story, end=TROUBLE + 60).severity("ndcg", "candidate", against)
    assert severity[TROUBLE + 15 : TROUBLE + 30].all()
    assert not severity[TROUBLE + 45 :].any()


def test_a_sure_change_for_the_better_stays_on_record() -> None:
    seen = Seen(busy({"ndcg": 0.66}))
    assert seen.recorded("zscore:history:40m", "ndcg", None)[-1] < -5


def test_a_quiet_night_does_not_end_an_alert() -> None:
    """Too few impressions of late say nothing about a recovery."""

    def story(minute: int, variant: str) -> Searches:
        quiet = minute >= TROUBLE + 20
        return Searches(count=1.0 if quiet else MANY, means=means(ndcg=0.5 if minute >= TROUBLE else 0.6))

    assert Seen(story, end=TROUBLE + 35).severity("ndcg", None)[TROUBLE + 10 :].all()


def test_a_new_variant_needs_points_of_the_baselines_level() -> None:
    """A CTR of 1.85% instead of 2.0% is 7% lower, and 0.15 points."""

    def story(minute: int, variant: str) -> Searches:
        if variant == "candidate" and minute < TROUBLE:
            return Searches(count=0.0)
        return Searches(count=40 * MANY, means=means(ctr=0.0185 if variant == "candidate" else 0.02))

    assert not Seen(story).severity("ctr", "candidate", "baseline").any()

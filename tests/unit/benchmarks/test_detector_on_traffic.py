"""The detector on simulated traffic: what once made it fire falsely does not any more."""

import numpy as np

from benchmarks.detection.shapes import DAY, SHAPES
from benchmarks.detection.shipped import Half, certainty, record
from benchmarks.detection.traffic import NDCG, Counts, simulate, sudden
from monitor.alerting.detector import PREFIX
from monitor.alerting.evaluator import Row
from monitor.alerting.values import Values


def empty_results(bad: int) -> Counts:
    """Ten days of six impressions a minute, one in a hundred without results; then a burst of those."""
    impressions = np.full(10 * DAY, 6.0)
    found = impressions.copy()
    found[::17] -= 1.0
    found[-20:-10] = 6.0 - bad / 10
    nothing = np.zeros(len(found), dtype=bool)
    return Counts(impressions, found, found, nothing, nothing)


def highest(kind: str, counts: Counts) -> float:
    detector = Half(Values(), "history")
    return float(np.nanmax(certainty(detector, record(detector, [Row(kind)], [counts]))))


def test_a_few_users_without_results_do_not_fire_but_many_do() -> None:
    assert highest("empty", empty_results(25)) < 1
    assert highest("empty", empty_results(45)) >= 1


def test_the_first_weekend_does_not_fire_when_the_first_week_is_over() -> None:
    counts = simulate(np.random.default_rng(1), NDCG, SHAPES["weekly"], 100.0, np.zeros(11 * DAY))
    assert highest("ndcg", counts) < 1


def test_weekends_are_compared_with_the_weekend_before() -> None:
    counts = simulate(np.random.default_rng(1), NDCG, SHAPES["weekly"], 100.0, np.zeros(14 * DAY))
    detector = Half(Values(), "history")
    grid = record(detector, [Row("ndcg")], [counts])
    factors = grid.recorded[PREFIX + "weekday_factor"][0, ::10].reshape(14, -1)
    assert np.median(factors[8]) > 0.995
    assert np.median(factors[12]) < 0.98


def test_a_drop_that_takes_long_to_find_does_not_pass_for_noise() -> None:
    lost = sudden(12 * DAY, 10 * DAY, 0.1)
    counts = simulate(np.random.default_rng(2), NDCG, SHAPES["steady"], 0.1, lost)
    detector = Half(Values(), "history")
    grid = record(detector, [Row("ndcg")], [counts])
    inflation = grid.recorded[PREFIX + "inflation:6h"][0, ::10]
    before, a_day_later = inflation[10 * 144], inflation[11 * 144]
    assert before >= 1
    assert a_day_later < 1.7 * before

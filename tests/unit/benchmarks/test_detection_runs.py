"""The bench of the quality alerts counts alarms and minutes as it says."""

import numpy as np
import pytest

from benchmarks.detection.cells import Cell, Regression
from benchmarks.detection.episodes import episodes, held, upper_bound
from benchmarks.detection.rivals import filled, window, window_mean
from benchmarks.detection.runs import SHIPPED, delays
from benchmarks.detection.shapes import DAY, SHAPES
from benchmarks.detection.shipped import Half, certainty, record
from benchmarks.detection.traffic import NDCG, simulate, sudden
from monitor.alerting.evaluator import Row, firing
from monitor.alerting.values import Values


def minutes(*firing: int, total: int = 100) -> np.ndarray:
    fired = np.zeros(total, dtype=bool)
    fired[list(firing)] = True
    return fired


def test_a_gap_that_keep_firing_for_bridges_is_no_new_alarm() -> None:
    assert episodes(minutes()) == 0
    assert episodes(minutes(0, 1, 2)) == 1
    assert episodes(minutes(10, 25)) == 1
    assert episodes(minutes(10, 26)) == 2
    assert episodes(minutes(0, 50, 51, 99)) == 3
    assert episodes(minutes(0, 50, 51, 99), 51) == 1
    assert episodes(minutes(0, 50, 51, 99), 0, 50) == 1


def test_the_bound_on_what_was_not_seen_is_the_poisson_one() -> None:
    assert upper_bound(0) == pytest.approx(2.996, abs=1e-3)
    assert upper_bound(3) == pytest.approx(7.754, abs=1e-3)


def test_for_waits_until_the_condition_has_held() -> None:
    condition = minutes(2, 3, 4, 6, 7, total=10)
    assert np.flatnonzero(held(condition, 2)).tolist() == [4]
    assert np.flatnonzero(held(condition, 0)).tolist() == [2, 3, 4, 6, 7]


def test_windows_of_rivals_leave_missing_samples_out() -> None:
    values = np.array([1.0, np.nan, 3.0, 5.0])
    assert window(values, 2).tolist() == [1.0, 1.0, 3.0, 8.0]
    assert window_mean(values, 2).tolist() == [1.0, 1.0, 3.0, 4.0]
    assert filled(np.array([1.0, np.nan, np.nan, np.nan]), 3)[:3].tolist() == [1.0, 1.0, 1.0]
    assert np.isnan(filled(np.array([1.0, np.nan, np.nan, np.nan]), 3)[3])


@pytest.mark.parametrize("against", ["history", "baseline"])
def test_certainty_reaches_one_exactly_when_the_alert_fires(against: str) -> None:
    rng, total = np.random.default_rng(5), 11 * DAY
    detector = Half(Values(), against)
    rows = [Row("ndcg", "control"), Row("ndcg", "candidate")]
    lost = sudden(total, 10 * DAY, 0.1)
    counts = [simulate(rng, NDCG, SHAPES["backlog"], 1.0, drop) for drop in (np.zeros(total), lost)]
    grid = record(detector, rows, counts)
    fires = firing(detector, grid, rows, against) > 0
    assert fires[1].any()
    assert not fires[1].all()
    assert ((certainty(detector, grid) >= 1) == fires).all()


def test_delays_count_from_the_regression() -> None:
    found = delays(Regression(Cell(NDCG, "steady", 100.0), 0.2), seed=1, runs=4)
    assert all(0 < delay <= 5 for delay in found[SHIPPED])

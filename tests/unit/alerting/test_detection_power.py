"""How soon a drop is found: by the formula, and as soon as the rules themselves find it."""

import math

import numpy as np
import pytest

from monitor.alerting.calibration import HourlySums, HourlyTraffic, Measured, measure
from monitor.alerting.detection_power import Power, bound
from monitor.alerting.detection_values import Detection
from monitor.alerting.detector import Detector
from monitor.alerting.evaluator import Row, evaluate, firing
from monitor.alerting.quality_inputs import QualityMetric
from tests.unit.alerting.simulated_sums import CTR, EMPTY, LEVEL, NDCG, VALUES, VARIANCE, slots


def test_the_bound_grows_with_what_is_compared() -> None:
    assert bound(Detection(), 1, baseline=False) == 5
    assert bound(Detection(), 10, baseline=False) == pytest.approx(math.sqrt(25 + 2 * math.log(10)))
    assert bound(Detection(), 10, baseline=True) == pytest.approx(math.sqrt(25 + 2 * math.log(20)))


def power(
    metric: QualityMetric = NDCG,
    level: float = LEVEL,
    variance: float = VARIANCE,
    per_hour: float = 3600,
    inflation: float = 1.0,
    long_inflation: float = 2.0,
) -> Power:
    traffic = HourlyTraffic(per_hour, per_hour, per_hour)
    known = Measured(level, variance, traffic, inflation, long_inflation, 0.0, 0.0)
    return Power(known, metric, Detection(), 5.5)


@pytest.mark.parametrize(
    ("window", "inflation"), [(300, 1.4083), (3600, 1.5), (10800, 1.7), (21600, 2.0), (172800, 2.0)]
)
def test_the_smallest_drop_of_a_window_follows_from_its_standard_error(window: int, inflation: float) -> None:
    error = math.sqrt(VARIANCE * inflation * (1 + 1 / 7) / (3600 * window / 3600)) / LEVEL
    assert power(inflation=1.5).smallest(window) == pytest.approx(5.5 * error, rel=1e-4)


def test_a_rise_is_in_points_and_its_variance_is_that_between_before_and_after() -> None:
    smallest = power(EMPTY, level=0.02, variance=0.02 * 0.98).smallest(300)
    assert smallest is not None
    mean = 0.02 + smallest / 2
    assert smallest == pytest.approx(5.5 * math.sqrt(mean * (1 - mean) * (1 + 1 / 7) / 300))
    assert smallest > 5.5 * math.sqrt(0.02 * 0.98 * (1 + 1 / 7) / 300) * 1.2


def test_a_window_with_too_few_impressions_finds_nothing() -> None:
    assert power(per_hour=500).smallest(300) is None
    assert power(per_hour=700).smallest(300) is not None


def test_a_drop_is_found_by_the_shortest_window_that_is_sure_of_it() -> None:
    asked = power()
    for change in (0.025, 0.05, 0.1):
        window = asked.found(change).window
        assert window is not None
        able = [w for w in Detection().windows if (asked.smallest(w) or 1) <= change]
        assert window == able[0]
    assert asked.found(0.05).window == 90 * 60


def test_where_no_window_is_sure_the_missing_impressions_are_told() -> None:
    few = power(per_hour=20)
    found = few.found(0.05)
    assert found.window is None
    assert not found.too_small
    enough = power(per_hour=(20 * 48 + found.missing) / 48 + 0.01)
    assert enough.found(0.05).window == 2 * 86400
    assert power(per_hour=(20 * 48 + found.missing) / 48 - 0.01).found(0.05).window is None


def test_a_change_that_the_alert_does_not_count_is_never_found() -> None:
    assert power(EMPTY, 0.02, 0.0196).found(0.005).too_small
    # 0.025 of a click-through rate of 0.1 are 0.0025 points, and min_points is 0.005.
    assert power(CTR, 0.1, 0.09).found(0.025).too_small
    assert not power(CTR, 0.1, 0.09).found(0.05).too_small
    assert power(CTR, 0.0, 0.0).found(0.1).too_small


@pytest.mark.parametrize(
    ("per_hour", "drop", "session"), [(3600, 0.05, 1), (3600, 0.1, 1), (3600, 0.05, 3), (360, 0.1, 1)]
)
def test_the_rules_find_a_drop_about_as_soon_as_the_calibration_says(
    per_hour: float, drop: float, session: int
) -> None:
    detector, number = Detector(VALUES), 10 * 1440
    begin = number - 2 * 1440
    took, promised = [], []
    for seed in range(5):
        minutes = slots(
            number,
            per_hour / 60,
            seed,
            session=session,
            factor=lambda slot: np.where(slot >= begin, 1 - drop, 1.0),
        )
        inputs = {"impressions": minutes.count, "value": minutes.value, "squares": minutes.squares}
        rows = [Row("ndcg")]
        smoothed = {name: np.convolve(array, np.ones(5) / 5)[None, :number] for name, array in inputs.items()}
        fires = firing(detector, evaluate(detector, rows, smoothed, 0), rows, "history")[0]
        assert not fires[:begin].any()
        took.append(float(np.argmax(fires[begin:] > 0)) * 60 if fires[begin:].any() else math.inf)
        before = [array[:begin].reshape(-1, 60).sum(axis=1) for array in inputs.values()]
        known = Power(measure(HourlySums(*before), NDCG), NDCG, VALUES.detection, 5.0)
        promised.append(known.found(drop).window or math.inf)
    assert np.median(promised) / 3 <= np.median(took) <= 1.5 * np.median(promised), (took, promised)

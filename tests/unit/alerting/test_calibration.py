"""Level, traffic and noise, from hourly sums of which these are known."""

from datetime import UTC, datetime

import numpy as np
import pytest

from monitor.alerting.calibration import HourlySums, hours_left_out, measure, worst_share
from monitor.alerting.detection_values import Detection
from tests.unit.alerting.simulated_sums import CTR, LEVEL, NDCG, VARIANCE, Floats, hours


def test_level_deviation_and_traffic_of_independent_impressions_are_recovered() -> None:
    found = measure(hours(14, 2000), NDCG)
    assert found.level == pytest.approx(LEVEL, rel=0.005)
    assert found.variance == pytest.approx(VARIANCE, rel=0.01)
    assert found.traffic.mean == pytest.approx(2000, rel=0.01)
    assert found.inflation == pytest.approx(1, abs=0.25)
    assert found.long_inflation == pytest.approx(1, abs=0.4)
    assert found.daily_noise < 0.003


@pytest.mark.parametrize("session", [2, 4])
def test_sessions_inflate_the_variance_by_their_length(session: int) -> None:
    found = measure(hours(21, 2000, session=session), NDCG)
    assert found.inflation == pytest.approx(session, rel=0.2)
    assert found.variance == pytest.approx(VARIANCE, rel=0.01)


def test_the_chance_in_the_other_days_is_not_taken_for_noise() -> None:
    found = [measure(hours(4, 2000, seed, session=2), NDCG).inflation for seed in range(12)]
    assert np.mean(found) == pytest.approx(2, rel=0.12)


def test_little_data_is_not_taken_for_noise() -> None:
    few_days = [measure(hours(5, 200, seed), NDCG).long_inflation for seed in range(40)]
    assert np.mean(few_days) < 1.14
    few_impressions = [measure(hours(14, 60, seed), NDCG) for seed in range(20)]
    noise, chance = (
        np.mean([getattr(m, f"daily_{name}") for m in few_impressions]) for name in ("noise", "chance")
    )
    assert noise < chance / 2


def test_a_single_hour_counts_for_a_few_standard_errors_at_most() -> None:
    def broken(slot: Floats) -> Floats:
        return np.where(slot == 100, 0.0, 1.0)

    assert measure(hours(14, 2000, factor=broken), NDCG).inflation < 2


def test_what_repeats_every_day_is_not_noise() -> None:
    def wave(slot: Floats) -> Floats:
        return np.asarray(0.9 + 0.1 * np.sin(2 * np.pi * slot / 24))

    found = measure(hours(14, 2000, factor=wave), NDCG)
    assert found.inflation == pytest.approx(1, abs=0.25)
    assert found.daily_noise < 0.003


def test_days_that_differ_are_found_as_daily_noise_and_in_long_windows() -> None:
    rng = np.random.default_rng(5)
    by_day = 1 + 0.04 * rng.standard_normal(28)

    def wandering(slot: Floats) -> Floats:
        return np.asarray(by_day[slot.astype(int) // 24])

    found = measure(hours(28, 500, factor=wandering), NDCG)
    assert found.daily_noise == pytest.approx(0.04, rel=0.5)
    assert found.long_inflation > found.inflation > 1.3


def test_one_bad_day_is_named_and_does_not_count_as_daily_noise() -> None:
    def incident(slot: Floats) -> Floats:
        return np.where((slot >= 120) & (slot < 144), 0.7, 1.0)

    found = measure(hours(14, 2000, factor=incident), NDCG)
    assert found.daily_noise < 0.01
    assert found.bad_days == (5,)
    known = hours(14, 2000, factor=incident).without(incident(np.arange(14 * 24)) < 1)
    assert measure(known, NDCG).inflation == pytest.approx(1, abs=0.25)
    assert measure(known, NDCG).bad_days == measure(hours(14, 2000), NDCG).bad_days == ()


def test_hours_without_data_and_empty_days_are_left_out() -> None:
    whole = hours(14, 2000)
    gaps = np.zeros(14 * 24, dtype=bool)
    gaps[30:60] = gaps[::7] = True
    found = measure(whole.without(gaps), NDCG)
    assert found.level == pytest.approx(LEVEL, rel=0.005)
    assert found.traffic.mean == pytest.approx(2000, rel=0.01)
    assert found.inflation == pytest.approx(1, abs=0.3)
    silent = np.arange(14 * 24) < 10 * 24
    assert whole.without(silent).days == 4


def test_the_traffic_of_the_quietest_and_the_busiest_hour_is_told() -> None:
    by_hour = 1000 + 500 * np.sin(2 * np.pi * np.arange(24) / 24)
    count = np.tile(by_hour, 7)
    found = measure(HourlySums(count, 0.5 * count, 0.5 * count), NDCG)
    assert found.traffic == pytest.approx((1000, 500, 1500))


def test_the_variance_of_a_share_is_at_least_that_of_its_level() -> None:
    count = np.full(7 * 24, 1000.0)
    assert measure(HourlySums(count, 0.1 * count, 0.1 * count), CTR).variance == pytest.approx(0.09)
    assert measure(HourlySums(count, 0.1 * count, 0.05 * count), CTR).variance == pytest.approx(0.09)
    assert measure(HourlySums(count, 0.1 * count, 0.05 * count), NDCG).variance == pytest.approx(0.04)


def test_ignored_hours_and_those_before_an_accepted_level_are_left_out() -> None:
    at = datetime(2026, 11, 1, tzinfo=UTC)
    start = int(at.timestamp())
    ends = [start + 3600 * (i + 1) for i in range(6)]
    ignored = Detection.model_validate(
        {"ignore": [{"from": "2026-11-01T01:30:00Z", "to": "2026-11-01T03:00:00Z"}]}
    )
    assert hours_left_out(ignored, ends, "a").tolist() == [False, True, True, False, False, False]
    accepted = Detection.model_validate({"accepted": [{"since": "2026-11-01T02:00:00Z", "value": "a"}]})
    assert hours_left_out(accepted, ends, "a").tolist() == [True, True, False, False, False, False]
    assert not hours_left_out(accepted, ends, None).any()


def test_the_worst_day_counts_for_the_objective() -> None:
    count = np.full(3 * 24, 100.0)
    low = np.repeat([10.0, 37.0, 20.0], 24)
    assert worst_share(low, count, 500) == pytest.approx(0.63)
    assert worst_share(low, count, 5000) is None
    left_out = np.where(np.arange(3 * 24) < 36, np.nan, count)
    left_out[60:] = np.nan
    assert worst_share(low, left_out, 500) == pytest.approx(0.63)
    assert worst_share(np.where(np.arange(3 * 24) == 30, np.nan, low), count, 500) == pytest.approx(0.63)

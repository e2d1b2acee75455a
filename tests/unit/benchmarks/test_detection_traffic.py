"""The simulation behind the bench of the quality alerts has the moments that it says it has."""

import numpy as np
import pytest

from benchmarks.detection.shapes import DAY, OUTAGE, SHAPES, WANDER, WEEK, Shape, autocorrelated
from benchmarks.detection.traffic import (
    ABANDONMENT,
    CTR,
    EMPTY,
    EXACT_UP_TO,
    NDCG,
    NDCG_MEAN,
    NDCG_QUANTILES,
    NDCG_SQUARES,
    SESSION_INFLATION,
    Kind,
    after_improvement,
    gradual,
    simulate,
    sudden,
)

VARIANCES = {"ndcg": NDCG_SQUARES - NDCG_MEAN**2, "ctr": 0.16, "abandonment": 0.1875, "empty": 0.0099}


def inflation(kind: Kind, shape: Shape, rate: float, minutes: int) -> float:
    """Variance of the sums over some hours, in units of what independent impressions would have."""
    counts = simulate(np.random.default_rng(7), kind, shape, rate, np.zeros(minutes))
    lost = (counts.value - counts.impressions * kind.mean).reshape(-1, 120).sum(axis=1)
    impressions = counts.impressions.reshape(-1, 120).sum(axis=1)
    return float((lost**2 / impressions).mean() / VARIANCES[kind.name])


@pytest.mark.parametrize("kind", [NDCG, CTR, ABANDONMENT, EMPTY], ids=lambda kind: kind.name)
@pytest.mark.parametrize("rate", [0.1, 1.0, 100.0])
def test_sums_have_the_mean_and_the_variance_of_their_distribution(kind: Kind, rate: float) -> None:
    counts = simulate(np.random.default_rng(3), kind, Shape(), rate, np.zeros(100 * DAY))
    total = counts.impressions.sum()
    assert counts.impressions.mean() == pytest.approx(60 * rate, rel=0.01)
    standard_error = np.sqrt(VARIANCES[kind.name] / total)
    assert counts.value.sum() / total == pytest.approx(kind.mean, abs=5 * standard_error)
    variance = counts.squares.sum() / total - (counts.value.sum() / total) ** 2
    assert variance == pytest.approx(VARIANCES[kind.name], rel=0.02)
    assert inflation(kind, Shape(), rate, 100 * DAY) == pytest.approx(1.0, abs=0.2)


@pytest.mark.parametrize("kind", [NDCG, CTR, EMPTY], ids=lambda kind: kind.name)
@pytest.mark.parametrize("rate", [0.5, 100.0])
def test_sessions_inflate_the_variance_by_the_known_factor(kind: Kind, rate: float) -> None:
    assert 60 * 0.5 <= EXACT_UP_TO < 60 * 100
    assert inflation(kind, Shape(sessions=True), rate, 100 * DAY) == pytest.approx(SESSION_INFLATION, rel=0.2)


def test_ndcg_has_mass_at_0_and_1() -> None:
    assert (NDCG_QUANTILES == 0).mean() == pytest.approx(0.15, abs=0.001)
    assert np.isclose(NDCG_QUANTILES, NDCG_QUANTILES.max()).mean() == pytest.approx(0.25, abs=0.001)
    assert NDCG_QUANTILES.mean(dtype=float) == pytest.approx(0.6, abs=1e-4)


def test_a_minute_without_impressions_adds_nothing() -> None:
    counts = simulate(np.random.default_rng(1), NDCG, Shape(), 0.01, np.zeros(DAY))
    empty = counts.impressions == 0
    assert empty.any()
    assert not counts.value[empty].any()
    assert not counts.squares[empty].any()


def test_the_query_mix_wanders_with_its_standard_deviation() -> None:
    levels = autocorrelated(np.random.default_rng(2), 400 * DAY)
    assert levels.std() == pytest.approx(WANDER, rel=0.1)
    later = np.corrcoef(levels[:-120], levels[120:])[0, 1]
    assert later == pytest.approx(np.exp(-1), abs=0.08)


def test_a_holiday_looks_like_a_sunday() -> None:
    quality = SHAPES["holiday"].quality(np.random.default_rng(0), 4 * WEEK).reshape(-1, DAY)
    assert quality[16] == pytest.approx(quality[6])
    assert quality[15] == pytest.approx(quality[0])
    assert quality[6].mean() == pytest.approx(0.965)


def test_outages_leave_samples_out_and_a_backlog_is_read_afterwards() -> None:
    rng = np.random.default_rng(4)
    away = simulate(rng, CTR, Shape(away=True), 1.0, np.zeros(WEEK))
    assert away.away.sum() == OUTAGE
    assert np.isnan(away.increases()["value"]).sum() == OUTAGE
    backlog = simulate(rng, CTR, Shape(backlog=True), 1.0, np.zeros(WEEK))
    assert backlog.impressions.sum() == pytest.approx(60 * WEEK, rel=0.01)
    assert np.isnan(backlog.increases()["value"]).sum() == OUTAGE + 16
    assert np.isnan(backlog.increases(guarded=False)["value"]).sum() == OUTAGE


def test_regressions_are_of_the_size_that_is_asked_for() -> None:
    assert sudden(4, 2, 0.05).tolist() == [0.0, 0.0, 0.05, 0.05]
    assert gradual(8, 2, 0.4, over=4) == pytest.approx([0, 0, 0, 0.1, 0.2, 0.3, 0.4, 0.4])
    assert after_improvement(4 * DAY, 3 * DAY, 0.05, 1)[[0, 2 * DAY, 3 * DAY]].tolist() == [0.0, -0.05, 0.0]
    assert EMPTY.levels(np.ones(1), np.array([0.03])) == pytest.approx([0.96])
    assert NDCG.levels(np.ones(1), np.array([0.05])) == pytest.approx([0.57])

"""The page of the bench says which cells fall short."""

import math

import pytest

from benchmarks.detection.detection_page import SHIPPED, Measured, Run, Waited, extrapolated, page


def measured(cell: str, detector: str, alarms: int = 0, near: dict[float, int] | None = None) -> Measured:
    return Measured(cell, detector, 945.0, alarms, 0, 0, near or {0.6: 0, 0.9: 0})


def text(*results: Measured | Waited) -> str:
    run = Run(60.0)
    for one in results:
        run.add(one)
    return "\n".join(page(run))


def test_alarms_of_the_same_cell_are_added_up() -> None:
    run = Run(1.0)
    for alarms in (1, 2):
        run.add(measured("ndcg, daily, 1/s", SHIPPED, alarms, {0.6: 4}))
    (both,) = run.measured
    assert (both.alarms, both.series_days, both.near) == (3, 1890.0, {0.6: 8})


def test_an_installation_has_as_many_series_as_it_watches_or_compares() -> None:
    assert measured("ndcg, daily, 1/s", SHIPPED, 1).per_installation(1) == pytest.approx(10.0)
    assert measured("ndcg, daily, 1/s, 95/5", SHIPPED, 1).per_installation(1) == pytest.approx(9.52, abs=0.01)


def test_the_tail_is_extrapolated_from_z_scores_that_come_near() -> None:
    tail = {share: round(1e6 * math.exp(-18 * share**2)) for share in (0.6, 0.7, 0.8, 0.9)}
    expected = 10 * 1e6 * math.exp(-18)
    assert extrapolated(measured("ndcg, daily, 1/s", SHIPPED, 0, tail)) == pytest.approx(expected, rel=0.02)
    assert math.isnan(extrapolated(measured("ndcg, daily, 1/s", SHIPPED, 0, {0.6: 4, 0.9: 0})))


def test_the_page_names_cells_with_false_alarms_and_rivals_that_are_faster() -> None:
    quiet, loud = "ndcg, daily, 1/s", "ndcg, sessions, 1/s"
    written = text(
        measured(quiet, SHIPPED),
        measured(quiet, "CUSUM"),
        measured(loud, SHIPPED, 2),
        measured(loud, "CUSUM"),
        Waited("ndcg, daily, 1/s, 5%", SHIPPED, 100.0, None),
        Waited("ndcg, daily, 1/s, 5%", "CUSUM", 80.0, 120.0),
    )
    assert f"SHORT: {loud}: 20.0 false alarms" in written
    assert f"SHORT: {quiet}: " not in written
    assert "SHORT: ndcg, daily, 1/s, 5%: CUSUM takes 80 minutes, not 100" in written
    assert "| ndcg, daily, 1/s, 5% | 100 / - | 80 / 120 |" in written


def test_a_rival_with_false_alarms_is_not_eligible() -> None:
    written = text(
        measured("ndcg, daily, 1/s", SHIPPED),
        measured("ndcg, daily, 1/s", "CUSUM", 1),
        Waited("ndcg, daily, 1/s, 5%", SHIPPED, 100.0, None),
        Waited("ndcg, daily, 1/s, 5%", "CUSUM", 80.0, 120.0),
    )
    assert "SHORT" not in written
    assert "in any cell: none" in written

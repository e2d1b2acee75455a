"""What is said about a calibration, and which values it changes."""

import io
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import yaml
from rich.console import Console

from monitor.alerting.calibrated_values import calibrated_values
from monitor.alerting.calibration import HourlySums
from monitor.alerting.calibration_report import Calibration, suggested_budget
from monitor.alerting.evaluator import Row
from monitor.alerting.hourly_history import History
from monitor.alerting.quality_inputs import quality_metrics
from monitor.alerting.values import Values
from monitor.cli.calibration_tables import calibration_tables
from tests.unit.alerting.simulated_sums import Floats, hours

START = 1_700_000_000 // 3600 * 3600
DAYS = 14


def calibration(
    rows: Mapping[Row, HourlySums], *, low: float | None = None, label_values: int = 0, **given: Any
) -> Calibration:
    """Of a label with so many values, of which the first is the baseline."""
    values = Values.model_validate(given)
    names = {row.metric for row in rows}
    metrics = [metric for metric in quality_metrics(values) if metric.name in names]
    absent = [metric for metric in quality_metrics(values) if metric.name not in names]
    history = History(START, START + DAYS * 86400, metrics, absent, dict(rows), len(rows))
    history.label_values = ["control", *map(str, range(1, label_values))][:label_values]
    if low is not None:
        history.low = low * rows[Row("ndcg")].count
    return Calibration(values, history)


def rendered(found: Calibration) -> str:
    """The tables as a terminal shows them."""
    output = io.StringIO()
    Console(file=output, width=300).print(calibration_tables(found))
    return output.getvalue()


def said(found: Calibration) -> str:
    return "\n".join(found.notes())


def test_nothing_is_changed_where_everything_is_as_the_defaults_expect() -> None:
    found = calibration({Row("ndcg"): hours(DAYS, 1000)})
    assert found.values == Values()
    assert yaml.safe_load(calibrated_values(found)) is None
    assert "varies" not in said(found)
    assert "incident" not in said(found)


def test_metrics_without_series_are_said_to_be_not_configured() -> None:
    text = said(calibration({Row("ndcg"): hours(DAYS, 1000)}))
    assert "CTR@10 is not configured" in text
    assert "NDCG@10 is not configured" not in text


def test_a_bad_day_is_named_with_the_value_that_leaves_it_out() -> None:
    def incident(slot: Floats) -> Floats:
        return np.where((slot >= 48) & (slot < 72), 0.7, 1.0)

    text = said(calibration({Row("ndcg"): hours(DAYS, 1000, factor=incident)}))
    assert "`detection: {ignore: [{from: 2023-11-16T22:00:00Z, to: 2023-11-17T22:00:00Z}]}`" in text
    # What is suggested can be given.
    value = yaml.safe_load(text.partition("set `")[2].partition("`")[0])
    assert len(Values.model_validate(value).detection.ignore) == 1


def test_less_than_a_week_of_data_is_told() -> None:
    sums = hours(DAYS, 1000)
    short = sums.without(np.arange(DAYS * 24) < 9 * 24)
    assert "There are 5 days of data. Until there are 7" in said(calibration({Row("ndcg"): short}))


def test_a_value_of_the_label_with_little_traffic_is_counted() -> None:
    rows = {
        Row("ndcg"): hours(DAYS, 1000),
        Row("ndcg", "control"): hours(DAYS, 1000),
        Row("ndcg", "rare"): hours(DAYS, 2),
    }
    text = said(calibration(rows, label_values=2))
    assert "NDCG@10: 1 of 2 values of variant have too little traffic to find even 10% within 2d" in text


def test_a_baseline_that_the_label_does_not_have_is_told() -> None:
    rows = {Row("ndcg"): hours(DAYS, 1000)}
    assert "baseline" not in said(calibration(rows, label_values=2))
    assert "variant has no value stable" in said(calibration(rows, label_values=2, baseline="stable"))
    assert "variant has no values but unknown and other" in said(calibration(rows, label_values=0))
    assert "variant" not in said(calibration(rows, label_values=0, label=None))


def test_a_level_of_nothing_is_no_error() -> None:
    count = np.full(DAYS * 24, 1000.0)
    nothing = HourlySums(count, 0 * count, 0 * count)
    found = calibration({Row("ndcg"): nothing, Row("empty"): nothing, Row("ctr"): nothing})
    text = calibrated_values(found)
    assert "ndcg of the whole job: level 0.0000" in text
    assert "2.5% never, the level is 0" in text
    shown = rendered(found)
    assert "never, the level is 0" in shown
    # A rise from 0 can be found: with 1500 impressions in 90m it is about (25 + 2 ln 6) * 8 / 7 / 2 / 1500.
    assert "  1.1 points  " in shown


@pytest.mark.parametrize(("number", "many"), [(50, False), (51, True)])
def test_a_label_with_too_many_values_is_told(number: int, many: bool) -> None:
    rows = {Row("ndcg"): hours(DAYS, 1000), Row("ndcg", "control"): hours(DAYS, 1000)}
    text = said(calibration(rows, label_values=number))
    assert (f"variant has {number} values" in text) is many
    assert f"The 20 busiest values of variant are listed; {number - 20} are left out." in text


def test_noise_from_day_to_day_raises_the_smallest_drop_but_that_of_one_value_is_only_told() -> None:
    def wandering(slot: Floats) -> Floats:
        return np.where(slot // 24 % 2, 1.05, 0.95)

    noisy, steady = hours(DAYS, 1000, factor=wandering), hours(DAYS, 1000)
    of_job = calibration({Row("ndcg"): noisy, Row("ndcg", "a"): steady}, label_values=1)
    assert of_job.values.VectorNDCGRegression.min_drop > 0.05
    assert of_job.values.VectorMRRRegression == Values().VectorMRRRegression
    assert "the values file raises it" in said(of_job)
    assert Values.model_validate(yaml.safe_load(calibrated_values(of_job))) == of_job.values
    of_value = calibration({Row("ndcg"): steady, Row("ndcg", "a"): noisy}, label_values=1)
    assert of_value.values == Values()
    assert "NDCG@10 of a varies by" in said(of_value)


def test_days_that_differ_by_chance_raise_nothing() -> None:
    for seed in range(20):
        assert calibration({Row("ndcg"): hours(DAYS, 4, seed)}).values == Values()


def test_the_objective_is_that_of_the_worst_day_rounded_down_and_only_suggested() -> None:
    rows = {Row("ndcg"): hours(DAYS, 1000)}
    found = calibration(rows, low=0.0849)
    assert found.objective() == 0.91
    assert found.values.VectorNDCGBudgetBurn.objective is None
    assert "# VectorNDCGBudgetBurn: {objective: 0.91}\n" in calibrated_values(found)
    missed = calibration(rows, low=0.0849, VectorNDCGBudgetBurn={"objective": 0.95, "slow": {"factor": 2}})
    assert "less than the objective of VectorNDCGBudgetBurn (0.95)" in said(missed)
    assert "# VectorNDCGBudgetBurn" not in calibrated_values(missed)
    assert calibration(rows, low=0.95).objective() is None
    assert calibration(rows).objective() is None


@pytest.mark.parametrize("objective", [0.1, 0.3, 0.62, 0.8, 0.9, 0.99])
def test_a_suggested_budget_can_be_used_up(objective: float) -> None:
    budget = suggested_budget(objective)
    for rate in (budget.fast, budget.slow):
        assert 1 < rate.factor < 1 / budget.budget


def test_label_values_cannot_break_out_of_the_comments() -> None:
    rows = {Row("ndcg"): hours(DAYS, 1000), Row("ndcg", "a\njob: stolen\x1b[31m"): hours(DAYS, 1000)}
    text = calibrated_values(calibration(rows, label_values=1))
    assert yaml.safe_load(text) is None
    assert "\x1b" not in text


def test_what_was_given_is_kept_in_the_file() -> None:
    given = {
        "job": "search",
        "label": None,
        "VectorCTRRegression": None,
        "detection": {
            "min_zscore": 6,
            "ignore": [{"from": "2026-11-01T12:00:00Z", "to": "2026-11-01T15:00:00Z"}],
            "accepted": [{"since": "2026-11-01T12:00:00+01:00"}],
        },
        "RankingMonitorDown": {"for": "10m"},
    }
    found = calibration({Row("ndcg"): hours(DAYS, 1000)}, **given)
    read = yaml.safe_load(calibrated_values(found))
    assert Values.model_validate(read) == Values.model_validate(given)
    assert Values.model_validate(read).left_out == {"VectorCTRRegression"}
    assert read["RankingMonitorDown"] == {"for": "10m"}
    assert math.isclose(read["detection"]["min_zscore"], 6)

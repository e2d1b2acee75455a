"""The values of the rules: what is valid, what a part of them changes, and the message for what is not."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from monitor.alerting.values import Values, load_values
from monitor.config import ConfigError

INVALID = {
    "lable: variant": "lable: unknown key; see deploy/prometheus/values.yaml",
    "VectorNDCGRegression: {drop: 0.1}": "VectorNDCGRegression.drop: unknown key; "
    "see deploy/prometheus/values.yaml",
    "comparison: {range: soon}": "comparison.range: must be a duration in whole seconds, "
    'up to 100 years, such as 30s, 5m, 1h30m or 7d, not "soon"',
    "comparison: {range: 0.5}": "comparison.range: must be a duration in whole seconds, "
    'up to 100 years, such as 30s, 5m, 1h30m or 7d, not "0.5"',
    "comparison: {range: 0s}": "comparison.range: must be at least 1s",
    "comparison: {yesterday: 7d}": "comparison: last_week must be further back than yesterday",
    "comparison: hourly": 'comparison: must be a mapping of keys, not "hourly"',
    "VectorMRRRegression: {min_drop: 5}": "VectorMRRRegression.min_drop: "
    'Input should be less than 1, not "5"',
    "VectorTrafficDrop: {severity: page}": "VectorTrafficDrop.severity: Input should be 'critical', "
    "'warning' or 'info', not \"page\"",
    "VectorNDCGBudgetBurn: {objective: 0.9, fast: {factor: 14.4}}": "VectorNDCGBudgetBurn: "
    "fast.factor 14.4 can never fire: "
    "with all impressions bad an objective of 0.9 burns 10 times as fast; give less than that",
    "VectorNDCGBudgetBurn: {objective: 0.5}": "VectorNDCGBudgetBurn: fast.factor 5 can never fire: "
    "with all impressions bad an objective of 0.5 burns 2 times as fast; give less than that",
    "VectorNDCGBudgetBurn: {objective: 0.9, slow: {short: 6h}}": "VectorNDCGBudgetBurn: "
    "slow.short must be less than slow.long",
    "VectorNDCGBudgetBurn: {low: 0.55}": "VectorNDCGBudgetBurn.low: must be a bound of the histograms "
    "below 1: 0.0, 0.1 .. 0.9, not 0.55",
    "label: le": 'label: label name "le" is used by Prometheus or by the metric families; rename it',
    "baseline: '{{ evil }}'": "baseline: String should match pattern '^[^`%{}]+$', not \"{{ evil }}\"",
    "VectorNDCGBudgetBurn: {objective: 0.9999999}": "VectorNDCGBudgetBurn.objective: "
    'Input should be less than or equal to 0.9999, not "0.9999999"',
    **{
        f"label: {name}": f'label: label "{name}" is set by the rules themselves; rename it'
        for name in ("severity", "against", "alertname", "judgments", "of", "speed")
    },
    "label: reason": 'label: label name "reason" is used by Prometheus or by the metric families; rename it',
    "label: window": 'label: label name "window" is used by Prometheus or by the metric families; rename it',
    "comparison: {range: 3m}": "comparison.range must be at least 4m, "
    "4 times the evaluation_interval, not 3m",
    "evaluation_interval: 2m": "detection.windows[0] must be at least 8m, "
    "4 times the evaluation_interval, not 5m",
    "RankingMonitorEvicting: {range: 1m}": "RankingMonitorEvicting.range must be at least 4m, "
    "4 times the evaluation_interval, not 1m",
    "RankingMonitorCommitsStopped: {max_age: 2m}": "RankingMonitorCommitsStopped.max_age must be at least "
    "4m, 4 times the evaluation_interval, not 2m",
    "RankingMonitorLateImpressions: {range: 1m}": "RankingMonitorLateImpressions.range must be at least 4m, "
    "4 times the evaluation_interval, not 1m",
    "RankingMonitorSenderAhead: {max_lead: 1.5}": "RankingMonitorSenderAhead.max_lead: must be a duration in "
    'whole seconds, up to 100 years, such as 30s, 5m, 1h30m or 7d, not "1.5"',
    "RankingMonitorClockSkew: {max_skew: 0s}": "RankingMonitorClockSkew.max_skew: must be at least 1s",
    "comparison: {range: 2d}": "comparison: yesterday must be at least as far back as range, "
    "or both are of the same time",
    "comparison: {min_samples: 20}": "comparison.min_samples: "
    'Input should be greater than or equal to 30, not "20"',
    "VectorNDCGRegression: {min_drop: 0}": "VectorNDCGRegression.min_drop: "
    'Input should be greater than 0, not "0"',
    "VectorNDCGRegression: {min_drop: 0.1}": "VectorNDCGRegression: "
    "critical_drop must be at least min_drop (0.1)",
    "VectorEmptyResultsRise: {critical_rise: 0.005}": "VectorEmptyResultsRise: "
    "critical_rise must be at least min_rise (0.01)",
    "VectorMRRRegression: {for: 5m}": "VectorMRRRegression.for: unknown key; "
    "see deploy/prometheus/values.yaml",
    "detection: {windows: []}": "detection: "
    "windows must be given once each, from the shortest to the longest",
    "detection: {windows: [10m, 5m]}": "detection: "
    "windows must be given once each, from the shortest to the longest",
    "detection: {windows: [5m, 2h5m]}": "detection: the window 125m must be a multiple of chunk (10m), "
    "because it is longer than 100m",
    "detection: {windows: [5m, 8d]}": "detection: the window 8d is longer than the 7d it would be compared "
    "with; give fewer windows or more days",
    "detection: {windows: [330s, 1h]}": "detection.windows[0] must be a multiple of evaluation_interval, 1m, "
    "not 330s",
    "detection: {around: 2h}": "detection: around must be at most ten times chunk: 100m",
    "detection: {day: 1h}": "detection: "
    "the window 2d is longer than the 7h it would be compared with; give fewer windows or more days",
    "detection: {accepted: [{since: 2026-11-01}]}": "detection.accepted[0].since: "
    'Input should have timezone info, not "2026-11-01"',
    "detection: {ignore: [{from: 2026-11-02T00:00:00Z, to: 2026-11-01T00:00:00Z}]}": "detection.ignore[0]: "
    "to (2026-11-01T00:00:00+00:00) must be after from (2026-11-02T00:00:00+00:00)",
    "k: true": "k: must be a number, not true",
    "VectorMRRRegression: {min_drop: true}": "VectorMRRRegression.min_drop: must be a number, not true",
    "runbooks: 'https://example.com/{{ evil }}'": 'runbooks: must be an address without "{{"',
    "dashboards: '{{ evil }}'": 'dashboards: must be an address without "{{"',
    "comparison: null": 'comparison: must be a mapping of keys, not "None"',
    "[]": "must be a mapping of keys, not list",
}


def read(folder: Path, text: str) -> Values:
    path = folder / "my.yaml"
    path.write_text(text, encoding="utf-8")
    return load_values(path)


@pytest.mark.parametrize("text", INVALID)
def test_a_mistake_gets_one_line_that_says_what_to_do(text: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        read(tmp_path, text)
    assert str(caught.value) == f"{tmp_path / 'my.yaml'}: {INVALID[text]}"


def test_an_empty_file_and_no_file_are_the_defaults(tmp_path: Path) -> None:
    assert read(tmp_path, "") == load_values(None) == Values()


def test_a_part_of_a_block_leaves_the_rest_at_its_defaults(tmp_path: Path) -> None:
    values = read(
        tmp_path,
        "VectorNDCGRegression: {min_drop: 0.03}\nVectorNDCGBudgetBurn: {fast: {factor: 3}}\n"
        "comparison: {range: 1h30m}",
    )
    default = Values()
    assert values.VectorNDCGRegression == default.VectorNDCGRegression.model_copy(update={"min_drop": 0.03})
    assert values.VectorNDCGBudgetBurn.fast.factor == 3
    assert values.VectorNDCGBudgetBurn.fast.severity == "critical"
    assert values.VectorNDCGBudgetBurn.slow == default.VectorNDCGBudgetBurn.slow
    assert values.comparison.range == 5400


def test_for_is_written_as_prometheus_writes_it(tmp_path: Path) -> None:
    assert read(tmp_path, "VectorTrafficDrop: {for: 5s}").VectorTrafficDrop.for_ == 5


def test_addresses_end_without_a_slash(tmp_path: Path) -> None:
    values = read(tmp_path, "runbooks: https://example.com/runbooks/\ndashboards: https://example.com/d//")
    assert (values.runbooks, values.dashboards) == ("https://example.com/runbooks", "https://example.com/d")


def test_values_do_not_change() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Values().k = 5  # type: ignore[misc]

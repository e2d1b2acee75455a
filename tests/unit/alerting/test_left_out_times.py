"""Times that are no standard: where the rules leave them out."""

import pytest

from monitor.alerting.detector import Detector
from monitor.alerting.values import Values

SINCE, UNTIL = "2026-11-01T12:00:00Z", "2026-11-01T15:00:00Z"
LEFT_OUT = {
    "accepted": ({"accepted": [{"since": SINCE}]}, "unless on () (vector(time() - {ago}) >= 0 <= {end})"),
    "accepted for a value": (
        {"accepted": [{"since": SINCE, "value": "candidate"}]},
        "unless on (variant) label_replace((vector(time() - {ago}) >= 0 <= {end})",
    ),
    "ignore": (
        {"ignore": [{"from": SINCE, "to": UNTIL}]},
        "unless on () (vector(time() - {ago}) >= 1793534400 <= {end})",
    ),
}
READS_THE_PAST = ["impressions:base", "value:base", "impressions:weekday_base", "weekday_factor"]


def promql(detection: object, name: str) -> str:
    values = Values.model_validate({"detection": detection})
    return next(rule.expression.promql() for rule in Detector(values).rules() if rule.name == name)


@pytest.mark.parametrize("name", READS_THE_PAST)
@pytest.mark.parametrize("kind", LEFT_OUT)
def test_every_rule_that_reads_a_week_ago_leaves_them_out(kind: str, name: str) -> None:
    """A week after an incident, too, it must not make the weekday look bad."""
    detection, expected = LEFT_OUT[kind]
    around = 6 * 3600 if "weekday" in name else 3600
    # A sum over an hour that ends within an hour after the time still reaches into it.
    until = {"ignore": 1793545200}.get(kind, 1793534400) + around
    ago = 7 * 86400 - around // 2
    assert expected.format(ago=ago, end=until) in promql(detection, name)


@pytest.mark.parametrize("name", READS_THE_PAST)
def test_without_such_times_nothing_is_left_out(name: str) -> None:
    assert "unless" not in promql({}, name)

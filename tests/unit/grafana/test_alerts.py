"""Dashboards and alert rules name each other, and mean the same."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml

from grafana import runbooks
from monitor.alerting.render import rules_file
from monitor.alerting.values import Values
from tests.support.grafana import DASHBOARDS, Target, targets, variables

VALUES = Values.model_validate({"VectorNDCGBudgetBurn": {"objective": 0.9}})
RULES = [rule for group in yaml.safe_load(rules_file(VALUES))["groups"] for rule in group["rules"]]
ALERTS = [rule for rule in RULES if "alert" in rule]
TIMELINES = [target for target in targets() if target.panel["title"] == "Alerts"]


def test_there_is_a_runbook_for_each_alert_and_no_other() -> None:
    assert {alert["alert"] for alert in ALERTS} == set(runbooks.Runbook)


def test_both_find_the_runbooks_in_the_same_place() -> None:
    assert Values().runbooks == runbooks.URL


def test_an_alert_links_to_a_dashboard_that_exists_and_to_variables_that_it_has() -> None:
    by_uid = {dashboard["uid"]: dashboard for dashboard in DASHBOARDS.values()}
    for alert in ALERTS:
        link = urlsplit(alert["annotations"]["dashboard_url"])
        declared = variables(by_uid[link.path.rsplit("/", 1)[-1]])
        assert {name.removeprefix("var-") for name in parse_qs(link.query)} <= set(declared), alert["alert"]


def test_each_dashboard_has_a_timeline_of_alerts() -> None:
    assert {timeline.dashboard for timeline in TIMELINES} == set(DASHBOARDS)


@pytest.mark.parametrize("timeline", TIMELINES, ids=str)
def test_no_two_alerts_and_no_two_jobs_share_a_line(timeline: Target) -> None:
    grouped = re.match(r"max by \(([^)]+)\)", timeline.expression)
    assert grouped is not None
    labels = grouped[1].split(", ")
    assert "job" in labels
    lines = [(alert["alert"], *(alert["labels"].get(label) for label in labels)) for alert in ALERTS]
    assert len(set(lines)) == len(ALERTS)
    assert re.findall(r"{{(.+?)}}", timeline.query["legendFormat"]) == labels

"""The unit tests of the rules that are shipped for promtool: they pass, and they cover every alert."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.alerting.render import groups
from monitor.alerting.values import Values
from tests.rules.budget import budget_rules
from tests.support.documents import ROOT
from tests.support.programs import program

pytestmark = pytest.mark.prometheus

FOLDER = ROOT / "deploy/prometheus/tests"
FILES = sorted(FOLDER.glob("*.yaml"))
ALERTS = sorted(name for name in Values.model_fields if name.startswith(("Vector", "RankingMonitor")))


def cases(path: Path) -> list[dict[str, Any]]:
    """What a file expects of an alert at a time."""
    tests = yaml.safe_load(path.read_text(encoding="utf-8"))["tests"]
    return [case for test in tests for case in test["alert_rule_test"]]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_promtool_passes_the_shipped_tests(path: Path) -> None:
    if path.stem == "history":
        pytest.skip("evaluates a day, which takes minutes: run `make rules`")
    done = subprocess.run(
        [program("promtool", "prometheus"), "test", "rules", path.name],
        capture_output=True,
        text=True,
        check=False,
        cwd=FOLDER,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SUCCESS" in done.stdout + done.stderr


@pytest.mark.parametrize("name", ALERTS)
def test_every_alert_fires_in_one_case_and_is_silent_in_another(name: str) -> None:
    expected = [
        bool(case["exp_alerts"]) for path in FILES for case in cases(path) if case["alertname"] == name
    ]
    assert set(expected) == {True, False}


@pytest.mark.parametrize("against", ["history", "baseline"])
def test_every_alert_on_a_change_fires_against_history_and_against_the_baseline(against: str) -> None:
    """Warnings need a week of history, which would take promtool half an hour."""
    expected = {
        (case["alertname"], alert["exp_labels"]["against"])
        for path in FILES
        for case in cases(path)
        for alert in case["exp_alerts"]
        if "against" in alert["exp_labels"]
    }
    shipped = {
        (rule["alert"], rule["labels"]["against"])
        for group in groups(Values())
        for rule in group["rules"]
        if rule.get("labels", {}).get("against") == against and "alert" in rule
    }
    assert shipped
    assert shipped <= expected


def test_the_rules_of_the_budget_are_rendered_from_the_values() -> None:
    assert (FOLDER / "rules/budget.yaml").read_text(encoding="utf-8") == budget_rules()

"""The rule file as Prometheus's own tools take it, and the command that writes it."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from monitor.alerting.render import rules_file
from monitor.alerting.values import Values
from tests.support.documents import ROOT, text
from tests.support.programs import program

pytestmark = pytest.mark.prometheus

QUICK = """
evaluation_interval: 2s
comparison: {range: 30s, yesterday: 60s, last_week: 2m, min_samples: 50}
detection: {windows: [8s, 16s, 32s], day: 60s, days: 2, around: 8s, weekday_around: 16s, chunk: 2s,
  slow_interval: 4s}
VectorNDCGRegression: {keep_firing_for: 10s}
"""


def rules_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "monitor.cli", "rules", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )


def check(path: Path) -> None:
    done = subprocess.run(
        [program("promtool", "prometheus"), "check", "rules", "--lint-fatal", path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SUCCESS" in done.stdout
    assert "duplicate" not in done.stdout + done.stderr
    assert done.stderr.strip() == ""


@pytest.mark.parametrize(
    "values",
    [Values(), Values(label=None), Values(label="engine", baseline='the "old" one\\')],
    ids=["default", "no label", "odd baseline"],
)
def test_promtool_has_nothing_to_say_about_the_rules(values: Values, tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(rules_file(values), encoding="utf-8")
    check(path)


def test_promtool_has_nothing_to_say_about_the_sample_configuration() -> None:
    done = subprocess.run(
        [program("promtool", "prometheus"), "check", "config", "prometheus.yml"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT / "deploy/prometheus",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 rule files found" in done.stdout


def test_the_command_prints_the_committed_rules() -> None:
    done = rules_command()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == text("deploy/prometheus/rules.yaml")


def test_the_command_writes_a_teams_own_rules(tmp_path: Path) -> None:
    values, output = tmp_path / "my.yaml", tmp_path / "rules.yaml"
    values.write_text(QUICK, encoding="utf-8")
    done = rules_command("--values", str(values), "--output", str(output))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    check(output)
    quality = yaml.safe_load(output.read_text(encoding="utf-8"))["groups"][0]
    assert quality["interval"] == "2s"
    assert any("offset 56s" in rule["expr"] for rule in quality["rules"])
    alert = next(rule for rule in quality["rules"] if rule.get("alert") == "VectorNDCGRegression")
    assert alert["keep_firing_for"] == "10s"


def test_a_mistake_in_the_values_gets_one_line(tmp_path: Path) -> None:
    path = tmp_path / "my.yaml"
    path.write_text("lable: x", encoding="utf-8")
    done = rules_command("--values", str(path))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"ranking-monitor: {path}: lable: unknown key; see deploy/prometheus/values.yaml\n"


def test_a_file_that_cannot_be_written_gets_one_line(tmp_path: Path) -> None:
    done = rules_command("--output", str(tmp_path / "no" / "rules.yaml"))
    assert done.returncode == 2
    assert "No such file or directory" in done.stderr
    assert "Traceback" not in done.stderr

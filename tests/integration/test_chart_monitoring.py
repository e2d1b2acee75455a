"""What the chart gives to Prometheus: its monitors and its rules speak of the same job."""

import re
import shutil
from pathlib import Path

import pytest
import yaml

from monitor.alerting.render import rules_file
from monitor.alerting.values import Values
from tests.support.helm import CHART, VALUES, Manifests, needs_helm, rendered

pytestmark = needs_helm
SECOND = CHART / "ci/second-release-values.yaml"


def jobs_set(manifests: Manifests) -> set[str]:
    """The jobs that the monitors give to what they scrape."""
    monitors = [*manifests.get("ServiceMonitor", []), *manifests.get("PodMonitor", [])]
    specs = [monitor["spec"] for monitor in monitors]
    assert not any("jobLabel" in spec for spec in specs)
    endpoints = [e for spec in specs for e in spec.get("endpoints", []) + spec.get("podMetricsEndpoints", [])]
    relabelings = [relabeling for endpoint in endpoints for relabeling in endpoint["relabelings"]]
    return {r["replacement"] for r in relabelings if r["targetLabel"] == "job"}


def jobs_sought(manifests: Manifests) -> set[str]:
    """The jobs that the rules look for."""
    groups = [group for rule in manifests.get("PrometheusRule", []) for group in rule["spec"]["groups"]]
    expressions = [rule["expr"] for group in groups for rule in group["rules"]]
    return {job for expr in expressions for job in re.findall(r'\bjob=~?"([^"]*)"', expr)}


def notes(settings: str, folder: Path) -> str:
    """What helm says after an installation with these settings."""
    chart = folder / "ranking-monitor"
    shutil.copytree(CHART, chart)
    included = '{{ include (print .Template.BasePath "/NOTES.txt") . | quote }}'
    (chart / "templates/notes.yaml").write_text(f"kind: Notes\ntext: {included}\n")
    (manifest,) = rendered(chart, "--set", settings)["Notes"]
    return str(manifest["text"])


@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem)
def test_rules_look_for_the_job_that_the_monitors_set(values: Path) -> None:
    given = yaml.safe_load(values.read_text())
    job = given.get("monitoring", {}).get("job", "ranking-monitor")
    manifests = rendered(CHART, "--values", values)
    assert jobs_set(manifests) <= {job}
    if given.get("rules", {}).get("enabled") and "content" not in given["rules"]:
        assert jobs_sought(manifests) == {job}


@pytest.mark.parametrize("kind", ["ServiceMonitor", "PodMonitor"])
def test_the_job_is_a_value_and_not_the_name(kind: str) -> None:
    settings = f"monitoring.kind={kind},rules.enabled=true,nameOverride=foo,fullnameOverride=bar"
    manifests = rendered(CHART, "--set", settings)
    assert jobs_set(manifests) == jobs_sought(manifests) == {"ranking-monitor"}
    manifests = rendered(CHART, "--set", f"{settings},monitoring.job=books")
    assert jobs_set(manifests) == jobs_sought(manifests) == {"books"}


def test_the_rules_are_those_that_the_command_prints_for_these_values() -> None:
    values = Values(
        job="ranking-monitor-books",
        runbooks="https://wiki.example.com/search/runbooks",
        dashboards="https://grafana.example.com/d",
    )
    (rules,) = rendered(CHART, "--values", SECOND)["PrometheusRule"]
    assert rules["spec"] == yaml.safe_load(rules_file(values))


@pytest.mark.parametrize(
    ("kind", "endpoints"), [("ServiceMonitor", "endpoints"), ("PodMonitor", "podMetricsEndpoints")]
)
def test_a_monitor_sends_the_token_that_the_daemon_wants(kind: str, endpoints: str) -> None:
    for token, sent in (("first", {"commit_token": ["first"]}), ("", None)):
        (monitor,) = rendered(CHART, "--set", f"monitoring.kind={kind},config.commit_token={token}")[kind]
        assert [endpoint.get("params") for endpoint in monitor["spec"][endpoints]] == [sent]


def test_annotations_ask_for_the_token_too() -> None:
    for token, asked in (("first", "first"), ("", None)):
        (deployment,) = rendered(CHART, "--set", f"config.commit_token={token}")["Deployment"]
        annotations = deployment["spec"]["template"]["metadata"]["annotations"]
        assert annotations["prometheus.io/scrape"] == "true"
        assert annotations.get("prometheus.io/param_commit_token") == asked


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("monitoring.kind=none", True),
        ("monitoring.kind=none,config.commit=interval", False),
        ("monitoring.kind=annotations", False),
    ],
)
def test_the_notes_say_how_to_commit_where_nothing_scrapes(settings: str, said: bool, tmp_path: Path) -> None:
    assert ("set config.commit to interval" in notes(settings, tmp_path)) == said


@pytest.mark.parametrize(
    ("settings", "warned"),
    [
        ("rules.enabled=true", {"rules.runbooksUrl", "rules.dashboardsUrl"}),
        ("rules.enabled=true,rules.runbooksUrl=https://wiki.example.com", {"rules.dashboardsUrl"}),
        ("rules.enabled=true,rules.dashboardsUrl=https://grafana.example.com/d", {"rules.runbooksUrl"}),
        ("rules.enabled=true,rules.content=groups: []", set()),
        ("rules.enabled=false", set()),
    ],
)
def test_the_notes_warn_of_links_that_lead_nowhere(settings: str, warned: set[str], tmp_path: Path) -> None:
    lines = notes(settings, tmp_path).splitlines()
    warnings = [line for line in lines if line.startswith("WARNING: ")]
    assert {re.findall(r"set (rules\.\w+)", line)[0] for line in warnings} == warned

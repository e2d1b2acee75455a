"""What the chart gives to Prometheus: its monitors and its rules speak of the same job."""

import base64
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


def token_of(manifests: Manifests) -> str:
    """The token that the daemon is given: its configuration names a file of a volume, which is the Secret."""
    (config,) = [c["data"]["monitor.yaml"] for c in manifests["ConfigMap"] if "monitor.yaml" in c["data"]]
    path = Path(yaml.safe_load(config)["commit_token_file"])
    (secret,) = manifests["Secret"]
    pod = manifests["Deployment"][0]["spec"]["template"]["spec"]
    (volume,) = [v for v in pod["volumes"] if v["name"] == "ranking-monitor-token"]
    (mount,) = [m for m in pod["containers"][0]["volumeMounts"] if m["name"] == "ranking-monitor-token"]
    assert path.parent == Path(mount["mountPath"])
    assert volume["secret"]["secretName"] == secret["metadata"]["name"]
    token = base64.b64decode(secret["data"][path.name]).decode()
    assert token not in config
    return token


@pytest.mark.parametrize(
    ("kind", "endpoints"), [("ServiceMonitor", "endpoints"), ("PodMonitor", "podMetricsEndpoints")]
)
@pytest.mark.parametrize(
    ("settings", "token"),
    [("", None), ("commitToken.value=first", "first"), ("config.commit_token=first", "first")],
)
def test_a_monitor_sends_the_token_of_the_daemon_as_a_header(
    kind: str, endpoints: str, settings: str, token: str | None
) -> None:
    manifests = rendered(CHART, "--set", f"monitoring.kind={kind},{settings}")
    found, (secret,) = token_of(manifests), manifests["Secret"]
    assert found == token if token else len(found) == 48
    credentials = {"name": secret["metadata"]["name"], "key": "token"}
    (endpoint,) = manifests[kind][0]["spec"][endpoints]
    assert endpoint["authorization"] == {"type": "Bearer", "credentials": credentials}
    assert "params" not in endpoint
    assert found not in yaml.safe_dump({**manifests, "Secret": []})


def test_each_release_makes_up_a_token_of_its_own() -> None:
    assert token_of(rendered(CHART)) != token_of(rendered(CHART))


def test_annotations_ask_for_the_token_too() -> None:
    for settings in ("monitoring.kind=annotations", "commitToken.value=first"):
        manifests = rendered(CHART, "--set", settings)
        annotations = manifests["Deployment"][0]["spec"]["template"]["metadata"]["annotations"]
        assert annotations["prometheus.io/scrape"] == "true"
        assert annotations["prometheus.io/param_commit_token"] == token_of(manifests)


def test_a_secret_of_ones_own_is_used_and_none_is_made() -> None:
    settings = "monitoring.kind=PodMonitor,commitToken.existingSecret=ours,commitToken.key=scrape"
    manifests = rendered(CHART, "--set", settings)
    assert "Secret" not in manifests
    (endpoint,) = manifests["PodMonitor"][0]["spec"]["podMetricsEndpoints"]
    assert endpoint["authorization"]["credentials"] == {"name": "ours", "key": "scrape"}
    volumes = manifests["Deployment"][0]["spec"]["template"]["spec"]["volumes"]
    assert "ours" in [volume.get("secret", {}).get("secretName") for volume in volumes]
    assert "commit_token_file: /etc/ranking-monitor/token/scrape" in yaml.safe_dump(manifests["ConfigMap"])


@pytest.mark.parametrize(
    "settings", ["commitToken.enabled=false", "config.commit=interval", "monitoring.kind=none"]
)
def test_without_a_token_everything_is_as_it_was(settings: str) -> None:
    manifests = rendered(CHART, "--set", settings)
    assert "Secret" not in manifests
    assert "token" not in yaml.safe_dump(manifests).replace("automountServiceAccountToken", "")


@pytest.mark.parametrize(
    ("settings", "warned"),
    [
        ("monitoring.kind=none", True),
        ("commitToken.enabled=false", True),
        ("monitoring.kind=none,config.commit=interval", False),
        ("monitoring.kind=annotations", False),
    ],
)
def test_the_notes_warn_where_anybody_acknowledges(settings: str, warned: bool, tmp_path: Path) -> None:
    assert ("anybody who can reach the pods" in notes(settings, tmp_path)) == warned


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

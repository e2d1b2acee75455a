"""The files of the deployment agree with each other, with the documents and with the code."""

import re
import shlex
import subprocess
from importlib.metadata import requires
from pathlib import Path
from typing import Any

import pytest
import yaml

from monitor.alerting.render import rules_file
from monitor.alerting.values import Values, load_values
from monitor.config import Config, LimitsConfig, load
from monitor.fields import size_bytes
from tests.support.documents import ROOT, blocks, text

CHART = ROOT / "deploy/helm/ranking-monitor"
COMPOSE: dict[str, Any] = yaml.safe_load(text("deploy/compose.yaml"))
MATCHERS = ("source_matchers", "target_matchers")
TOPIC = re.compile(r"^(?:create|kafka-topics\.sh .*--topic) (search-\w+) (.*)$", re.MULTILINE)


def test_the_chart_ships_the_default_rules() -> None:
    assert text("deploy/prometheus/rules.yaml") == (CHART / "files/rules.yaml").read_text(encoding="utf-8"), (
        "run deploy/helm/sync.sh"
    )


def test_the_chart_has_the_values_with_which_its_rules_were_made() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    assert values["monitoring"]["job"] == Values().job
    assert values["rules"]["runbooksUrl"] == Values().runbooks
    assert values["rules"]["dashboardsUrl"] == Values().dashboards


def test_the_chart_ships_the_dashboards() -> None:
    ours = {path.name: path.read_bytes() for path in (ROOT / "grafana/dashboards").glob("*.json")}
    shipped = {path.name: path.read_bytes() for path in (CHART / "files/dashboards").iterdir()}
    assert ours, "no dashboards"
    assert ours == shipped, "run deploy/helm/sync.sh"


def test_the_rules_of_the_compose_file_are_rendered_from_its_values() -> None:
    values = load_values(ROOT / "deploy/compose/values.yaml")
    assert text("deploy/compose/rules.yaml") == rules_file(values), (
        "run ranking-monitor rules --values deploy/compose/values.yaml >deploy/compose/rules.yaml"
    )


def compose_config(folder: Path) -> Config:
    """The configuration of the compose file's monitor, with its token in a folder."""
    (folder / "token").write_text("secret")
    path = folder / "monitor.yaml"
    config = text("deploy/compose/monitor.yaml")
    path.write_text(config.replace("/etc/ranking-monitor/token", str(folder)))
    return load(path)


def test_prometheus_in_the_compose_file_sends_the_token_that_the_monitor_wants(tmp_path: Path) -> None:
    (scraped,) = yaml.safe_load(text("deploy/compose/prometheus.yml"))["scrape_configs"]
    wanted = yaml.safe_load(text("deploy/compose/monitor.yaml"))["commit_token_file"]
    assert scraped["authorization"] == {"credentials_file": wanted}
    for name in ("monitor", "prometheus"):
        assert "token:/etc/ranking-monitor/token:ro" in COMPOSE["services"][name]["volumes"]
        assert "token" in COMPOSE["services"][name]["depends_on"]
    assert compose_config(tmp_path).token == "secret"


def test_the_token_of_the_compose_file_is_made_up_once(tmp_path: Path) -> None:
    tokens = []
    for _ in range(2):
        subprocess.run(["sh", ROOT / "deploy/compose/token.sh", tmp_path / "token"], check=True)
        tokens.append((tmp_path / "token").read_text())
    assert tokens[0] == tokens[1]
    assert re.fullmatch(r"[0-9a-f]{64}\n", tokens[0])
    assert (tmp_path / "token").stat().st_mode & 0o444 == 0o444
    subprocess.run(["sh", ROOT / "deploy/compose/token.sh", tmp_path / "other"], check=True)
    assert (tmp_path / "other").read_text() != tokens[0]


def test_the_compose_file_watches_a_maturity_and_a_k_that_its_monitor_has(tmp_path: Path) -> None:
    config = compose_config(tmp_path)
    values = load_values(ROOT / "deploy/compose/values.yaml")
    assert values.maturity in config.judgments.maturities
    assert f"ndcg@{values.k}" in {metric.metric for metric in config.metrics}


def test_the_compose_file_creates_the_topics_of_the_guide() -> None:
    script = text("deploy/compose/topics.sh")
    guide = next(block for block in blocks("docs/producing.md", "sh") if "--create" in block)
    wanted = _topics(guide.replace("\\\n", " "))
    assert len(wanted) == 3
    assert _topics(script) == wanted


def _topics(script: str) -> dict[str, list[str]]:
    return {name: sorted(shlex.split(rest)) for name, rest in TOPIC.findall(script)}


def test_what_the_compose_file_mounts_is_there() -> None:
    mounted = [volume for service in COMPOSE["services"].values() for volume in service.get("volumes", [])]
    for volume in mounted:
        if volume.partition(":")[0] in COMPOSE["volumes"]:
            continue
        source, target, mode = volume.split(":")
        assert (ROOT / "deploy" / source).exists(), volume
        assert target.startswith("/")
        assert mode == "ro"


def test_whoever_waits_in_the_compose_file_waits_for_something_that_says_when() -> None:
    for name, service in COMPOSE["services"].items():
        for other, how in service.get("depends_on", {}).items():
            awaited = COMPOSE["services"][other]
            if how["condition"] == "service_healthy":
                assert "healthcheck" in awaited, f"{name} waits for {other}"
            else:
                assert how["condition"] == "service_completed_successfully"
                assert "restart" not in awaited, f"{other} would never end"


def test_images_have_versions() -> None:
    for name, service in COMPOSE["services"].items():
        if "build" not in service:
            assert re.search(r":v?\d+\.\d+\.\d+$", service["image"]), name


def test_the_image_builds_with_hashes_for_all_that_builds_it() -> None:
    """A new dependency of hatchling would otherwise show only where an engine builds the image."""
    listed = re.search(r"/\^\(([\w|-]+)\)==/", text("deploy/docker/Dockerfile"))
    assert listed is not None
    needed = {
        re.split(r"[^\w-]", line)[0] for line in requires("hatchling") or () if "python_version" not in line
    }
    assert set(listed[1].split("|")) == {"hatchling", *needed}
    locked = set(re.findall(r"^([\w-]+)==", text("requirements-dev.lock"), re.MULTILINE))
    assert set(listed[1].split("|")) <= locked


def test_the_ignored_build_context_has_all_that_is_copied() -> None:
    kept = {line.removeprefix("!") for line in text(".dockerignore").splitlines() if line.startswith("!")}
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", text("deploy/docker/Dockerfile"), re.MULTILINE)
    assert {name for line in copied for name in line.split()} == kept


@pytest.fixture
def sidecar() -> dict[str, Any]:
    documents = list(yaml.safe_load_all(text("deploy/kubernetes/sidecar.yaml")))
    return {document["kind"]: document for document in documents}


def test_the_sidecar_example_fits_together(sidecar: dict[str, Any], tmp_path: Path) -> None:
    spec = sidecar["Deployment"]["spec"]
    labels = spec["template"]["metadata"]["labels"].items()
    assert spec["selector"]["matchLabels"].items() <= labels
    assert sidecar["PodMonitor"]["spec"]["selector"]["matchLabels"].items() <= labels
    pod = spec["template"]["spec"]
    monitor = next(c for c in pod["containers"] if c["name"] == "ranking-monitor")
    assert {port["name"] for port in monitor["ports"]} == {
        endpoint["port"] for endpoint in sidecar["PodMonitor"]["spec"]["podMetricsEndpoints"]
    }
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    assert {mount["name"] for mount in monitor["volumeMounts"]} == volumes.keys()
    assert volumes["ranking-monitor-config"]["configMap"]["name"] == sidecar["ConfigMap"]["metadata"]["name"]
    secret = volumes["ranking-monitor-secrets"]["secret"]["secretName"]
    assert secret == sidecar["Secret"]["metadata"]["name"]
    (endpoint,) = sidecar["PodMonitor"]["spec"]["podMetricsEndpoints"]
    assert endpoint["authorization"]["credentials"] == {"name": secret, "key": "commit-token"}
    assert monitor["securityContext"]["readOnlyRootFilesystem"]
    assert "readinessProbe" not in monitor
    _check_config(sidecar["ConfigMap"]["data"]["monitor.yaml"], sidecar["Secret"]["stringData"], tmp_path)


def _check_config(config: str, secret: dict[str, str], folder: Path) -> None:
    """The config is valid, its secrets lie where the Secret is mounted."""
    for name, content in secret.items():
        (folder / name).write_text(content)
    path = folder / "monitor.yaml"
    path.write_text(config.replace("/etc/ranking-monitor/secrets", str(folder)))
    loaded = load(path)
    assert loaded.kafka.security.password_file == folder / "password"
    assert loaded.token == secret["commit-token"]


def test_the_memory_of_the_chart_carries_what_the_engine_may_take_and_the_rest_of_the_process() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    limit = size_bytes(values["resources"]["limits"]["memory"])
    # docs/sizing.md: 200 MB beside it, and as much again to spare.
    assert limit >= LimitsConfig().memory + 400e6


ALERTMANAGER: dict[str, Any] = yaml.safe_load(text("deploy/alertmanager/alertmanager.yml"))


def test_the_routing_names_alerts_that_there_are_and_routes_all_of_them() -> None:
    alerts = {name for name in Values.model_fields if name.startswith(("Vector", "RankingMonitor"))}
    inhibited = [rule[side] for rule in ALERTMANAGER["inhibit_rules"] for side in MATCHERS]
    routed = [route["matchers"] for route in ALERTMANAGER["route"]["routes"]]
    patterns = re.findall(r'alertname=~"([^"]+)"', str([inhibited, routed]))
    for pattern in "|".join(patterns).split("|"):
        assert any(re.fullmatch(pattern, name) for name in alerts), pattern
    assert all(re.fullmatch("|".join(map(str, re.findall(r'=~"([^"]+)"', str(routed)))), a) for a in alerts)


def test_the_compose_file_groups_and_inhibits_as_the_routing_example_does() -> None:
    compose = yaml.safe_load(text("deploy/compose/alertmanager.yml"))
    assert compose["inhibit_rules"] == ALERTMANAGER["inhibit_rules"]
    grouped = {tuple(route["group_by"]) for route in ALERTMANAGER["route"]["routes"]}
    assert grouped == {tuple(compose["route"]["group_by"])}

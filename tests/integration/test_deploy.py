"""The deployment for real: the chart through helm, the compose file through its loader, the image built.

Building and running the image needs a Docker engine and a base image that is already there. Where one is
missing that one test is skipped, also in CI with REQUIRE_KAFKA=1: the project can do without an engine.
"""

import asyncio
import base64
import json
import os
import shutil
import subprocess
import uuid
from collections.abc import AsyncIterator, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from monitor.config import load
from tests.support import wait_until
from tests.support.documents import ROOT
from tests.support.helm import CHART, HELM, VALUES, Manifests, needs_helm, output, rendered, tool

BASES = ("python:3.11-slim-bookworm", "python-for-tests")

# The chart.


def refused(*arguments: str) -> str:
    done = subprocess.run(
        [HELM or "", "template", "shop", CHART, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    return done.stderr


@needs_helm
@pytest.mark.parametrize("values", [CHART / "values.yaml", *VALUES], ids=lambda path: path.stem)
def test_the_chart_is_clean_and_fits_together(values: Path, tmp_path: Path) -> None:
    output(HELM or "", "lint", "--strict", CHART, "--values", values)
    manifests = rendered(CHART, "--values", values)
    config = next(c for c in manifests["ConfigMap"] if "monitor.yaml" in c["data"])
    _check_config(config["data"]["monitor.yaml"], tmp_path)
    given = yaml.safe_load(values.read_text())
    assert ("Deployment" in manifests) == (given.get("mode") != "sidecar")
    for deployment in manifests.get("Deployment", []):
        _check_deployment(deployment, manifests, config["metadata"]["name"])
    for rule in manifests.get("PrometheusRule", []):
        assert all(group["rules"] for group in rule["spec"]["groups"])
    for dashboard in manifests["ConfigMap"]:
        for name, content in dashboard["data"].items():
            if name.endswith(".json"):
                assert json.loads(content) == json.loads((CHART / "files/dashboards" / name).read_text())


def _check_config(text: str, folder: Path) -> None:
    for name in ("secrets/password", "secrets/ca.pem", "token/token"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("secret")
    path = folder / "monitor.yaml"
    path.write_text(text.replace("/etc/ranking-monitor", str(folder)))
    load(path)


def _check_deployment(deployment: dict[str, Any], manifests: Manifests, config: str) -> None:
    spec = deployment["spec"]
    labels = spec["template"]["metadata"]["labels"].items()
    pod = spec["template"]["spec"]
    (container,) = [c for c in pod["containers"] if c["name"] == "ranking-monitor"]
    ports = {port["name"] for port in container["ports"]}
    assert spec["selector"]["matchLabels"].items() <= labels
    for service in manifests.get("Service", []):
        assert service["spec"]["selector"].items() <= labels
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports
    for monitor in manifests.get("ServiceMonitor", []):
        (service,) = manifests["Service"]
        assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
        assert {e["port"] for e in monitor["spec"]["endpoints"]} <= {
            p["name"] for p in service["spec"]["ports"]
        }
    for monitor in manifests.get("PodMonitor", []):
        assert monitor["spec"]["selector"]["matchLabels"].items() <= labels
        assert {e["port"] for e in monitor["spec"]["podMetricsEndpoints"]} <= ports
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes.keys()
    assert volumes["ranking-monitor-config"]["configMap"]["name"] == config
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert not container["securityContext"]["allowPrivilegeEscalation"]
    users = pod.get("securityContext", {}) | container["securityContext"]
    assert users["runAsNonRoot"]
    assert users["runAsUser"] > 0
    assert container["livenessProbe"]["httpGet"]["path"] == "/-/healthy"
    assert container["resources"]["limits"]["memory"]
    if spec["replicas"] == 1:
        assert spec["strategy"] == {"type": "Recreate"}


@needs_helm
def test_a_backends_chart_takes_the_monitor_into_its_pods(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "deploy/helm/search-backend-example", tmp_path / "backend")
    shutil.copytree(CHART, tmp_path / "backend/charts/ranking-monitor")
    manifests = rendered(tmp_path / "backend")
    (deployment,) = manifests["Deployment"]
    (config,) = manifests["ConfigMap"]
    _check_deployment(deployment, manifests, config["metadata"]["name"])
    annotations = deployment["spec"]["template"]["metadata"]["annotations"]
    if "prometheus.io/scrape" in annotations:
        (secret,) = manifests["Secret"]
        token = base64.b64decode(secret["data"]["token"]).decode()
        assert annotations["prometheus.io/param_commit_token"] == token
    _, monitor = deployment["spec"]["template"]["spec"]["containers"]
    assert "readinessProbe" not in monitor, (
        "a monitor that waits for Kafka would take the search out of service"
    )


@needs_helm
@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("replicas=2", "replicas: 2 is not allowed with one shared topic"),
        ("mode=sidecar,monitoring.kind=ServiceMonitor", "a sidecar has no Service"),
        ("mode=sidecar,monitoring.kind=PodMonitor", "sidecar.podSelector"),
        ("service.enabled=false,monitoring.kind=ServiceMonitor", "needs service.enabled: true"),
        ("replica=1", "additional properties 'replica' not allowed"),
        ("config.listen=0.0.0.0:1", "/config"),
        ("config.commit=sometimes", "/config/commit"),
        ("image.digest=latest", "/image/digest"),
        ('monitoring.job=a"b', "/monitoring/job"),
        ("rules.runbooksUrl=a wiki", "/rules/runbooksUrl"),
        ("rules.dashboardsUrl=grafana", "/rules/dashboardsUrl"),
    ],
)
def test_values_that_cannot_work_are_refused(setting: str, message: str) -> None:
    assert message in refused("--set", setting)


# The compose file.


@cache
def has_compose_plugin() -> bool:
    docker = shutil.which("docker")
    return docker is not None and subprocess.run(
        [docker, "compose", "version"], capture_output=True, check=False
    ).returncode == 0  # fmt: skip


@pytest.mark.skipif(
    not has_compose_plugin() and tool("compose-spec") is None,
    reason="no docker compose: tests/support/deploy-tools.sh builds its validator with Go",
)
def test_the_compose_file_is_clean() -> None:
    if has_compose_plugin():
        command = ["docker", "compose", "-f", "deploy/compose.yaml", "config"]
    else:
        command = [str(tool("compose-spec")), "compose.yaml"]
    done = subprocess.run(
        command,
        cwd=ROOT if has_compose_plugin() else ROOT / "deploy",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr, "warnings"
    services = yaml.safe_load(done.stdout)["services"]
    assert {
        "kafka",
        "topics",
        "token",
        "monitor",
        "simulator",
        "prometheus",
        "alertmanager",
        "grafana",
    } == services.keys()


@pytest.mark.prometheus
@pytest.mark.skipif(not shutil.which("promtool"), reason="no promtool: install prometheus")
def test_prometheus_takes_the_configuration_of_the_compose_file(tmp_path: Path) -> None:
    for name in ("prometheus.yml", "rules.yaml"):
        text = (ROOT / "deploy/compose" / name).read_text()
        text = text.replace("/etc/prometheus", str(tmp_path)).replace(
            "/etc/ranking-monitor/token", str(tmp_path)
        )
        (tmp_path / name).write_text(text)
    (tmp_path / "token").write_text("secret")
    said = output("promtool", "check", "config", tmp_path / "prometheus.yml")
    assert "rules found" in said


# The image.


@pytest.fixture(scope="module")
def image() -> Iterator[str]:
    """Built from the Dockerfile; taken away again at the end."""
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "info"], capture_output=True, check=False).returncode != 0:
        pytest.skip("no Docker engine answers: the image is not built")
    wanted = [os.environ["DOCKER_BASE_IMAGE"]] if "DOCKER_BASE_IMAGE" in os.environ else BASES
    base = next((b for b in wanted if output("docker", "images", "--quiet", b)), None)
    if base is None:
        pytest.skip(f"no image {' or '.join(wanted)}: pull one, or run tests/support/docker/build-base.sh")
    name = f"ranking-monitor:test-{uuid.uuid4().hex[:8]}"
    arguments = ["--network=host", "--build-arg", f"BASE={base}", "--tag", name]
    output("docker", "build", "--file", "deploy/docker/Dockerfile", *arguments, ".")
    yield name
    output("docker", "image", "rm", name)


@pytest.fixture
async def container(image: str) -> AsyncIterator[str]:
    locked = ["--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges", "--memory=512m"]
    published = ["--publish", "127.0.0.1::9109"]
    started = output(
        "docker", "run", "--detach", *locked, *published, image, "demo", "--listen", "0.0.0.0:9109"
    )
    yield started.strip()
    output("docker", "rm", "--force", started.strip())


@pytest.mark.timeout(600)
async def test_the_image_runs_without_root_and_without_a_writable_disk(container: str) -> None:
    address = output("docker", "port", container, "9109").splitlines()[0]

    async def has_scored() -> bool:
        try:
            async with httpx.AsyncClient() as client:
                answer = await client.get(f"http://{address}/metrics")
        except httpx.TransportError:
            return False
        return 'vector_window_ndcg_avg{k="10"' in answer.text

    async def is_healthy() -> bool:
        state = await asyncio.to_thread(inspect, container, ".State.Health")
        return bool(state["Status"] == "healthy" and state["Log"][-1]["Output"].startswith("Healthy: "))

    await wait_until(has_scored, 60, every=0.5)
    await wait_until(is_healthy, 60, every=1)
    assert inspect(container, ".Config.User") == "65532:65532"
    assert "RANKING_MONITOR__LISTEN=0.0.0.0:9109" in inspect(container, ".Config.Env")
    output("docker", "stop", container)
    assert inspect(container, ".State.ExitCode") == 0


def inspect(container: str, what: str) -> Any:
    return json.loads(output("docker", "inspect", "--format", "{{json " + what + "}}", container))

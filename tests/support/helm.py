"""The chart as helm renders it: the manifests by kind."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.documents import ROOT

CHART = ROOT / "deploy/helm/ranking-monitor"
VALUES = sorted((CHART / "ci").glob("*.yaml"))
TOOLS = ROOT / ".cache/bin"
Manifests = dict[str, list[dict[str, Any]]]


def tool(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path=str(TOOLS))


def output(*command: str | Path, cwd: Path = ROOT) -> str:
    """What a command printed; the test fails with what it said if it failed."""
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


HELM = tool("helm")
needs_helm = pytest.mark.skipif(
    HELM is None, reason="no helm: tests/support/deploy-tools.sh builds it with Go"
)


def rendered(chart: Path, *arguments: str | Path) -> Manifests:
    text = output(HELM or "", "template", "shop", chart, "--namespace", "search", *arguments)
    found: Manifests = {}
    for document in yaml.safe_load_all(text):
        if document:
            found.setdefault(document["kind"], []).append(document)
    return found

"""What is not used is not imported: a start waits for every import."""

import os
import subprocess
import sys

import pytest

OFFLINE = (
    "scipy matplotlib plotly nltk pandas sklearn rich monitor.evaluation monitor.simulate monitor.alerting"
).split()
HEAVY = "numpy aiokafka uvicorn starlette prometheus_client yaml msgspec monitor.config".split()


def imported(program: str) -> set[str]:
    """What a process of its own has imported when the program has ended."""
    ended = subprocess.run(
        [sys.executable, "-c", f"import sys\ntry:\n    {program}\nfinally:\n    print(*sys.modules)"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.stdout, ended.stderr
    return set(ended.stdout.split())


def test_the_daemon_imports_nothing_of_the_offline_side() -> None:
    found = imported("import monitor.cli.serving")
    assert {"monitor.daemon", "aiokafka", "numpy"} <= found
    assert not found.intersection(OFFLINE)


@pytest.mark.parametrize("arguments", ["--version", "--help", "run --help", "", "frobnicate"])
def test_help_and_version_import_nothing_that_works(arguments: str) -> None:
    argv = ["ranking-monitor", *arguments.split()]
    found = imported(f"sys.argv = {argv}; from monitor.cli import main; main()")
    assert "monitor.cli" in found
    assert not found.intersection([*OFFLINE, *HEAVY])

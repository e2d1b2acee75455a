"""Every command that the page about offline evaluation shows prints what stands below it there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.documents import ROOT, text

SHOWN = re.compile(r"^```sh\n(.*?)^```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = [(found[1], found[2]) for found in SHOWN.finditer(text("docs/evaluation.md"))]


def lines(printed: str) -> list[str]:
    """What a reader sees: no blank lines, nothing at the ends."""
    return [line.rstrip() for line in printed.splitlines() if line.strip()]


@pytest.mark.parametrize(("command", "shown"), EXAMPLES, ids=[command.split()[1] for command, _ in EXAMPLES])
def test_a_command_prints_what_the_page_says(command: str, shown: str, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "docs" / "examples", tmp_path / "docs" / "examples")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT), "COLUMNS": "140"}
    arguments = ["sh", "-ec", command]
    done = subprocess.run(
        arguments, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert lines(done.stdout) == lines(shown)


def test_the_four_commands_are_shown() -> None:
    assert [command.split()[1] for command, _ in EXAMPLES] == ["evaluate", "compare", "score", "agreement"]

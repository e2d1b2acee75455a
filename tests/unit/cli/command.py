"""The command as a user calls it, within the test's process: exit code, output and messages."""

import os
import subprocess
import sys
from typing import NamedTuple

import pytest

from monitor.cli import main


class Finished(NamedTuple):
    code: int
    out: str
    err: str


class Command:
    """Calls `ranking-monitor` with arguments, on a terminal that is wide enough."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        monkeypatch.setenv("COLUMNS", "200")
        # The process of the tests goes on, and collects its garbage and logs as before.
        for name in ("replay", "backfill"):
            monkeypatch.setattr(f"monitor.cli.{name}.ease_garbage_collection", lambda: None)
        monkeypatch.setattr("monitor.cli.demo.set_up", lambda _: None)

    def __call__(self, *arguments: object) -> Finished:
        self._monkeypatch.setattr(sys, "argv", ["ranking-monitor", *map(str, arguments)])
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        assert isinstance(code, int)
        return Finished(code, *self._capsys.readouterr())


def in_ascii(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    """Call the command in a process of its own whose standard output has ASCII only."""
    return subprocess.run(
        [sys.executable, "-m", "monitor.cli", *map(str, arguments)],
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        check=False,
        timeout=60,
    )

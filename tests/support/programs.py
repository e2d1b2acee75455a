"""Programs that tests run beside themselves: found or skipped, and never left behind."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest


def program(name: str, package: str) -> str:
    """The path of a program; without it the test is skipped, or fails when REQUIRE_KAFKA=1 (as in CI)."""
    if path := shutil.which(name):
        return path
    reason = f"{name} is not on the PATH; on Debian: apt-get install {package}"
    if os.environ.get("REQUIRE_KAFKA") == "1":
        pytest.fail(f"{reason} (REQUIRE_KAFKA=1)", pytrace=False)
    pytest.skip(reason)


@contextmanager
def running(command: Sequence[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command until the block ends; what it says is appended to the log."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
    try:
        with _guarded(process.pid):
            yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def _guarded(pid: int) -> Iterator[None]:
    """When pytest is killed no finaliser runs, but this pipe closes, and the process ends with it."""
    guard = subprocess.Popen(
        ["sh", "-c", f"read _; kill -9 {pid}"], stdin=subprocess.PIPE, start_new_session=True
    )
    try:
        yield
    finally:
        guard.kill()
        guard.communicate()

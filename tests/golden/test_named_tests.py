"""Pages that promise something name a test for each promise: every test that they name exists."""

import ast
import re
from pathlib import Path

import pytest

from tests.support.documents import ROOT, prose

PAGES = ["docs/guarantees.md", "docs/security.md"]
NAMED = re.compile(r"`(?P<file>[\w/]+\.py)?(?:::(?P<test>test_\w+))?`")
FOLDERS = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()}


def named_tests(page: str) -> list[tuple[str, str | None]]:
    """File and test, as a page names them; a test without a file is in the file named before it."""
    found: list[tuple[str, str | None]] = []
    for match in NAMED.finditer(prose(page)):
        file = match["file"] or (found[-1][0] if found and match["test"] else None)
        if file and file.split("/")[0] in FOLDERS:
            found.append((file, match["test"]))
    return found


@pytest.mark.parametrize("page", PAGES)
def test_every_test_that_a_page_names_exists(page: str) -> None:
    named = named_tests(page)
    assert len(named) > 10
    for file, test in named:
        path = ROOT / "tests" / file
        assert path.is_file(), f"{page}: {file}"
        assert test is None or test in _tests(path), f"{page}: {file}::{test}"


def test_every_threat_has_its_test() -> None:
    rows = re.findall(r"^\| (.+) \| .+ \| (.+) \|$", prose("docs/security.md"), re.MULTILINE)
    threats = [(threat, last) for threat, last in rows if threat not in ("threat", "who", "---")]
    with_tests = [threat for threat, last in threats if NAMED.search(last)]
    people = {"yes", "no", "yes,", "no;"}
    assert len(with_tests) > 20
    assert not [t for t, last in threats if t not in with_tests and last.split()[0] not in people]


def _tests(path: Path) -> set[str]:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in ast.walk(ast.parse(path.read_bytes())) if isinstance(node, functions)}

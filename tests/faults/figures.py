"""What the scenarios measured, printed at the end, also where several processes share the tests."""

from typing import Any

import pytest

FIGURES = pytest.StashKey[dict[str, list[str]]]()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand the figures on, where this is one of several processes."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["figures"] = session.config.stash.get(FIGURES, {})


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    figures = getattr(node, "workeroutput", {}).get("figures", {})
    node.config.stash[FIGURES] = {**node.config.stash.get(FIGURES, {}), **figures}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if figures := config.stash.get(FIGURES, {}):
        terminalreporter.section("faults: what was measured")
        for name, lines in figures.items():
            terminalreporter.line(f"{name.replace('_', ' ')}: {'; '.join(lines)}")

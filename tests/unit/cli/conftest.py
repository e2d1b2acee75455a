import pytest

from tests.unit.cli.command import Command


@pytest.fixture
def command(monkeypatch, capsys):
    return Command(monkeypatch, capsys)

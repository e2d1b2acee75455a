"""The commit token: where it comes from, who is warned of having none, and that nothing prints it."""

import importlib
import logging
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from monitor.config import Config, ConfigError, load
from tests.unit.cli.command import Command

SECRET = "4711-s3cret"
ONE_WORD = "must hold one word of at most 4096 ASCII characters: openssl rand -hex 32"


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(monkeypatch, capsys)


def written(folder: Path, text: str) -> Path:
    path = folder / "monitor.yaml"
    path.write_text(text)
    return path


def token_file(folder: Path, content: bytes) -> Path:
    path = folder / "token"
    path.write_bytes(content)
    return path


def test_the_token_of_a_file_is_stripped(tmp_path: Path) -> None:
    token = token_file(tmp_path, SECRET.encode() + b" \n")
    assert load(written(tmp_path, f"commit_token_file: {token}")).token == SECRET


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty; write a token into it: openssl rand -hex 32"),
        (b" \n", "is empty; write a token into it: openssl rand -hex 32"),
        (b"two words", ONE_WORD),
        (b"caf\xc3\xa9", ONE_WORD),
        (b"x" * 5000, ONE_WORD),
    ],
    ids=["empty", "blank", "two words", "not ASCII", "too long"],
)
def test_a_file_that_holds_no_token_is_refused_in_one_line(
    content: bytes, message: str, tmp_path: Path
) -> None:
    token = token_file(tmp_path, content)
    path = written(tmp_path, f"commit_token_file: {token}")
    with pytest.raises(ConfigError) as refused:
        load(path)
    assert str(refused.value) == f'{path}: commit_token_file: "{token}" {message}'


def test_a_missing_file_is_refused_in_one_line(tmp_path: Path) -> None:
    path = written(tmp_path, "commit_token_file: no/such/token")
    with pytest.raises(ConfigError) as refused:
        load(path)
    assert str(refused.value) == f'{path}: commit_token_file: no such file: "no/such/token"'


def test_two_tokens_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, f"commit_token: {SECRET}\ncommit_token_file: {token_file(tmp_path, b'x')}")
    with pytest.raises(ConfigError) as refused:
        load(path)
    assert str(refused.value) == f"{path}: give commit_token or commit_token_file, not both"


@pytest.mark.parametrize(
    "text",
    [
        f'commit_token: "{SECRET}"',
        f'commit_token: "{SECRET}',
        f"commit_token: {SECRET}: x",
        f"commit_token: *{SECRET}",
        f"commit_token: !{SECRET}",
        f"commit_token: [{SECRET}]",
        f"commit_token: {{{SECRET}: 1}}",
        f"commit_tokens: {SECRET}",
        f"commit_token: {SECRET}\ncommit_token: {SECRET}",
        f"commit_token: {SECRET}\nlabels: 1",
        f"commit_token: {SECRET}\nwindows: [60, 60]",
        f"commit_token: {SECRET}\nmetrics: [ndcg@10, ndcg@10]",
        "commit_token: 4711",
        "commit_token: 4711.5",
    ],
)
def test_nothing_prints_the_token(text: str, tmp_path: Path, command: Command) -> None:
    path = written(tmp_path, text)
    for arguments in ((), ("--show",)):
        ended = command("check-config", path, *arguments)
        told = (ended.out + ended.err).replace(str(path), "")
        assert "4711" not in told
        assert "s3cret" not in told
        assert "Traceback" not in told


def test_a_token_from_the_environment_is_not_printed_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.setenv("RANKING_MONITOR__COMMIT_TOKEN", SECRET)
    path = written(tmp_path, "")
    assert load(path).token == SECRET
    ended = command("check-config", path, "--show")
    assert "commit_token: '**********'" in ended.out
    assert SECRET not in ended.out + ended.err


def test_what_is_printed_instead_of_the_token_is_not_taken_for_one(tmp_path: Path) -> None:
    path = written(tmp_path, "commit_token: '**********'")
    with pytest.raises(ConfigError, match="asterisks are what is printed instead of it"):
        load(path)


def test_the_token_cannot_be_guessed_from_the_digest() -> None:
    digests = {Config.model_validate({"commit_token": token}).digest for token in ("first", "second")}
    assert len(digests) == 1
    assert SECRET not in repr(Config.model_validate({"commit_token": SECRET}))


@pytest.mark.parametrize(
    ("settings", "warned"),
    [
        ({"listen": "127.0.0.1:9109"}, False),
        ({"listen": "127.1.2.3:9109"}, False),
        ({"listen": "localhost:9109"}, False),
        ({"listen": "[::1]:9109"}, False),
        ({"listen": "0.0.0.0:9109"}, True),
        ({"listen": "[::]:9109"}, True),
        ({"listen": "10.0.0.7:9109"}, True),
        ({"listen": "monitor.example.com:9109"}, True),
        ({"listen": "0.0.0.0:9109", "commit": "interval"}, False),
        ({"listen": "0.0.0.0:9109", "commit_token": SECRET}, False),
    ],
)
def test_who_listens_beyond_this_machine_without_a_token_is_warned(
    settings: dict[str, Any], warned: bool, tmp_path: Path, command: Command
) -> None:
    path = written(tmp_path, "".join(f'{key}: "{value}"\n' for key, value in settings.items()))
    ended = command("check-config", path)
    assert ended.code == 0
    assert ("acknowledges scrapes" in ended.err) is warned
    assert len(ended.err.splitlines()) == int(warned)


def test_the_warning_is_logged_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    module = importlib.import_module("monitor.cli.serving")

    async def nothing(_: Config) -> None:
        return None

    monkeypatch.setattr(module, "_serve", nothing)
    monkeypatch.setattr(module, "set_up", lambda _: SimpleNamespace(flush=lambda: None))
    with caplog.at_level(logging.WARNING):
        module.serve(written(tmp_path, "listen: 0.0.0.0:9109"))
    (message,) = caplog.messages
    assert message.startswith("listen: other machines can reach 0.0.0.0:9109, and without a token anybody")

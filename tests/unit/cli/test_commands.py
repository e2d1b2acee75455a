"""The small commands: schema, metrics, check-config and what all commands share."""

import json
import subprocess
import sys

import pytest
import yaml

from monitor import __version__, events
from monitor.config import Config
from monitor.metrics import METRICS

COMMANDS = ["demo", "run", "replay", "simulate", "load-judgments", "check-config", "schema", "metrics"]


def test_the_module_is_the_command_and_a_user_s_mistake_gets_one_line_and_exit_code_2(tmp_path):
    ended = subprocess.run(
        [sys.executable, "-m", "monitor.cli", "run", "--config", tmp_path / "none.yaml"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode == 2
    assert ended.stdout == ""
    assert (
        ended.stderr
        == f"ranking-monitor: {tmp_path / 'none.yaml'}: cannot be read: No such file or directory\n"
    )


def test_the_version_is_printed(command):
    assert command("--version") == (0, f"ranking-monitor {__version__}\n", "")


def test_without_a_command_the_commands_are_listed(command):
    shown = command()
    assert shown.code == 2
    assert all(name in shown.out + shown.err for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(command, name):
    shown = command(name, "--help")
    assert shown.code == 0
    assert f"ranking-monitor {name} " in shown.out


def test_an_unknown_command_is_a_mistake_of_the_user(command):
    ended = command("evalute")
    assert ended.code == 2
    assert "evalute" in ended.err
    assert "Traceback" not in ended.err


def test_every_problem_of_a_config_gets_its_line(command, tmp_path):
    path = tmp_path / "monitor.yaml"
    path.write_text("listen: here\ncommit: never")
    ended = command("check-config", path)
    assert ended.code == 2
    assert ended.err.splitlines() == [
        f'ranking-monitor: {path}: listen: must be host:port with a port up to 65535, not "here"',
        f"ranking-monitor: {path}: commit: Input should be 'scrape' or 'interval', not \"never\"",
    ]


@pytest.mark.parametrize("name", ["run", "replay", "load-judgments"])
def test_every_command_that_takes_a_config_refuses_a_bad_one(command, tmp_path, name):
    path = tmp_path / "monitor.yaml"
    path.write_text("lables: [variant]")
    files = [tmp_path / "file"] if name != "run" else []
    ended = command(name, *files, "--config", path)
    assert ended == (2, "", f"ranking-monitor: {path}: lables: unknown key; see docs/configuration.md\n")


def test_the_demo_refuses_an_address_that_is_none(command):
    ended = command("demo", "--listen", "here")
    assert ended.code == 2
    assert ended.err == 'ranking-monitor: listen: must be host:port with a port up to 65535, not "here"\n'


# schema


def test_the_schema_is_printed_as_json(command):
    shown = command("schema")
    assert (shown.code, shown.err) == (0, "")
    assert json.loads(shown.out) == events.schema()


# metrics


def test_every_metric_is_listed(command):
    shown = command("metrics")
    assert shown.code == 0
    listed = {line.split()[0] for line in shown.out.splitlines() if line.strip()}
    assert {name + ("@k" if metric.takes_k else "") for name, metric in METRICS.items()} <= listed


@pytest.mark.parametrize("name", ["ndcg", "ndcg@10", "map", "ndcg(gain=exponential)@10"])
def test_a_metric_is_explained_by_any_of_its_names(command, name):
    shown = command("metrics", name)
    assert shown.code == 0
    assert "Definition: " in shown.out


def test_an_unknown_metric_gets_a_suggestion(command):
    ended = command("metrics", "ndgc@10")
    assert ended.code == 2
    assert 'unknown metric "ndgc@10"; did you mean "ndcg@10"?' in ended.err


# check-config


def test_a_valid_config_is_said_to_be_valid(command, tmp_path):
    path = tmp_path / "monitor.yaml"
    path.write_text("labels: []")
    config = Config(labels=())
    assert command("check-config", path) == (0, f"{path}: valid, 17 metrics, hash {config.digest}\n", "")


def test_every_value_in_force_is_shown_defaults_and_environment_included(command, tmp_path, monkeypatch):
    path = tmp_path / "monitor.yaml"
    path.write_text("lateness_seconds: 5")
    monkeypatch.setenv("RANKING_MONITOR__KAFKA__GROUP_ID", "search")
    shown = command("check-config", path, "--show")
    values = yaml.safe_load(shown.out)
    assert shown.code == 0
    assert values["lateness_seconds"] == 5
    assert values["kafka"]["group_id"] == "search"
    assert values["windows"] == [60, 300, 3600]


def test_passwords_are_not_shown_only_where_they_stand(command, tmp_path):
    secret, path = tmp_path / "password", tmp_path / "monitor.yaml"
    secret.write_text("open sesame")
    path.write_text(f"kafka: {{security: {{mechanism: PLAIN, username: monitor, password_file: {secret}}}}}")
    shown = command("check-config", path, "--show")
    assert str(secret) in shown.out
    assert "sesame" not in shown.out

"""The small commands: schema, metrics, check-config and what all commands share."""

import json
import socket
import subprocess
import sys

import pytest
import typer
import yaml

from monitor import __version__, events
from monitor.config import build
from monitor.metrics import METRICS

COMMANDS = [
    "demo",
    "run",
    "replay",
    "backfill",
    "simulate",
    "load-judgments",
    "evaluate",
    "compare",
    "score",
    "agreement",
    "check-config",
    "schema",
    "metrics",
    "rules",
]


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


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_has_what_each_command_says_of_itself(command, name):
    (line,) = [line for line in command("--help").out.splitlines() if line.split()[:1] == [name]]
    said = line.split(maxsplit=1)[1].removesuffix("...")
    assert said in " ".join(command(name, "--help").out.split())


def test_a_command_behind_two_dashes_is_run(command):
    assert command("--", "schema") == command("schema")


def test_an_unknown_command_is_a_mistake_of_the_user(command):
    assert command("frobnicate") == (
        2,
        "",
        "ranking-monitor: No such command 'frobnicate'; see 'ranking-monitor --help'\n",
    )


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["run", "--confg", "x"], "--confg"),
        (["simulate", "--rate", "abc"], "--rate"),
        (["replay"], "events"),
        (["run", "--config"], "--config"),
        (["schema", "more"], "more"),
    ],
)
def test_a_mistake_in_the_arguments_is_one_line_that_leads_to_the_help(command, arguments, named):
    ended = command(*arguments)
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert ended.err.startswith("ranking-monitor: ")
    assert named in ended.err.partition("; see ")[0]
    assert ended.err.endswith(" --help'\n")


@pytest.mark.parametrize(
    ("error", "code"), [(typer.Exit(7), 7), (typer.Abort(), 1), (KeyboardInterrupt(), 130)]
)
def test_a_command_that_ends_itself_has_its_exit_code(command, monkeypatch, error, code):
    def schema():
        raise error

    monkeypatch.setattr("monitor.cli.schema.events.schema", schema)
    assert command("schema") == (code, "", "")


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


@pytest.mark.parametrize(
    ("option", "value"), [("--seed", "-1"), ("--seconds", "-1"), ("--seconds", "nan"), ("--seconds", "inf")]
)
def test_the_demo_refuses_numbers_that_make_no_sense(command, option, value):
    ended = command("demo", option, value)
    assert ended == (2, "", f"ranking-monitor: {option}: {value} is not allowed; give 0 or more\n")


def test_an_address_in_use_is_one_line(command):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = command("demo", "--listen", address)
    reason = "Address already in use; give another address"
    assert (ended.code, ended.err) == (
        2,
        f"ranking-monitor: listen: cannot listen on {address}: {reason}\n",
    )


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


@pytest.mark.parametrize(
    "name", ["ndcg", "ndcg@10", "map", "ndcg(gain=exponential)@10", "err", "position_ctr"]
)
def test_a_metric_is_explained_by_any_of_its_names(command, name):
    shown = command("metrics", name)
    assert shown.code == 0
    assert "Definition: " in shown.out


def test_an_unknown_metric_gets_a_suggestion(command):
    ended = command("metrics", "ndgc@10")
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert ended.err.startswith('ranking-monitor: unknown metric "ndgc@10"; did you mean "ndcg@10"?')


# check-config


def test_a_valid_config_is_said_to_be_valid(command, tmp_path):
    path = tmp_path / "monitor.yaml"
    # Nobody listens on port 1: the configuration is checked without a broker too.
    path.write_text("labels: []\nkafka: {bootstrap_servers: '127.0.0.1:1'}")
    digest = build({"labels": [], "kafka": {"bootstrap_servers": "127.0.0.1:1"}}).digest
    assert command("check-config", path) == (
        0,
        (
            f"{path}: valid, 17 metrics, hash {digest}\n"
            "topics: not checked, no broker answers at 127.0.0.1:1\n"
        ),
        "",
    )


def test_one_metric_is_not_metrics(command, tmp_path):
    path = tmp_path / "monitor.yaml"
    path.write_text("metrics: [ndcg@10]")
    assert f"{path}: valid, 1 metric, hash " in command("check-config", path).out


def test_a_variable_is_blamed_for_what_it_says(command, tmp_path, monkeypatch):
    (path := tmp_path / "empty.yaml").touch()
    monkeypatch.setenv("RANKING_MONITOR__ATTRIBUTION_SECONDS", "abc")
    assert command("check-config", path) == (
        2,
        "",
        'ranking-monitor: RANKING_MONITOR__ATTRIBUTION_SECONDS: must be a number, not "abc"\n',
    )


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


@pytest.mark.parametrize(
    ("asked", "not_needed"),
    [
        ("evaluate", ["pydantic_settings", "aiokafka", "starlette", "scipy", "monitor.config"]),
        ("metrics", ["pydantic_settings", "aiokafka", "starlette", "scipy"]),
        ("run", ["scipy", "nltk", "plotly", "matplotlib", "monitor.evaluation", "monitor.alerting"]),
        ("backfill", ["scipy", "starlette", "monitor.evaluation", "monitor.web"]),
    ],
)
def test_a_command_imports_nothing_that_it_does_not_use(asked, not_needed):
    code = (
        f"import sys; sys.argv = ['ranking-monitor', '{asked}', '--help']\n"
        "from monitor.cli import main\n"
        "try: main()\n"
        f"finally: print([name for name in {not_needed} if name in sys.modules], file=sys.stderr)"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stderr == "[]\n"

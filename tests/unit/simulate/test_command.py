"""The command: files that repeat, and mistakes answered in one line."""

import gzip
import time

import msgspec
import pytest
import typer
from typer.testing import CliRunner

from monitor.cli.simulate import simulate

app = typer.Typer()
app.command()(simulate)
FIXED = ["--start", "2026-01-01T00:00:00Z", "--duration", "60", "--seed", "3"]


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_a_file_has_one_event_a_line_and_the_end_says_how_many(tmp_path):
    path = tmp_path / "events.jsonl"
    result = run("--to-file", str(path), *FIXED)
    lines = path.read_bytes().splitlines()
    assert result.exit_code == 0
    assert result.stderr.startswith(f"wrote {len(lines)} events: ")
    assert result.stdout == ""
    times = [msgspec.json.decode(line)["ts"] for line in lines]
    assert times == sorted(times)
    assert 1767225600 == times[0] <= times[-1] < 1767225660


def test_stdout_and_compressed_files_have_the_same_bytes(tmp_path):
    packed = [tmp_path / "one.gz", tmp_path / "two.gz"]
    for path in packed:
        run("--to-file", str(path), *FIXED)
    assert packed[0].read_bytes() == packed[1].read_bytes()
    assert gzip.decompress(packed[0].read_bytes()) == run("--to-file", "-", *FIXED).stdout_bytes


def test_a_file_lies_in_the_past_unless_said_otherwise():
    before = time.time()
    lines = run("--to-file", "-", "--duration", "30").stdout_bytes.splitlines()
    times = [msgspec.json.decode(line)["ts"] for line in lines]
    assert before - 31 < min(times)
    assert max(times) < time.time()


def test_the_deploy_lies_within_the_file_unless_moved():
    def ranked(*more):
        lines = run("--to-file", "-", *FIXED, *more).stdout_bytes.splitlines()
        events = map(msgspec.json.decode, lines)
        return [
            (event["ts"] - 1767225600, event["ranked"]) for event in events if event["type"] == "impression"
        ]

    def first_difference(one, other):
        return next(a[0] for a, b in zip(one, other, strict=False) if a != b)

    steady, default = ranked(), ranked("--scenario", "bad-deploy")
    assert 30 <= first_difference(steady, default) < 40
    moved = ranked("--scenario", "bad-deploy", "--deploy-at", "5")
    assert 5 <= first_difference(steady, moved) < 15


def test_writing_to_an_unreachable_broker_is_one_line():
    result = run("--bootstrap-servers", "127.0.0.1:1", "--duration", "1")
    assert result.exit_code == 2
    assert result.stderr == 'no Kafka answers at "127.0.0.1:1"; check that it runs and the address\n'


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give either --to-file or --bootstrap-servers"),
        (["--to-file", "-", "--bootstrap-servers", "x"], "give either --to-file or --bootstrap-servers"),
        (
            ["--to-file", "-", "--speed", "2"],
            "--speed and topics are for Kafka; leave them out with --to-file",
        ),
        (
            ["--to-file", "-", "--topic", "t"],
            "--speed and topics are for Kafka; leave them out with --to-file",
        ),
        (
            ["--bootstrap-servers", "x", "--topic", "t", "--judgments-topic", "j"],
            "give either --topic or the three topics, not both",
        ),
        (
            ["--bootstrap-servers", "x", "--judgments-topic", "j"],
            "give --impressions-topic, --interactions-topic and --judgments-topic together",
        ),
        (
            ["--to-file", "-", "--scenario", "calm"],
            '--scenario: unknown scenario "calm"; one of: steady, bad-deploy',
        ),
        (
            ["--to-file", "-", "--deploy-at", "9"],
            '--deploy-at: the scenario "steady" has no deploy; use --scenario bad-deploy',
        ),
        (["--to-file", "-", "--rate", "0"], "--rate: 0 is not allowed; give more than 0"),
        (["--to-file", "-", "--rate", "nan"], "--rate: nan is not allowed; give more than 0"),
        (["--to-file", "-", "--seed", "-1"], "--seed: -1 is not allowed; give 0 or more"),
        (["--to-file", "-", "--duration", "inf"], "--duration: inf is not allowed; give 0 or more"),
        (
            ["--to-file", "-", "--duration", "0"],
            "--duration 0 runs until stopped: only with --bootstrap-servers and --speed 1",
        ),
        (
            ["--to-file", "-", "--start", "2026-01-01"],
            '--start: "2026-01-01" is not a time with an offset; give "now" or, say, 2026-01-31T12:00:00Z',
        ),
        (["--to-file", "/no/such/folder/x"], 'cannot write "/no/such/folder/x": No such file or directory'),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(arguments, message):
    result = run(*arguments)
    assert (result.exit_code, result.stderr, result.stdout) == (2, message + "\n", "")

"""The command: files that repeat, and mistakes answered in one line."""

import gzip
import time
from collections import Counter

import msgspec
import pytest

from monitor.config import KafkaConfig

FIXED = ["--start", "2026-01-01T00:00:00Z", "--duration", "60", "--seed", "3"]


@pytest.fixture
def run(command):
    return lambda *arguments: command("simulate", *arguments)


@pytest.fixture
def written(monkeypatch):
    """Where events would go to on Kafka."""
    calls = []

    async def write_kafka(config, topics, pacer):
        calls.append((config, topics))
        return Counter()

    monkeypatch.setattr("monitor.cli.simulate.write_kafka", write_kafka)
    return calls


@pytest.fixture
def config(run, tmp_path):
    def write(text):
        path = tmp_path / "monitor.yaml"
        path.write_text(text)
        return path

    return write


def test_a_file_has_one_event_a_line_and_the_end_says_how_many(run, tmp_path):
    path = tmp_path / "events.jsonl"
    result = run("--to-file", str(path), *FIXED)
    lines = path.read_bytes().splitlines()
    assert result.code == 0
    assert result.err.startswith(f"wrote {len(lines)} events: ")
    assert result.out == ""
    times = [msgspec.json.decode(line)["ts"] for line in lines]
    assert times == sorted(times)
    assert 1767225600 == times[0] <= times[-1] < 1767225660


def test_stdout_and_compressed_files_have_the_same_bytes(run, tmp_path):
    packed = [tmp_path / "one.gz", tmp_path / "two.gz"]
    for path in packed:
        run("--to-file", str(path), *FIXED)
    assert packed[0].read_bytes() == packed[1].read_bytes()
    assert gzip.decompress(packed[0].read_bytes()) == run("--to-file", "-", *FIXED).out.encode()


def test_a_file_lies_in_the_past_unless_said_otherwise(run):
    before = time.time()
    lines = run("--to-file", "-", "--duration", "30").out.splitlines()
    times = [msgspec.json.decode(line)["ts"] for line in lines]
    assert before - 31 < min(times)
    assert max(times) < time.time()


def test_the_deploy_lies_within_the_file_unless_moved(run):
    def ranked(*more):
        lines = run("--to-file", "-", *FIXED, *more).out.splitlines()
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


ALL = {"impression": "all", "interaction": "all", "judgment": "all"}
EACH = {"impression": "i", "interaction": "c", "judgment": "j"}


@pytest.mark.parametrize(
    ("topics", "options", "expected"),
    [
        ("{events: [all, more]}", [], ALL),
        ("{events: [all], judgments: [j]}", [], ALL | {"judgment": "j"}),
        ("{impressions: [i], interactions: [c], judgments: [j]}", [], EACH),
        ("{impressions: [i], interactions: [c], judgments: [j]}", ["--topic", "all"], ALL),
        (
            "{events: [all]}",
            ["--impressions-topic", "i", "--interactions-topic", "c", "--judgments-topic", "j"],
            EACH,
        ),
    ],
)
def test_the_config_says_where_to_and_options_win(run, written, config, topics, options, expected):
    file = config(f"kafka: {{bootstrap_servers: 'broker:1', topics: {topics}, security: {{tls: true}}}}")
    assert run("--config", file, *options).code == 0
    run("--config", file, "--bootstrap-servers", "other:2", *options)
    assert [(kafka.bootstrap_servers, kafka.security.tls, to) for kafka, to in written] == [
        ("broker:1", True, expected),
        ("other:2", True, expected),
    ]


def test_without_a_config_events_go_to_one_topic(run, written):
    run("--bootstrap-servers", "broker:1")
    topics = dict.fromkeys(ALL, "search-events")
    assert written == [(KafkaConfig(bootstrap_servers="broker:1"), topics)]


def test_without_a_topic_for_judgments_topics_have_to_be_given(run, written, config):
    result = run("--config", config("kafka: {topics: {impressions: [i], interactions: [c]}}"))
    assert result == (
        2,
        "",
        "ranking-monitor: no judgments topic is configured; give --impressions-topic and the other two\n",
    )


def test_writing_to_an_unreachable_broker_is_one_line(run):
    result = run("--bootstrap-servers", "127.0.0.1:1", "--duration", "1")
    assert result.code == 2
    assert result.err == (
        'ranking-monitor: no Kafka answers at "127.0.0.1:1"; check that it runs, the address and'
        " kafka.security\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give either --to-file, or --bootstrap-servers or --config"),
        (
            ["--to-file", "-", "--bootstrap-servers", "x"],
            "give either --to-file, or --bootstrap-servers or --config",
        ),
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
        (["--to-file", "-", "--config", "x"], "give either --to-file, or --bootstrap-servers or --config"),
        (
            ["--bootstrap-servers", "x"],
            '--bootstrap-servers: must be host:port, several with commas, not "x"',
        ),
        (
            ["--bootstrap-servers", "x:1", "--topic", "a b"],
            '--topic: topic "a b" must be 1 to 249 of a-z, A-Z, 0-9, ".", "_" and "-"',
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
            "--duration 0 runs until stopped: only to Kafka, with --speed 1",
        ),
        (
            ["--to-file", "-", "--start", "2026-01-01"],
            '--start: "2026-01-01" is not a time with an offset; give "now" or, say, 2026-01-31T12:00:00Z',
        ),
        (["--to-file", "/no/such/folder/x"], 'cannot write "/no/such/folder/x": No such file or directory'),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(run, arguments, message):
    result = run(*arguments)
    assert result == (2, "", f"ranking-monitor: {message}\n")

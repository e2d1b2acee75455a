"""load-judgments: what is sent for a file, and mistakes told before anything is sent."""

import json
from importlib import import_module
from types import SimpleNamespace

import pytest

from monitor.events import Judgment, decode, decode_tombstone


@pytest.fixture
def sent(command, monkeypatch):
    """What would go to Kafka: the topic, and keys and values."""
    calls = []

    async def send(settings, topic, records):
        calls.append((topic, records))

    module = import_module("monitor.cli.load_judgments")
    monkeypatch.setattr(module, "send", send)
    monkeypatch.setattr(module, "time", SimpleNamespace(time=lambda: 1_767_225_600.0))
    return calls


@pytest.fixture
def file(tmp_path):
    def write(text, name="qrels.txt"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def judgments(sent):
    ((_, records),) = sent
    return [decode(value, 2e9) for _, value in records]


def test_every_judgment_is_sent_as_of_now_and_their_number_is_told(command, sent, file):
    ended = command("load-judgments", file("q1 0 d3 2\nq1 0 d1 0\n"))
    assert ended == (0, "2 judgments sent to search-events\n", "")
    assert judgments(sent) == [
        Judgment("q1", "d3", 1_767_225_600.0, 2.0),
        Judgment("q1", "d1", 1_767_225_600.0, 0.0),
    ]


def test_the_record_key_lets_a_compacted_topic_keep_each_assessor_s_judgment(command, sent, file):
    command("load-judgments", file("q1 0 d3 2"), "--assessor", "ann")
    ((_, [(key, _)]),) = sent
    assert json.loads(key) == ["q1", "d3", "ann"]
    assert decode_tombstone(key, 5.0) == Judgment("q1", "d3", 5.0, None, "ann")


def test_what_the_file_says_of_time_and_assessor_wins(command, sent, file):
    line = {"query_id": "q1", "key": "d3", "grade": None, "ts": "2025-01-01T00:00:00Z", "assessor": "bob"}
    command("load-judgments", file(json.dumps(line)), "--assessor", "ann")
    assert judgments(sent) == [Judgment("q1", "d3", 1_735_689_600.0, None, "bob")]


def test_a_negative_grade_becomes_zero(command, sent, file):
    command("load-judgments", file("q1 0 d3 -1"))
    assert judgments(sent)[0].grade == 0.0


@pytest.mark.parametrize(
    ("topics", "options", "topic"),
    [
        ("{events: [all]}", [], "all"),
        ("{events: [all], judgments: [grades]}", [], "grades"),
        ("{impressions: [i], interactions: [c], judgments: [grades]}", [], "grades"),
        ("{events: [all]}", ["--topic", "other"], "other"),
    ],
)
def test_judgments_go_to_the_topic_that_carries_them(command, sent, file, topics, options, topic):
    config = file(f"kafka: {{topics: {topics}}}", name="monitor.yaml")
    command("load-judgments", file("q1 0 d3 2"), "--config", config, *options)
    assert [to for to, _ in sent] == [topic]


def test_without_a_topic_for_judgments_one_has_to_be_given(command, sent, file):
    config = file("kafka: {topics: {impressions: [i], interactions: [c]}}", name="monitor.yaml")
    ended = command("load-judgments", file("q1 0 d3 2"), "--config", config)
    assert ended == (2, "", "ranking-monitor: no judgments topic is configured; give --topic\n")
    assert sent == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("q1 0 d3 2\nq1 d1", "qrels.txt:2: read as TREC qrels: 2 fields; a line is `query 0 document grade`"),
        ("q1 0 d3 2\nq1 0 d1 high", 'qrels.txt:2: read as TREC qrels: grade "high" is not a number'),
        (f"q1 0 d3 2\n{'q' * 257} 0 d1 1", "qrels.txt: judgment 2 would be rejected: id_too_long"),
        (
            '{"query_id": "q1", "key": "d3", "grade": 1, "ts": "2999-01-01T00:00:00Z"}',
            "qrels.txt: judgment 1 would be rejected: future_ts",
        ),
        (
            '{"query_id": "q1", "key": "d3", "grade": 1, "ts": "noon"}',
            "qrels.txt: judgment 1 would be rejected: invalid_field",
        ),
    ],
)
def test_one_mistake_in_the_file_and_nothing_is_sent(command, sent, file, content, message):
    path = file(content)
    ended = command("load-judgments", path)
    assert ended == (2, "", f"ranking-monitor: {path.parent}/{message}\n")
    assert sent == []


def test_a_missing_file_is_a_mistake_of_the_user(command, sent, tmp_path):
    path = tmp_path / "none.txt"
    ended = command("load-judgments", path)
    assert ended == (2, "", f'ranking-monitor: cannot read "{path}": No such file or directory\n')


def test_a_topic_that_kafka_cannot_have_is_refused(command, sent, file):
    ended = command("load-judgments", file("q1 0 d3 2"), "--topic", "my topic")
    assert ended.code == 2
    assert ended.err.startswith('ranking-monitor: --topic: topic "my topic" must be 1 to 249 of ')


def test_one_judgment_is_not_judgments(command, sent, file):
    assert command("load-judgments", file("q1 0 d3 2")).out == "1 judgment sent to search-events\n"


def test_a_broker_that_does_not_answer_is_one_line(command, file):
    config = file("kafka: {bootstrap_servers: '127.0.0.1:1'}", name="monitor.yaml")
    ended = command("load-judgments", file("q1 0 d3 2"), "--config", config)
    message = 'no Kafka answers at "127.0.0.1:1"; check that it runs, the address and kafka.security'
    assert ended == (2, "", f"ranking-monitor: {message}\n")

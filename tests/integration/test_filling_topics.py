"""simulate and load-judgments at a real Kafka: a secured one, and one without the topic."""

import json
from pathlib import Path

import pytest

from tests.support.daemon import command
from tests.support.kafka import Broker, OwnBroker

pytestmark = pytest.mark.kafka
SHORT = ("simulate", "--duration", "5", "--rate", "2", "--speed", "0")


async def test_simulate_takes_security_and_topics_from_a_config(
    secure_kafka: OwnBroker, tmp_path: Path
) -> None:
    broker, events, judgments = secure_kafka, await secure_kafka.topic(), await secure_kafka.topic()
    security = {
        "ca_file": str(broker.ca_file),
        "mechanism": "SCRAM-SHA-256",
        "username": broker.username,
        "password_file": str(broker.password_file),
    }
    topics = {"events": [events], "judgments": [judgments]}
    config = tmp_path / "monitor.yaml"
    config.write_text(
        json.dumps(
            {"kafka": {"bootstrap_servers": broker.sasl_servers, "topics": topics, "security": security}}
        )
    )
    code, _, told = await command(*SHORT, "--config", str(config))
    assert code == 0, told
    sent = await broker.consume(events, 1)
    assert json.loads(sent[0].value)["type"] == "impression"
    assert json.loads((await broker.consume(judgments, 1))[0].value)["type"] == "judgment"


async def test_a_topic_that_is_not_there_is_named(kafka: Broker, tmp_path: Path) -> None:
    qrels, config = tmp_path / "qrels.txt", tmp_path / "monitor.yaml"
    qrels.write_text("q 0 a 1\n")
    config.write_text(json.dumps({"kafka": {"bootstrap_servers": kafka.bootstrap_servers}}))
    for arguments in (SHORT, ("load-judgments", str(qrels))):
        code, _, told = await command(*arguments, "--config", str(config), "--topic", "not-there")
        assert (code, told) == (
            2,
            'ranking-monitor: topic "not-there" does not exist: create it (docs/producing.md)\n',
        )

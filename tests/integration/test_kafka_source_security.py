"""The Kafka source at brokers that ask who is there."""

from pathlib import Path
from typing import Any

import pytest

from monitor.config import KafkaConfig, SecurityConfig, TopicsConfig
from monitor.sources.base import SourceError
from tests.integration.following import following, numbered
from tests.support.kafka import OwnBroker

pytestmark = pytest.mark.kafka


def secured(broker: OwnBroker, servers: str, topic: str, **security: Any) -> KafkaConfig:
    return KafkaConfig(
        bootstrap_servers=servers,
        group_id=f"group-{topic}",
        topics=TopicsConfig(events=(topic,)),
        start="earliest",
        security=SecurityConfig(**security),
    )


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
async def test_a_password_over_tls_lets_us_in(secure_kafka: OwnBroker, mechanism: str) -> None:
    broker, topic = secure_kafka, await secure_kafka.topic()
    await broker.produce(topic, numbered(3))
    login = {"mechanism": mechanism, "username": broker.username, "password_file": broker.password_file}
    wanted = secured(broker, broker.sasl_servers, topic, ca_file=broker.ca_file, **login)
    async with following(wanted) as follower:
        await follower.until(lambda: follower.count() == 3)


async def test_a_client_certificate_lets_us_in(secure_kafka: OwnBroker) -> None:
    broker, topic = secure_kafka, await secure_kafka.topic()
    await broker.produce(topic, numbered(3))
    files = {"ca_file": broker.ca_file, "certificate_file": broker.cert_file, "key_file": broker.key_file}
    async with following(secured(broker, broker.ssl_servers, topic, **files)) as follower:
        await follower.until(lambda: follower.count() == 3)


async def test_refusals_cannot_heal(secure_kafka: OwnBroker, tmp_path: Path) -> None:
    broker = secure_kafka
    wrong = tmp_path / "wrong"
    wrong.write_text("wrong")
    login = {"mechanism": "SCRAM-SHA-256", "username": broker.username, "password_file": wrong}
    for servers, security, message in (
        (broker.sasl_servers, {"ca_file": broker.ca_file, **login}, "authentication refused"),
        (broker.ssl_servers, {"tls": True}, "TLS verification failed: .* check kafka.security.ca_file"),
        (broker.ssl_servers, {"ca_file": broker.ca_file}, "TLS refused: .*CERTIFICATE"),
        (broker.ssl_servers, {"ca_file": wrong}, "wrong: not a PEM certificate"),
    ):
        async with following(secured(broker, servers, "any", **security)) as follower:
            with pytest.raises(SourceError, match=message) as raised:
                await follower.until(lambda: False, 10)
            assert "\n" not in str(raised.value)


async def test_tls_at_a_port_without_it_is_told_in_words(
    secure_kafka: OwnBroker, caplog: pytest.LogCaptureFixture
) -> None:
    broker = secure_kafka
    async with following(
        secured(broker, broker.bootstrap_servers, "any", ca_file=broker.ca_file)
    ) as follower:
        await follower.until(lambda: caplog.records, 10)
    assert "kafka.security asks for TLS, which this port may not speak" in caplog.records[0].message

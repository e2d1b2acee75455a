"""The Kafka that the other tests rely on does what they need of it."""

import asyncio
import ssl

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.errors import KafkaConnectionError, KafkaError
from aiokafka.helpers import create_ssl_context
from aiokafka.structs import OffsetAndMetadata

from tests.support.kafka import Broker, OwnBroker, Produced

pytestmark = pytest.mark.kafka


def trust(broker: OwnBroker) -> ssl.SSLContext:
    context: ssl.SSLContext = create_ssl_context(cafile=str(broker.ca_file))
    return context


def trust_and_show_certificate(broker: OwnBroker) -> ssl.SSLContext:
    context = trust(broker)
    context.load_cert_chain(broker.cert_file, broker.key_file)
    return context


async def send(topic: str, value: bytes, **client: object) -> None:
    producer = AIOKafkaProducer(**client)
    try:
        await producer.start()
        await producer.send_and_wait(topic, value)
    finally:
        await producer.stop()


async def test_records_come_back_with_key_partition_and_timestamp(kafka: Broker) -> None:
    topic = await kafka.topic(partitions=2)
    await kafka.produce(
        topic, [Produced(b"k", b"v", partition=1, timestamp_ms=1_700_000_000_000), (b"t", None)]
    )
    records = await kafka.consume(topic, 2)
    assert (b"k", b"v", 1, 1_700_000_000_000) in {(r.key, r.value, r.partition, r.timestamp) for r in records}
    assert (b"t", None) in {(r.key, r.value) for r in records}


async def test_a_topic_takes_its_configuration(kafka: Broker) -> None:
    topic = await kafka.topic(max_message_bytes="100")
    with pytest.raises(KafkaError):
        await send(topic, bytes(1000), bootstrap_servers=kafka.bootstrap_servers)


async def test_a_group_commits_an_offset_with_metadata(kafka: Broker) -> None:
    topic = await kafka.topic()
    await kafka.produce(topic, [(None, b"one"), (None, b"two")])
    consumer = AIOKafkaConsumer(
        topic,
        bootstrap_servers=kafka.bootstrap_servers,
        group_id=f"group-{topic}",
        enable_auto_commit=False,
        auto_offset_reset="earliest",
    )
    await consumer.start()
    try:
        assert (await consumer.getone()).value == b"one"
        await consumer.commit({TopicPartition(topic, 0): OffsetAndMetadata(1, "noted")})
    finally:
        await consumer.stop()
    assert await kafka.committed(f"group-{topic}", topic) == {0: (1, "noted")}
    assert await kafka.committed("a-group-that-never-was", topic) == {}


async def test_tls_with_a_client_certificate(secure_kafka: OwnBroker) -> None:
    topic = await secure_kafka.topic()
    await send(
        topic,
        b"sealed",
        bootstrap_servers=secure_kafka.ssl_servers,
        security_protocol="SSL",
        ssl_context=trust_and_show_certificate(secure_kafka),
    )
    assert [record.value for record in await secure_kafka.consume(topic, 1)] == [b"sealed"]


async def test_tls_without_a_client_certificate_is_refused(secure_kafka: OwnBroker) -> None:
    with pytest.raises(KafkaConnectionError):
        await send(
            "any",
            b"",
            bootstrap_servers=secure_kafka.ssl_servers,
            security_protocol="SSL",
            ssl_context=trust(secure_kafka),
        )


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512", "PLAIN"])
async def test_a_password_over_tls(secure_kafka: OwnBroker, mechanism: str) -> None:
    topic = await secure_kafka.topic()
    login = {
        "bootstrap_servers": secure_kafka.sasl_servers,
        "security_protocol": "SASL_SSL",
        "ssl_context": trust(secure_kafka),
        "sasl_mechanism": mechanism,
        "sasl_plain_username": secure_kafka.username,
    }
    password = secure_kafka.password_file.read_text().strip()
    await send(topic, b"let in", **login, sasl_plain_password=password)
    assert [record.value for record in await secure_kafka.consume(topic, 1)] == [b"let in"]
    with pytest.raises(KafkaError):
        await send(topic, b"", **login, sasl_plain_password="wrong")


@pytest.mark.parametrize("kill", [False, True], ids=["stopped", "killed"])
async def test_a_broker_comes_back_at_its_ports_with_its_records(lone_kafka: OwnBroker, kill: bool) -> None:
    topic = await lone_kafka.topic()
    await lone_kafka.produce(topic, [(b"k", b"kept")])
    await asyncio.to_thread(lone_kafka.stop, kill=kill)
    with pytest.raises(KafkaConnectionError):
        await lone_kafka.produce(topic, [(b"k", b"nobody is there")])
    await asyncio.to_thread(lone_kafka.start)
    assert [record.value for record in await lone_kafka.consume(topic, 1)] == [b"kept"]

"""Rights and passwords that are taken away while the source runs, and given back."""

import asyncio
import time
from pathlib import Path

import pytest

from monitor.config import KafkaConfig, SecurityConfig, TopicsConfig
from monitor.sources.base import SourceError
from tests.integration.following import Follower, following, numbered
from tests.support.kafka import OwnBroker
from tests.support.kafka.acls import Operation, Resource, allow, deny

pytestmark = pytest.mark.kafka


def login(broker: OwnBroker, password_file: Path, topics: TopicsConfig, name: str) -> KafkaConfig:
    return KafkaConfig(
        bootstrap_servers=broker.sasl_servers,
        group_id=f"group-{name}",
        topics=topics,
        start="earliest",
        security=SecurityConfig(
            ca_file=broker.ca_file,
            mechanism="PLAIN",
            username=broker.username,
            password_file=password_file,
        ),
    )


def as_user(broker: OwnBroker, topic: str) -> KafkaConfig:
    return login(broker, broker.password_file, TopicsConfig(events=(topic,)), topic)


async def refused(follower: Follower, reason: str, seconds: float = 40.0) -> None:
    """Wait until it is not ready for this reason, and see that it stays so for some tries."""
    await follower.until(lambda: reason in follower.source.status().reason, seconds)
    until = time.monotonic() + 6
    while time.monotonic() < until:
        await follower.poll()
        status = follower.source.status()
        assert reason in status.reason
        assert not status.ready
        assert not status.stuck
        assert not await follower.source.confirm()


@pytest.mark.parametrize(
    ("resource", "operation", "reason"),
    [
        (Resource.TOPIC, Operation.READ, "not authorised for topic {}: allow Describe and Read"),
        (Resource.TOPIC, Operation.ALL, "not authorised for topic {}: allow Describe and Read"),
        (Resource.GROUP, Operation.READ, "not authorised for group group-{}: allow Read"),
        (Resource.GROUP, Operation.ALL, "not authorised for group group-{}: allow Read"),
    ],
    ids=lambda value: value.name.lower() if isinstance(value, Resource | Operation) else "",
)
async def test_a_right_that_is_refused_for_a_while_is_waited_for_and_nothing_is_lost(
    strict_kafka: OwnBroker, resource: Resource, operation: Operation, reason: str
) -> None:
    broker, topic = strict_kafka, await strict_kafka.topic(2)
    await broker.produce(topic, [*numbered(5, 0), *numbered(5, 1)])
    name = topic if resource is Resource.TOPIC else f"group-{topic}"
    async with following(as_user(broker, topic)) as follower:
        await follower.until(follower.ready)
        await follower.until(lambda: follower.count() == 10)
        assert await follower.source.commit({(topic, 0): (3, "state"), (topic, 1): (5, "state")})
        await deny(broker, resource, name, operation)
        await broker.produce(topic, [*numbered(5, 0, first=5), *numbered(5, 1, first=5)])
        await refused(follower, reason.format(topic))
        await allow(broker, resource, name, operation)
        await follower.until(lambda: follower.count() == 20, 60)
        await follower.until(follower.ready, 40)
        assert len(follower.order) == 20, "nothing comes twice"
        assert await follower.source.confirm()


async def test_a_judgments_topic_that_is_refused_for_a_while_loses_no_judgment(
    strict_kafka: OwnBroker,
) -> None:
    broker, topic, judgments = strict_kafka, await strict_kafka.topic(), await strict_kafka.topic()
    await broker.produce(judgments, numbered(5))
    topics = TopicsConfig(events=(topic,), judgments=(judgments,))
    async with following(login(broker, broker.password_file, topics, topic)) as follower:
        await follower.until(follower.ready)
        await deny(broker, Resource.TOPIC, judgments, Operation.READ)
        await broker.produce(judgments, numbered(5, first=5))
        await refused(follower, f"not authorised for topic {judgments}")
        await allow(broker, Resource.TOPIC, judgments, Operation.READ)
        await follower.until(lambda: follower.count() == 10, 60)
        await follower.until(follower.ready, 40)
        assert len(follower.order) == 10


async def test_a_right_that_is_refused_before_the_first_assignment_ends_it(strict_kafka: OwnBroker) -> None:
    broker, topic = strict_kafka, await strict_kafka.topic()
    await deny(broker, Resource.GROUP, f"group-{topic}", Operation.READ)
    async with following(as_user(broker, topic)) as follower:
        with pytest.raises(SourceError, match=f"not authorised for group group-{topic}: allow Read"):
            await follower.until(lambda: False, 20)


async def test_a_password_that_no_longer_holds_is_waited_for_and_read_again(
    strict_kafka: OwnBroker, tmp_path: Path
) -> None:
    broker, topic = strict_kafka, await strict_kafka.topic()
    await broker.produce(topic, numbered(5))
    password = tmp_path / "password"
    password.write_bytes(broker.password_file.read_bytes())
    wanted = login(broker, password, TopicsConfig(events=(topic,)), topic)
    async with following(wanted, stuck_seconds=12.0) as follower:
        await follower.until(follower.ready)
        await follower.until(lambda: follower.count() == 5)
        password.write_text("replaced")
        session = follower.source._session
        assert session is not None
        # A client that is replaced reads the password again: as after a restart of the broker.
        follower.source._connect(session)
        await refused(follower, "authentication refused; check kafka.security.username and password_file")
        await broker.produce(topic, numbered(5, first=5))
        password.write_bytes(broker.password_file.read_bytes())
        await follower.until(lambda: follower.count() == 10, 60)
        await follower.until(follower.ready, 40)
        assert len(follower.order) == 10
    await asyncio.sleep(0)

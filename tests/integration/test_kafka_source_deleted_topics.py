"""A topic that is deleted under the daemon, at a broker that creates missing topics by itself."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from monitor.sources.kafka import internals
from tests.integration.following import config, following, numbered
from tests.support.daemon import daemon
from tests.support.kafka import Broker, OwnBroker, Produced
from tests.support.waiting import wait_until

pytestmark = pytest.mark.kafka
PARTITIONS = 3


async def delete(broker: Broker, topic: str) -> None:
    async with broker.admin() as admin:
        await admin.delete_topics([topic])
    await wait_until(lambda: is_missing(broker, topic), 15)


async def is_missing(broker: Broker, topic: str) -> bool:
    """Asked without creating it."""
    async with broker.admin() as admin:
        (found,) = await internals.describe(admin, [topic])
    return not found["partitions"]


def impressions(count: int, prefix: str) -> list[Produced]:
    now = time.time()
    return [
        Produced(
            None,
            json.dumps(
                {
                    "type": "impression",
                    "impression_id": f"{prefix}-{n}",
                    "ts": now,
                    "query": "q",
                    "results": ["a", "b"],
                }
            ).encode(),
            n % PARTITIONS,
        )
        for n in range(count)
    ]


async def test_a_deleted_topic_is_not_created_again_and_the_next_of_its_name_is_counted_from_its_beginning(
    strict_kafka: OwnBroker, tmp_path: Path
) -> None:
    broker, topic = strict_kafka, await strict_kafka.topic(PARTITIONS)
    kafka = {
        "bootstrap_servers": broker.bootstrap_servers,
        "group_id": f"group-{topic}",
        "topics": {"events": [topic]},
    }
    async with daemon(tmp_path, {"kafka": kafka}) as running:

        async def records() -> float:
            return (await running.scrape()).get(("ranking_monitor_records_total", (("topic", topic),)), 0.0)

        await wait_until(lambda: running.answers("/-/ready"), 20)
        await broker.produce(topic, impressions(30, "first"))
        await wait_until(lambda: equal(records, 30), 20)
        await delete(broker, topic)
        missing = f'topic "{topic}" does not exist: create it (docs/producing.md)'

        async def says_so() -> bool:
            answer = await running.get("/-/ready")
            return answer.status_code == 503 and missing in answer.text

        await wait_until(says_so, 20)
        # Longer than the metadata is taken for fresh after an error, by every client of the daemon.
        until = time.monotonic() + 10
        while time.monotonic() < until:
            assert await says_so()
            assert await is_missing(broker, topic)
            assert await running.answers("/-/healthy")
            await asyncio.sleep(0.2)
        await broker.create_topic(topic, PARTITIONS)
        await broker.produce(topic, impressions(45, "second"))
        await wait_until(lambda: equal(records, 75), 40)
        await wait_until(lambda: running.answers("/-/ready"), 20)
        assert len(await broker.partitions(topic)) == PARTITIONS
        assert await running.total("ranking_monitor_events_total", fate="duplicate") == 0


async def equal(value: Any, wanted: float) -> bool:
    return bool(await value() == wanted)


async def test_a_replica_that_gets_nothing_is_ready_only_while_others_own_the_partitions(
    strict_kafka: OwnBroker,
) -> None:
    broker, topic, judgments = strict_kafka, await strict_kafka.topic(1), await strict_kafka.topic(1)
    await broker.produce(topic, numbered(4))
    wanted = config(broker, events=[topic], judgments=[judgments])
    async with following(wanted) as one, following(wanted) as two:
        members = (one, two)

        async def together(until: Any, seconds: float = 40.0) -> None:
            deadline = time.monotonic() + seconds
            while not until():
                assert time.monotonic() < deadline, [member.source.status() for member in members]
                await asyncio.gather(*(member.poll() for member in members))

        await together(lambda: sorted(len(m.assigned or {}) for m in members) == [0, 1])
        await together(lambda: all(member.ready() for member in members))
        await delete(broker, topic)
        missing = f'topic "{topic}" does not exist: create it (docs/producing.md)'
        await together(lambda: [m.source.status().reason for m in members] == [missing, missing])
        assert not any(member.ready() for member in members)
        await broker.create_topic(topic, 1)
        await broker.produce(topic, numbered(6))

        def has_owner() -> bool:
            sessions = [member.source._session for member in members]
            return any(session and session.group._given for session in sessions)

        def read_again() -> bool:
            assert has_owner() or not any(member.ready() for member in members)
            return has_owner() and all(member.ready() for member in members)

        await together(read_again)
        await together(lambda: sum(m.order.count(b"5") for m in members) == 1)


async def test_a_deleted_judgments_topic_is_named_and_read_again_once_it_exists(
    strict_kafka: OwnBroker,
) -> None:
    broker, topic, judgments = strict_kafka, await strict_kafka.topic(1), await strict_kafka.topic(1)
    await broker.produce(judgments, numbered(4))
    wanted = config(broker, events=[topic], judgments=[judgments])
    async with following(wanted) as follower:
        await follower.until(follower.ready)
        await delete(broker, judgments)
        missing = f'topic "{judgments}" does not exist: create it (docs/producing.md)'
        # As soon as an event topic, and long before a client without progress is replaced.
        await follower.until(lambda: follower.source.status().reason == missing, 20)
        assert not follower.ready()
        assert await is_missing(broker, judgments)
        await broker.create_topic(judgments, 1)
        follower.values.clear()
        await broker.produce(judgments, numbered(2, first=10))
        await follower.until(lambda: b"11" in follower.order, 40)
        await follower.until(follower.ready, 40)

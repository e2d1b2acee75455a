"""A right that is refused to a running daemon: what its HTTP side says meanwhile, and what it counts."""

import json
import time
from pathlib import Path

import pytest

from tests.support.daemon import Daemon, daemon
from tests.support.kafka import OwnBroker, Produced
from tests.support.kafka.acls import Operation, Resource, allow, deny
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(240)]
PARTITIONS = 2


def impressions(name: str, count: int) -> list[Produced]:
    now = time.time()
    return [
        Produced(None, json.dumps(_impression(f"{name}-{number}", now)).encode(), number % PARTITIONS)
        for number in range(count)
    ]


def _impression(name: str, ts: float) -> dict[str, object]:
    return {"type": "impression", "impression_id": name, "query_id": "q", "ts": ts, "ranked": ["a", "b"]}


async def scraped(running: Daemon, name: str, **labels: str) -> float:
    """What Prometheus has seen of a family."""
    wanted = set(labels.items())
    return sum(
        n for (family, have), n in (await running.scrape()).items() if family == name and wanted <= set(have)
    )


@pytest.mark.parametrize(
    ("resource", "name", "reason"),
    [
        (Resource.TOPIC, "{}", "not authorised for topic {}: allow Describe and Read"),
        (Resource.GROUP, "group-{}", "not authorised for group group-{}: allow Read"),
    ],
    ids=["topic", "group"],
)
async def test_a_daemon_that_is_refused_says_why_and_goes_on_in_the_same_process_once_it_is_allowed(
    strict_kafka: OwnBroker, tmp_path: Path, resource: Resource, name: str, reason: str
) -> None:
    broker, topic = strict_kafka, await strict_kafka.topic(PARTITIONS)
    name, reason = name.format(topic), reason.format(topic)
    config = {
        "kafka": {
            "bootstrap_servers": broker.sasl_servers,
            "group_id": f"group-{topic}",
            "start": "earliest",
            "topics": {"events": [topic]},
            "security": {
                "ca_file": str(broker.ca_file),
                "mechanism": "PLAIN",
                "username": broker.username,
                "password_file": str(broker.password_file),
            },
        },
        "attribution_seconds": 3,
        "judgments": {"maturities": [3]},
    }
    await broker.produce(topic, impressions("before", 20))
    async with daemon(tmp_path, config) as running:

        async def says_why() -> bool:
            answer = await running.get("/-/ready")
            return answer.status_code == 503 and reason in answer.text

        async def has_counted(settled: int) -> bool:
            return (
                await scraped(running, "ranking_monitor_events_total", type="impression", fate="settled")
                == settled
            )

        await wait_until(lambda: running.answers("/-/ready"), 30)
        await wait_until(lambda: has_counted(20), 40)
        await deny(broker, resource, name, Operation.READ)
        await broker.produce(topic, impressions("meanwhile", 30))
        await wait_until(says_why, 40)
        for _ in range(5):
            assert await says_why()
            assert await running.answers("/-/healthy")
        await allow(broker, resource, name, Operation.READ)
        await wait_until(lambda: running.answers("/-/ready"), 60)
        await broker.produce(topic, impressions("after", 10))
        await wait_until(lambda: has_counted(60), 60)
        assert running.process.returncode is None
        assert await scraped(running, "ranking_monitor_records_total") == 60
        assert await scraped(running, "ranking_monitor_events_total") == 60
        assert await scraped(running, "ranking_monitor_rejected_total") == 0

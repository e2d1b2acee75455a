"""A backlog on a real Kafka is read nearly as fast while strangers hammer the HTTP port."""

import asyncio
import json
import re
import signal
import time
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer

from tests.support.crowd import half_open, hammering
from tests.support.daemon import Daemon, daemon
from tests.support.kafka import Broker
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

RECORDS = 400_000
PHASE_SECONDS = 1.0
KEEPS = 0.5
"""Of its rate, at least, on a machine that others use too; before requests took turns it kept a tenth."""


async def backlog(kafka: Broker) -> str:
    """A topic with many impressions of the last hour."""
    topic = await kafka.topic(2)
    begin = time.time() - 3600
    async with AIOKafkaProducer(
        bootstrap_servers=kafka.bootstrap_servers, linger_ms=20, max_batch_size=500_000
    ) as producer:
        for number in range(RECORDS):
            event = {
                "type": "impression",
                "impression_id": f"i{number}",
                "query_id": f"q{number % 100}",
                "ts": begin + number * 3000 / RECORDS,
                "ranked": ["a", "b", "c"],
                "labels": {"variant": f"v{number % 20}"},
            }
            await producer.send(topic, json.dumps(event).encode(), partition=number % 2)
        await producer.flush()
    return topic


async def behind(running: Daemon) -> int:
    """Records between what was read and the end of the topic."""
    text = (await running.get("/-/healthy")).text
    found = re.search(r"([\d,]+|no) records? behind", text)
    assert found, text
    return 0 if found[1] == "no" else int(found[1].replace(",", ""))


async def rates(running: Daemon, crowd: asyncio.subprocess.Process) -> dict[bool, float]:
    """Records read a second, without and with the crowd, in turns until little is left."""
    read, seconds = {False: 0, True: 0}, {False: 0.0, True: 0.0}
    crowded = False
    while (left := await behind(running)) > RECORDS / 20:
        crowd.send_signal(signal.SIGCONT if crowded else signal.SIGSTOP)
        await asyncio.sleep(0.2)
        left, began = await behind(running), time.monotonic()
        await asyncio.sleep(PHASE_SECONDS)
        now = await behind(running)
        read[crowded] += left - now
        seconds[crowded] += time.monotonic() - began
        crowded = not crowded
    crowd.send_signal(signal.SIGCONT)
    assert all(seconds.values()), "the backlog was read before the crowd came"
    return {crowded: read[crowded] / seconds[crowded] for crowded in (False, True)}


async def test_a_crowd_on_metrics_leaves_the_reading_most_of_its_rate(kafka: Broker, tmp_path: Path) -> None:
    topic = await backlog(kafka)
    servers = {"bootstrap_servers": kafka.bootstrap_servers, "start": "earliest"}
    config = {"kafka": {**servers, "topics": {"events": [topic]}, "group_id": f"crowd-{topic}"}}
    async with daemon(tmp_path, config) as running:
        port = int(running.url.rpartition(":")[2])
        with half_open(port, 100):
            async with hammering(port) as crowd:
                await wait_until(lambda: running.answers("/-/healthy"), 10)
                await wait_until(lambda: has_begun(running), 60, every=0.05)
                found = await rates(running, crowd)
        kept = found[True] / found[False]
        print(f"{found[False]:,.0f} records a second alone, {found[True]:,.0f} with 64 clients: {kept:.0%}")
        assert kept > KEEPS
        await wait_until(lambda: reads_all(running), 60, every=0.2)


async def has_begun(running: Daemon) -> bool:
    return 0 < await behind(running) < RECORDS


async def reads_all(running: Daemon) -> bool:
    return await running.total("ranking_monitor_records_total") == RECORDS

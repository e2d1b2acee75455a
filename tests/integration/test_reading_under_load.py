"""A backlog on a real Kafka is read nearly as fast while strangers hammer the HTTP port."""

import asyncio
import re
import signal
import time
from pathlib import Path
from statistics import mean

import pytest
from aiokafka import AIOKafkaProducer

from tests.support.crowd import half_open, hammering
from tests.support.daemon import Daemon, daemon
from tests.support.kafka import Broker
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(300)]

RECORDS = 1_000_000
BATCH_BYTES = 500_000
SETTLE_SECONDS, SLICE_SECONDS = 0.2, 0.5
"""The crowd comes and goes in slices so short that whatever else uses the machine slows both kinds down."""
LEFT = RECORDS // 8
"""Records before the end that are not measured: there one partition is read to its end before the other."""
KEEPS = 0.7
"""Of its rate, at least; before requests took turns it kept a tenth."""
SLICES = 4
"""Of each kind, at least, for a ratio that means something."""


EVENT = (
    b'{"type":"impression","impression_id":"i%d","query_id":"q%d","ts":%.3f,"ranked":["a","b","c"],'
    b'"labels":{"variant":"v%d"}}'
)


async def backlog(kafka: Broker) -> str:
    """A topic with many impressions of the last hour."""
    topic = await kafka.topic(2)
    begin = time.time() - 3600
    async with AIOKafkaProducer(
        bootstrap_servers=kafka.bootstrap_servers, max_batch_size=BATCH_BYTES
    ) as producer:
        batches = [producer.create_batch() for _ in range(2)]
        for number in range(RECORDS):
            partition = number % 2
            value = EVENT % (number, number % 100, begin + number * 3000 / RECORDS, number % 20)
            if batches[partition].append(key=None, value=value, timestamp=None) is None:
                await producer.send_batch(batches[partition], topic, partition=partition)
                batches[partition] = producer.create_batch()
                batches[partition].append(key=None, value=value, timestamp=None)
        for partition, batch in enumerate(batches):
            await producer.send_batch(batch, topic, partition=partition)
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
    read: dict[bool, list[float]] = {False: [], True: []}
    crowded = False
    while True:
        crowd.send_signal(signal.SIGCONT if crowded else signal.SIGSTOP)
        await asyncio.sleep(SETTLE_SECONDS)
        left, began = await behind(running), time.monotonic()
        await asyncio.sleep(SLICE_SECONDS)
        now = await behind(running)
        if now < LEFT:
            break
        read[crowded].append((left - now) / (time.monotonic() - began))
        crowded = not crowded
    crowd.send_signal(signal.SIGCONT)
    assert min(map(len, read.values())) >= SLICES, "the backlog was read before the crowd came"
    return {crowded: mean(found) for crowded, found in read.items()}


async def test_a_crowd_on_metrics_leaves_the_reading_most_of_its_rate(kafka: Broker, tmp_path: Path) -> None:
    topic = await backlog(kafka)
    servers = {"bootstrap_servers": kafka.bootstrap_servers, "start": "earliest"}
    config = {"kafka": {**servers, "topics": {"events": [topic]}, "group_id": f"crowd-{topic}"}}
    async with daemon(tmp_path, config) as running:
        port = int(running.url.rpartition(":")[2])
        with half_open(port, 100):
            async with hammering(port, seconds=200) as crowd:
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

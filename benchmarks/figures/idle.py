"""What the daemon costs where little happens: a hundred events a second, a scrape every 15 seconds.

    python -m benchmarks.figures.idle [seconds [seconds of history]]

The history is loaded before: with more than an hour of it every deadline comes up while it is measured.
"""

import asyncio
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass

import msgspec
from aiokafka import AIOKafkaProducer

from benchmarks.broker import NEVER_DELETED, PARTITIONS, broker
from benchmarks.figures.asking import read_records, wait_until
from benchmarks.figures.result import Goal, save
from benchmarks.measure import cpu_seconds, resident_bytes
from benchmarks.throughput.daemon import SCRAPE, Daemon, running
from benchmarks.workload import LABELS, ROLES, START, Record, Workload
from tests.support.kafka import Broker

RATE = 100
SCRAPE_SECONDS = 15.0
READ_SECONDS = 300.0
WARM_UP_SECONDS = 5.0
GOAL_PERCENT = 1.5


@dataclass(frozen=True)
class Idle:
    """The share of one core."""

    ran: str
    goals: list[Goal]
    percent: float
    events_per_second: float
    resident_bytes: int


@dataclass(frozen=True)
class Used:
    """What the daemon took while it was watched."""

    percent: float
    sent: int
    resident_bytes: int


def shifted(workload: Workload, seconds: float) -> Iterator[Record]:
    """The same records so many seconds later; judgments stay where they are."""
    for record in workload.records():
        if record.role == "judgments":
            yield record
        else:
            ts = round(record.ts + seconds, 3)
            event = {**msgspec.json.decode(record.value), "ts": ts}
            yield record._replace(value=msgspec.json.encode(event), ts=ts)


class Sender:
    """Sends records when their time has come, each by itself, as the programs of many users do."""

    def __init__(self, producer: AIOKafkaProducer, topics: dict[str, str], events: Iterator[Record]) -> None:
        self.sent = 0
        self._producer = producer
        self._topics = topics
        self._events = events
        self._next = next(events)

    async def send_due(self) -> None:
        """Send all that lies in the past."""
        while (record := self._next).ts <= time.time():
            at = int(record.ts * 1000)
            await self._producer.send(self._topics[record.role], record.value, record.key, timestamp_ms=at)
            self._next = next(self._events)
            self.sent += 1

    async def run(self) -> None:
        while True:
            await self.send_due()
            await asyncio.sleep(0.01)


async def watch(to: Broker, seconds: float, history_seconds: float) -> Used:
    """Load the history, let the daemon read it, then look at it for a while."""
    counts = {"impressions": PARTITIONS, "interactions": PARTITIONS, "judgments": 1}
    topics = {role: await to.topic(counts[role], **NEVER_DELETED) for role in ROLES}
    kafka = {
        "bootstrap_servers": to.bootstrap_servers,
        "group_id": f"idle-{topics['impressions']}",
        "topics": {role: [name] for role, name in topics.items()},
        "start": "earliest",
    }
    # More than enough: it ends before.
    workload = Workload(int((history_seconds + seconds + 2 * READ_SECONDS) * RATE), rate=RATE)
    producer = AIOKafkaProducer(bootstrap_servers=to.bootstrap_servers, acks="all", linger_ms=5)
    await producer.start()
    try:
        sender = Sender(producer, topics, shifted(workload, time.time() - START - history_seconds))
        await sender.send_due()
        history = sender.sent
        sending = asyncio.create_task(sender.run())
        with running({"kafka": kafka, "labels": list(LABELS)}) as daemon:
            await asyncio.to_thread(
                wait_until,
                lambda: sum(read_records(daemon.get("/metrics")).values()) >= history,
                READ_SECONDS,
                "the history was not read",
            )
            await asyncio.sleep(WARM_UP_SECONDS)
            await _scrape(daemon)
            sent, cpu, began = sender.sent, cpu_seconds(daemon.pid), time.perf_counter()
            for number in range(1, int(seconds / SCRAPE_SECONDS) + 1):
                await asyncio.sleep(began + number * SCRAPE_SECONDS - time.perf_counter())
                await _scrape(daemon)
            passed = time.perf_counter() - began
            percent = 100.0 * (cpu_seconds(daemon.pid) - cpu) / passed
            used = Used(percent, int((sender.sent - sent) / passed), resident_bytes(daemon.pid))
        sending.cancel()
    finally:
        await producer.stop()
        async with to.admin() as admin:
            await admin.delete_topics(list(topics.values()))
    return used


async def _scrape(daemon: Daemon) -> None:
    await asyncio.to_thread(daemon.get, "/metrics", SCRAPE)


def measure(seconds: float = 60.0, history_seconds: float = 4000.0) -> Idle:
    """Measure the share of a core."""
    with broker() as to:
        used = asyncio.run(watch(to, seconds, history_seconds))
    return Idle(
        f"{used.sent} events a second for {seconds:.0f} s after {history_seconds:.0f} s of history,"
        f" {PARTITIONS} partitions, a scrape every {SCRAPE_SECONDS:.0f} s",
        [Goal("share of one core at 100 events a second, scraped", GOAL_PERCENT, used.percent, "%")],
        used.percent,
        used.sent,
        used.resident_bytes,
    )


if __name__ == "__main__":
    save("idle", measure(*map(float, sys.argv[1:3])))

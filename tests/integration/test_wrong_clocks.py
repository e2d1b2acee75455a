"""Senders whose clocks are wrong, on a real Kafka: they cost honest traffic nothing."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemon import Daemon, command, daemon
from tests.support.kafka import Broker, Produced
from tests.support.waiting import wait_until

pytestmark = pytest.mark.kafka

SENDERS = 10
YEAR = 365 * 86_400.0
BOTH_TYPES = pytest.mark.parametrize("timestamp_type", ["CreateTime", "LogAppendTime"])
SETTINGS: dict[str, Any] = {"lateness_seconds": 4, "idle_seconds": 2, "judgments": {"maturities": [5]}}


class Search:
    """Ten senders of impressions into one topic of one partition; the first is ahead."""

    def __init__(self, broker: Broker, topic: str, lead: float) -> None:
        self._broker = broker
        self._topic = topic
        self._lead = lead
        self.honest = 0
        self.ahead = 0

    async def send(self, rounds: int, *, at: float | None = None, every: float = 0.1) -> None:
        """One impression of each sender a round; written now, or stamped from a time in the past on."""
        for number in range(rounds):
            true = time.time() if at is None else at + number * every
            records = [self._impression(sender, true) for sender in range(SENDERS)]
            await self._broker.produce(self._topic, records)
            if at is None:
                await asyncio.sleep(every)

    def _impression(self, sender: int, true: float) -> Produced:
        lead = self._lead if sender == 0 else 0.0
        self.ahead += sender == 0
        self.honest += sender != 0
        ts = true + lead
        value = {
            "type": "impression",
            "impression_id": f"i{self.ahead + self.honest}",
            "query_id": "q",
            "ts": ts,
            "ranked": ["a", "b"],
        }
        return Produced(b"k", json.dumps(value).encode(), 0, int(ts * 1000))

    async def check(self, running: Daemon) -> None:
        """Every honest impression was measured, and none of them was late."""
        await wait_until(lambda: self._is_decided(running), 40)
        assert await running.total("ranking_monitor_events_total", type="impression", fate="late") == 0
        rejected = await running.total("ranking_monitor_rejected_total", reason="future_ts")
        measured = await running.total("vector_results_count")
        assert self.honest <= measured <= self.honest + self.ahead - rejected

    async def _is_decided(self, running: Daemon) -> bool:
        read = await running.total("ranking_monitor_records_total")
        return read == self.honest + self.ahead and await running.total("vector_results_count") >= self.honest


async def search(broker: Broker, timestamp_type: str, lead: float) -> tuple[Search, dict[str, Any]]:
    topic = await broker.topic(
        1, message_timestamp_type=timestamp_type, message_timestamp_after_max_ms=str(2**63 - 1)
    )
    kafka = {
        "bootstrap_servers": broker.bootstrap_servers,
        "group_id": f"clocks-{topic}",
        "start": "earliest",
        "topics": {"events": [topic]},
    }
    return Search(broker, topic, lead), {**SETTINGS, "kafka": kafka}


@BOTH_TYPES
@pytest.mark.parametrize("lead", [300.0, YEAR])
async def test_a_sender_ahead_costs_the_others_nothing_live(
    kafka: Broker, tmp_path: Path, timestamp_type: str, lead: float
) -> None:
    senders, config = await search(kafka, timestamp_type, lead)
    async with daemon(tmp_path, config) as running:
        await wait_until(lambda: running.answers("/-/ready"), 30)
        await senders.send(60)
        await senders.check(running)
        assert await running.total("ranking_monitor_event_lead_seconds") == pytest.approx(lead, abs=5)


async def test_a_sender_ahead_costs_the_others_nothing_in_a_backlog_of_append_times(
    kafka: Broker, tmp_path: Path
) -> None:
    senders, config = await search(kafka, "LogAppendTime", 300.0)
    await senders.send(60)
    async with daemon(tmp_path, config) as running:
        await senders.check(running)


@pytest.mark.parametrize("lead", [300.0, YEAR])
async def test_a_sender_ahead_costs_the_others_nothing_in_a_backlog_of_create_times(
    kafka: Broker, tmp_path: Path, lead: float
) -> None:
    senders, config = await search(kafka, "CreateTime", lead)
    await senders.send(100, at=time.time() - 3600, every=10.0)
    async with daemon(tmp_path, config) as running:
        await senders.check(running)


@BOTH_TYPES
async def test_a_sender_ahead_costs_the_others_nothing_through_a_restart(
    kafka: Broker, tmp_path: Path, timestamp_type: str
) -> None:
    """Committed after every second; what is read again is counted once."""
    senders, config = await search(kafka, timestamp_type, YEAR)
    config |= {"commit": "interval", "commit_seconds": 1}
    async with daemon(tmp_path, config) as first:
        await wait_until(lambda: first.answers("/-/ready"), 30)
        await senders.send(40)
        await wait_until(lambda: _committed_all(first, senders.honest + senders.ahead), 40)
        counted = await first.total("vector_results_count")
        assert await first.total("ranking_monitor_events_total", fate="late") == 0
        assert await first.stop() == 0
    await senders.send(20)
    async with daemon(tmp_path, config) as second:
        await wait_until(lambda: second.answers("/-/ready"), 30)
        await senders.send(20)
        await wait_until(lambda: _sum_reached(second, counted, senders.honest), 40)
        assert await second.total("ranking_monitor_events_total", fate="late") == 0


async def _committed_all(running: Daemon, records: int) -> bool:
    """All was read and decided at least two commits ago."""
    if await running.total("ranking_monitor_records_total") < records:
        return False
    before = await running.total("vector_results_count")
    await asyncio.sleep(3.5)
    return before == await running.total("vector_results_count") > 0


async def _sum_reached(running: Daemon, before: float, honest: int) -> bool:
    total = before + await running.total("vector_results_count")
    assert total <= honest
    return total == honest


async def test_the_start_log_and_check_config_name_each_topics_timestamp_type_and_bound(
    kafka: Broker, tmp_path: Path
) -> None:
    senders, config = await search(kafka, "LogAppendTime", 0.0)
    topic = config["kafka"]["topics"]["events"][0]
    async with daemon(tmp_path, config) as running:
        await wait_until(lambda: running.answers("/-/ready"), 30)
        written = running.log.read_text()
    line = f'topic "{topic}": LogAppendTime'
    assert line in written
    path = next(tmp_path.glob("*.yaml"))
    code, out, _ = await command("check-config", str(path))
    assert code == 0
    assert line in out
    assert senders.honest == 0

"""The daemon's memory under events that are as large as they may be, and labels full of junk."""

import json
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemon import Daemon, daemon
from tests.support.kafka import Broker
from tests.support.waiting import wait_until

pytestmark = pytest.mark.kafka
MEMORY = 64 << 20
HELD = {"judgments": {"maturities": [3600]}, "lateness_seconds": 2, "commit": "interval", "windows": [60]}
"""Impressions are held for an hour, so nothing goes by itself."""


def config(kafka: Broker, topic: str, **more: Any) -> dict[str, Any]:
    source = {"topics": {"events": [topic]}, "start": "earliest", "group_id": f"memory-{uuid.uuid4().hex}"}
    return {**HELD, "kafka": {"bootstrap_servers": kafka.bootstrap_servers, **source}, **more}


def impression(number: int, ranked: list[str], **more: Any) -> tuple[bytes, bytes]:
    event = {"type": "impression", "impression_id": f"i{number}", "query_id": "q", "ranked": ranked}
    return b"key", json.dumps({**event, "ts": time.time() - 1, **more}).encode()


def resident_bytes(running: Daemon) -> int:
    status = Path(f"/proc/{running.process.pid}/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


async def fate(running: Daemon, name: str) -> float:
    return await running.total("ranking_monitor_events_total", type="impression", fate=name)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc: run on Linux")
async def test_impressions_of_1000_keys_take_no_more_memory_than_is_allowed(
    kafka: Broker, tmp_path: Path
) -> None:
    topic = await kafka.topic()
    ranked = [str(i) for i in range(1000)]
    async with daemon(tmp_path, config(kafka, topic, limits={"memory": MEMORY})) as running:
        await kafka.produce(topic, [impression(i, ranked) for i in range(100)])
        await wait_until(lambda: holds(running, 100), 60)
        before, sent = resident_bytes(running), 20_000
        for first in range(100, sent, 1990):
            await kafka.produce(topic, [impression(i, ranked) for i in range(first, first + 1990)])
        await wait_until(lambda: evicted_or_held(running, sent), 90, every=0.3)
        evicted, held = (
            await fate(running, "evicted"),
            await running.total("ranking_monitor_open_impressions"),
        )
        # 12.3 kB each by the estimate: as many as fit, and a hundredth less where it begins to evict.
        assert MEMORY * 0.98 / 12_300 <= held <= MEMORY / 12_300
        assert evicted == sent - held
        # Beside what is held, a batch and what was fetched ahead. Without the bound there would be 240 MB.
        assert resident_bytes(running) - before < MEMORY + 100e6


async def holds(running: Daemon, count: int) -> bool:
    return await running.total("ranking_monitor_open_impressions") == count


async def evicted_or_held(running: Daemon, count: int) -> bool:
    return await fate(running, "evicted") + await running.total("ranking_monitor_open_impressions") == count


async def test_embeddings_that_are_too_large_are_rejected_and_the_others_counted(
    kafka: Broker, tmp_path: Path
) -> None:
    topic = await kafka.topic()
    small, large = [[1.0, 0.5]] * 2, [[1.0] * 50_000] * 2
    events = [impression(i, ["a", "b"], embeddings=large if i % 2 else small) for i in range(40)]
    async with daemon(tmp_path, config(kafka, topic, metrics=["ild@10"])) as running:
        await kafka.produce(topic, events)
        await wait_until(lambda: holds(running, 20), 60)
        assert await running.total("ranking_monitor_rejected_total", reason="too_large") == 20


async def test_junk_that_comes_first_leaves_the_listed_values_of_a_label_their_series(
    kafka: Broker, tmp_path: Path
) -> None:
    topic = await kafka.topic()
    junk = [impression(i, ["a"], labels={"variant": f"junk-{i}"}) for i in range(200)]
    real = [impression(200 + i, ["a"], labels={"variant": "ab"[i % 2]}) for i in range(20)]
    listed = {"labels": ["variant"], "label_values": {"variant": ["a", "b"]}}
    async with daemon(tmp_path, config(kafka, topic, **listed)) as running:
        await kafka.produce(topic, junk + real)

        async def counted() -> bool:
            return await running.total("vector_results_count") == 220

        # The partition falls idle, and time goes on.
        await wait_until(counted, 60)
        values = ("a", "b", "other")
        assert [await running.total("vector_results_count", variant=v) for v in values] == [10, 10, 200]
        assert await running.total("ranking_monitor_label_overflow_total", label="variant") == 200

"""A simulated search in Kafka, watched by the daemon, at ten times the speed of time."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.support.daemon import COMMAND, Daemon, daemon
from tests.support.kafka import Broker

SPEED = 10
DELAYS: dict[str, Any] = {
    "attribution_seconds": 20,
    "lateness_seconds": 5,
    # Simulated time is an hour ago: a partition that was idle at first would have gone on to the clock.
    "idle_seconds": 60,
    "judgments": {"maturities": [10, 60]},
    "windows": [10, 60],
}
VALUES: dict[str, Any] = {
    "maturity": "10s",
    "evaluation_interval": "2s",
    "comparison": {"range": "15s", "yesterday": "30s", "last_week": "40s", "min_samples": 200},
    "detection": {
        "windows": ["8s", "16s", "32s"],
        "day": "40s",
        "days": 2,
        "around": "8s",
        "weekday_around": "16s",
        "chunk": "2s",
        "slow_interval": "4s",
        # Simulated time is an hour behind the clock.
        "max_delay": "2h",
    },
    "VectorNDCGRegression": {"keep_firing_for": "10s"},
}
"""The rules in shortened time: all that differs from the defaults, and none of it by editing a rule."""


@asynccontextmanager
async def watched_search(
    kafka: Broker, folder: Path, scenario: str, deploy_after_seconds: float, seconds: float
) -> AsyncIterator[Daemon]:
    """Run a scenario for some seconds of real time; the daemon that watches it."""
    topics = {role: await kafka.topic(partitions=2) for role in ("impressions", "interactions", "judgments")}
    start = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 3600))
    arguments = [part for role, name in topics.items() for part in (f"--{role}-topic", name)]
    arguments += ["--scenario", scenario, "--bootstrap-servers", kafka.bootstrap_servers, "--start", start]
    arguments += ["--speed", str(SPEED), "--rate", "12", "--duration", str(SPEED * seconds)]
    if scenario == "bad-deploy":
        arguments += ["--deploy-at", str(SPEED * deploy_after_seconds)]
    names = {role: [name] for role, name in topics.items()}
    config = {
        **DELAYS,
        "kafka": {
            "bootstrap_servers": kafka.bootstrap_servers,
            "group_id": topics["impressions"],
            "topics": names,
            "start": "earliest",
        },
    }
    async with daemon(folder, config) as running:
        simulator = await asyncio.create_subprocess_exec(
            *COMMAND, "simulate", *arguments, stderr=asyncio.subprocess.DEVNULL
        )
        try:
            yield running
        finally:
            if simulator.returncode is None:
                simulator.terminate()
            await simulator.wait()

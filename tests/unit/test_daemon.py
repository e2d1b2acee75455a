"""What the daemon says of its source."""

from types import SimpleNamespace
from typing import Any

from monitor.config import Config
from monitor.daemon import Daemon
from monitor.sources.base import SourceStatus
from monitor.stream.records import Role


def daemon(status: SourceStatus) -> Daemon:
    source: Any = SimpleNamespace(roles={"search": Role.EVENTS}, status=lambda: status)
    return Daemon(Config(), source)


async def test_lag_and_skipped_records_are_exported_by_partition() -> None:
    status = SourceStatus(ready=True, lag={("search", 0): 5}, skipped={("search", 0): 3, ("search", 1): 0})
    lines = (await daemon(status).render(""))[0].decode().splitlines()
    assert 'ranking_monitor_consumer_lag{partition="0",topic="search"} 5.0' in lines
    assert 'ranking_monitor_skipped_records_total{partition="0",topic="search"} 3.0' in lines
    assert 'ranking_monitor_skipped_records_total{partition="1",topic="search"} 0.0' in lines


def test_a_source_that_is_not_ready_makes_it_unready_and_says_why() -> None:
    health = daemon(SourceStatus(ready=False, reason="search[0]: the batch at offset 7")).health()
    assert (health.healthy, health.ready, health.lines) == (True, False, ["search[0]: the batch at offset 7"])

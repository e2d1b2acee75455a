"""What the daemon says of its source."""

import time
from types import SimpleNamespace
from typing import Any

import pytest

from monitor.config import Config
from monitor.daemon import Daemon
from monitor.sources.base import SourceStatus
from monitor.stream.checkpoint import Checkpoint, encode
from monitor.stream.records import Role, Start


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


@pytest.mark.parametrize(("lag", "ready"), [(40, False), (0, True)], ids=["records are left", "at the end"])
def test_while_records_are_read_again_it_is_not_ready_and_says_how_many_are_left(
    lag: int, ready: bool
) -> None:
    running = daemon(SourceStatus(ready=True, lag={("search", 0): lag}))
    counted = encode(Checkpoint(positions={"search": 100}, watermark=1.0))
    running.engine.assign({("search", 0): Start(60, counted, fresh=False, from_beginning=False)}, 1000.0)
    health = running.health()
    assert (health.healthy, health.ready) == (True, ready)
    told = ["reading again: 40 records that were counted before are left"]
    assert health.lines == ([] if ready else told)


async def test_the_age_of_the_last_commit_and_what_is_left_to_replay_are_exported() -> None:
    body = (await daemon(SourceStatus(ready=True)).render(""))[0].decode()
    assert "\nranking_monitor_replay_records 0.0\n" in body
    (line,) = [line for line in body.splitlines() if line.startswith("ranking_monitor_committed_timestamp")]
    assert float(line.split()[1]) == pytest.approx(time.time(), abs=60)

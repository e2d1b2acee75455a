"""One replica and three on the same backlog of three partitions: seconds, and CPU time of an event.

    python -m benchmarks.figures.replicas [events [rounds]]

Measured from when every replica has its share, for start and rebalances are not reading, until nothing is
left. Three replicas and a broker want four cores: where there are fewer, the CPU time of an event says what
more replicas cost, and the seconds say how many cores there were.
"""

import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from os import cpu_count

from benchmarks.broker import Loaded, broker, loaded
from benchmarks.figures.asking import progress, read_open, read_records, wait_until
from benchmarks.figures.result import Goal, save
from benchmarks.measure import Failed, cpu_seconds, spread
from benchmarks.throughput.daemon import Daemon, running, scraped
from benchmarks.workload import LABELS, Workload

PARTITIONS = 3
SHARED_SECONDS = 60.0
READ_SECONDS = 900.0
GOAL_PERCENT = 20.0


@dataclass(frozen=True)
class Read:
    """How replicas read what was left when each of them had its share."""

    replicas: int
    events: int
    seconds: float
    events_per_second: float
    cpu_micros_each: float


@dataclass(frozen=True)
class Replicas:
    """One, and three."""

    ran: str
    goals: list[Goal]
    cores: int
    wall_ratio: float
    """Events a second of three by those of one."""
    reads: list[Read]


def measure(events: int = 1_000_000, rounds: int = 3) -> Replicas:
    """Let one replica read a backlog, then three, in turn."""
    with broker() as to, loaded(to, Workload(events), PARTITIONS) as backlog:
        reads = [read(backlog, count, number) for number in range(rounds) for count in (1, PARTITIONS)]
    speed, cost = (
        {n: spread(getattr(r, name) for r in reads if r.replicas == n).median for n in (1, PARTITIONS)}
        for name in ("events_per_second", "cpu_micros_each")
    )
    cores, ratio = cpu_count() or 1, speed[PARTITIONS] / speed[1]
    more = 100.0 * (cost[PARTITIONS] / cost[1] - 1.0)
    told = [f"with {n}: {speed[n]:,.0f} events/s, {cost[n]:.1f} us of CPU for each" for n in speed]
    return Replicas(
        f"{events:,} events in {PARTITIONS} partitions, {rounds} rounds; {'; '.join(told)}; {ratio:.2f} times"
        f" as fast, on {cores} cores that the broker uses as well",
        [Goal("CPU of an event with three replicas, over one replica", GOAL_PERCENT, more, "% more")],
        cores,
        ratio,
        reads,
    )


def read(backlog: Loaded, replicas: int, number: int) -> Read:
    """Start so many replicas at once, in a group of their own, and watch them."""
    topics = [backlog.topics["impressions"], backlog.topics["interactions"]]
    events = sum(backlog.records[topic] for topic in topics)
    config = {
        "kafka": backlog.kafka_config(f"{topics[0]}-{replicas}-{number}"),
        "labels": list(LABELS),
        "limits": {"open": max(1_000_000, events)},
    }
    share = len(topics) * PARTITIONS // replicas
    with ExitStack() as stack:
        daemons = [stack.enter_context(running(config)) for _ in range(replicas)]
        for daemon in daemons:
            stack.enter_context(scraped(daemon))
        wait_until(lambda: _all_read(daemons, share), SHARED_SECONDS, "the partitions were not shared out")
        before, cpu, began = _counted(daemons, topics), _cpu(daemons), time.perf_counter()
        # All metrics are asked for only at the end: to render them is work too.
        wait_until(
            lambda: _all_read(daemons, share, behind=0) and _are_done(daemons, topics, events),
            READ_SECONDS,
            f"{events:,} events were not counted and decided",
        )
        seconds, used = time.perf_counter() - began, _cpu(daemons) - cpu
    if before >= events:
        raise Failed(f"{events:,} events were read before all replicas had their share; load more")
    left = events - before
    return Read(replicas, left, seconds, left / seconds, used / left * 1e6)


def _all_read(daemons: Sequence[Daemon], partitions: int, behind: int | None = None) -> bool:
    """Whether each reads so many partitions, and is so far behind."""
    found = [progress(daemon) for daemon in daemons]
    return all(p and p.partitions == partitions and behind in (None, p.behind) for p in found)


def _are_done(daemons: Sequence[Daemon], topics: Sequence[str], events: int) -> bool:
    """Whether all was counted and decided; the closing impression of each partition stays open."""
    left = sum(read_open(daemon.get("/metrics")) for daemon in daemons)
    return left == PARTITIONS and _counted(daemons, topics) == events


def _counted(daemons: Sequence[Daemon], topics: Sequence[str]) -> int:
    """Records of these topics that the replicas have counted, all together."""
    shown = [read_records(daemon.get("/metrics")) for daemon in daemons]
    return sum(found.get(topic, 0) for found in shown for topic in topics)


def _cpu(daemons: Sequence[Daemon]) -> float:
    return sum(cpu_seconds(daemon.pid) for daemon in daemons)


if __name__ == "__main__":
    save("replicas", measure(*map(int, sys.argv[1:3])))

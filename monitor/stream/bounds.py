"""Bounds: over a limit the oldest are decided early, as if time had passed."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from monitor.config import LimitsConfig
from monitor.stream.interactions import NOTHING_DONE, Interactions
from monitor.stream.join import Stages
from monitor.stream.judgments import JudgmentTable
from monitor.stream.progress import TaskProgress

SLACK = 0.01
"""Of a limit: what is evicted beyond it."""


class Eviction(NamedTuple):
    """What a task decides early: interactions that wait, and impressions by the stages they had left."""

    progress: TaskProgress
    interactions: Interactions
    stages: Stages


class Bytes(NamedTuple):
    """About what each kind takes in memory, or may take."""

    impressions: float
    interactions: float
    judgments: float


def is_over(tasks: Mapping[int, TaskProgress], table: JudgmentTable, limits: LimitsConfig) -> bool:
    """Whether a bound is exceeded."""
    tasks_held = [progress.task for progress in tasks.values()]
    return (
        sum(task.pending for task in tasks_held) > limits.pending
        or sum(task.open for task in tasks_held) > limits.open
        or sum(_taken(tasks, table)) > limits.memory
    )


def memory_shares(tasks: Mapping[int, TaskProgress], table: JudgmentTable, limits: LimitsConfig) -> Bytes:
    """How much memory each kind may take: as much as it does, unless all together are over the bound."""
    return shares(_taken(tasks, table), limits.memory)


def shares(taken: Bytes, limit: float) -> Bytes:
    """Who takes most gives way first, down to the next: no kind gives way that takes less than a third.

    >>> shares(Bytes(10, 20, 60), 90)
    Bytes(impressions=inf, interactions=inf, judgments=inf)
    >>> shares(Bytes(10, 20, 200), 100)
    Bytes(impressions=inf, interactions=inf, judgments=70.0)
    >>> shares(Bytes(60, 20, 200), 100)
    Bytes(impressions=40.0, interactions=inf, judgments=40.0)
    """
    if sum(taken) <= limit:
        return Bytes(math.inf, math.inf, math.inf)
    left = level = float(limit)
    for count, least in zip((3, 2, 1), sorted(taken), strict=True):
        if least * count > left:
            level = left / count
            break
        left -= least
        level = left
    return Bytes._make(level if each > level else math.inf for each in taken)


def _taken(tasks: Mapping[int, TaskProgress], table: JudgmentTable) -> Bytes:
    return Bytes(
        impressions=_impressions(tasks),
        interactions=_interactions(tasks),
        judgments=table.size_bytes,
    )


def evictions(tasks: Mapping[int, TaskProgress], limits: LimitsConfig, allowed: Bytes) -> Iterator[Eviction]:
    """What has to go until the bounds hold; each is to be decided before the next is asked for."""
    pending = sum(p.task.pending for p in tasks.values())
    over = max(
        _over(pending, limits.pending), _over_bytes(pending, _interactions(tasks), allowed.interactions)
    )
    if over:
        yield from _pending(tasks, over)
    if over := _over(sum(p.task.open for p in tasks.values()), limits.open):
        yield from _oldest(tasks, over)
    # Those that are to go may be smaller than others: as many as it seems, then twice as many, until it fits.
    times = 1
    while over := _over_bytes(
        sum(p.task.open for p in tasks.values()), _impressions(tasks), allowed.impressions
    ):
        yield from _oldest(tasks, over * times)
        times *= 2


def _impressions(tasks: Mapping[int, TaskProgress]) -> int:
    return sum(p.task.impression_bytes for p in tasks.values())


def _interactions(tasks: Mapping[int, TaskProgress]) -> int:
    return sum(p.task.interaction_bytes for p in tasks.values())


def _oldest(tasks: Mapping[int, TaskProgress], count: int) -> Iterator[Eviction]:
    ages = sorted((ts, number) for number, p in tasks.items() for ts in p.task.oldest(count))
    for number, of_task in Counter(number for _, number in ages[:count]).items():
        yield Eviction(tasks[number], NOTHING_DONE, tasks[number].task.evict(of_task))


def _over_bytes(held: int, taken: int, allowed: float) -> int:
    """How many have to go, if all were alike; some more than are over.

    >>> _over_bytes(100, 5000, 5000), _over_bytes(100, 5000, 4000), _over_bytes(100, 5000, math.inf)
    (0, 21, 0)
    """
    return math.ceil(held * (taken - allowed * (1 - SLACK)) / taken) if taken > allowed else 0


def _over(held: int, limit: int) -> int:
    """How many have to go. Some more than are over, or it would begin again with every record.

    >>> _over(5, 5), _over(6, 5), _over(1_000_001, 1_000_000)
    (0, 1, 10001)
    """
    return held - limit + int(limit * SLACK) if held > limit else 0


def _pending(tasks: Mapping[int, TaskProgress], over: int) -> Iterator[Eviction]:
    """First those that wait for an impression; then the oldest impressions that hold interactions."""
    for progress in sorted(tasks.values(), key=lambda p: -p.task.pending):
        evicted = progress.task.evict_waiting(over)
        over -= evicted.size
        yield Eviction(progress, evicted, iter(()))
    for progress in sorted(tasks.values(), key=lambda p: -p.task.pending):
        if over > 0:
            before = progress.task.pending
            yield Eviction(progress, NOTHING_DONE, progress.task.evict_holding(over))
            over -= before - progress.task.pending

"""Bounds: over a limit the oldest are decided early, as if time had passed."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from monitor.config import LimitsConfig
from monitor.stream.interactions import NOTHING_DONE, Interactions
from monitor.stream.join import Stages
from monitor.stream.progress import TaskProgress

SLACK = 0.01
"""Of a limit: what is evicted beyond it."""


class Eviction(NamedTuple):
    """What a task decides early: interactions that wait, and impressions by the stages they had left."""

    progress: TaskProgress
    interactions: Interactions
    stages: Stages


def is_over(tasks: Mapping[int, TaskProgress], limits: LimitsConfig) -> bool:
    """Whether a bound is exceeded."""
    tasks_held = [progress.task for progress in tasks.values()]
    return (
        sum(task.pending for task in tasks_held) > limits.pending
        or sum(task.open for task in tasks_held) > limits.open
    )


def evictions(tasks: Mapping[int, TaskProgress], limits: LimitsConfig) -> Iterator[Eviction]:
    """What has to go until the bounds hold; each is to be decided before the next is asked for."""
    if over := _over(sum(p.task.pending for p in tasks.values()), limits.pending):
        yield from _pending(tasks, over)
    if over := _over(sum(p.task.open for p in tasks.values()), limits.open):
        ages = sorted((ts, number) for number, p in tasks.items() for ts in p.task.oldest(over))
        for number, count in Counter(number for _, number in ages[:over]).items():
            yield Eviction(tasks[number], NOTHING_DONE, tasks[number].task.evict(count))


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

"""Taking a task over: how far it was counted, by what its last owner committed."""

import logging
from collections.abc import Mapping

from monitor.durations import in_words
from monitor.stream import checkpoint
from monitor.stream.checkpoint import Checkpoint
from monitor.stream.plan import Plan
from monitor.stream.records import Start, TopicPartition

log = logging.getLogger(__name__)


def counted_before(
    number: int,
    starts: Mapping[TopicPartition, Start],
    published: Checkpoint | None,
    *,
    plan: Plan,
    lateness: float,
    now: float,
) -> Checkpoint | None:
    """How far a task was counted, by its last owner or as `published` by this process; None if not at all."""
    # Where nothing is committed though this process has counted some, the topic was deleted and created.
    created = [tp[0] for tp, start in starts.items() if start.fresh]
    committed = _committed(number, starts, plan=plan, lateness=lateness, now=now)
    return checkpoint.higher(committed, checkpoint.without(published, created))


def _committed(
    number: int, starts: Mapping[TopicPartition, Start], *, plan: Plan, lateness: float, now: float
) -> Checkpoint | None:
    try:
        stored = checkpoint.of_task({tp[0]: start.metadata for tp, start in starts.items()})
    except checkpoint.Unreadable as error:
        # What was counted is not known. All that is there now is taken for counted: never twice.
        log.warning(
            "partition %d: how far it was counted cannot be read: %s; it is counted from now on",
            *(number, error),
        )
        ends = {tp[0]: start.offset if start.end is None else start.end for tp, start in starts.items()}
        return Checkpoint(positions=ends, watermark=now - lateness)
    if stored is None or checkpoint.latest(stored) <= now:
        return stored
    log.warning(
        "partition %d: it was counted up to %s ahead of the clock, by version 0.1 or by a replica whose clock"
        " is ahead; it is counted from now on, and impressions of the last %s may count twice in metrics that"
        " are decided later",
        *(number, in_words(round(checkpoint.latest(stored) - now)), in_words(plan.last_delay)),
    )
    return checkpoint.not_after(stored, now - lateness)

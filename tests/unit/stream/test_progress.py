"""Progress: how far a task was read and counted, and from where its records are still needed."""

import math

from monitor.stream.books import Books
from monitor.stream.checkpoint import Checkpoint
from monitor.stream.plan import make_plan
from monitor.stream.progress import TaskProgress, delays_of
from monitor.stream.records import Start
from monitor.stream.tally import Tally
from tests.unit.stream.timeline import settings

SHOWN, DONE = ("shown", 3), ("done", 3)
NEW = Start(40, "", fresh=True, from_beginning=False)


def task(checkpoint=None, **starts):
    plan = make_plan(settings())
    progress = TaskProgress(3, plan, 0.0, checkpoint, Tally(plan, Books([], [], [])))
    for topic, start in starts.items():
        progress.add((topic, 3), start, 1000.0)
    return progress


def test_a_new_task_counts_everything():
    progress = task(shown=NEW)
    assert progress.counted.until == -math.inf
    assert progress.partitions[SHOWN].counted_from == 0


def test_a_resumed_task_counts_from_where_the_checkpoint_says():
    progress = task(Checkpoint(positions={"shown": 70, "done": 90}, watermark=500.0), shown=NEW, done=NEW)
    assert progress.counted.until == 500.0
    assert progress.partitions[SHOWN].counted_from == 70
    assert progress.partitions[DONE].counted_from == 90


def test_a_checkpoint_is_the_positions_and_the_time_that_was_decided():
    progress = task(shown=NEW, done=NEW)
    progress.partitions[SHOWN].position = 55
    progress.decided_until = 321.0
    assert progress.checkpoint() == Checkpoint(
        positions={"shown": 55, "done": 40},
        watermark=321.0,
        sequence=1,
        delays=delays_of(make_plan(settings())),
    )


def test_while_it_reads_again_a_checkpoint_never_falls_behind_what_was_counted():
    before = Checkpoint(positions={"shown": 70}, watermark=500.0)
    progress = task(before, shown=NEW)
    progress.partitions[SHOWN].position = 60
    progress.decided_until = 400.0
    reached = progress.checkpoint()
    assert (reached.positions, reached.watermark) == (before.positions, before.watermark)
    assert progress.to_replay == 10


def test_the_oldest_needed_offset_is_that_of_the_oldest_chunk_or_the_position():
    part = task(shown=NEW).partitions[SHOWN]
    assert part.oldest_needed() == 40
    part.position = 60
    part.chunks.extend([(45, 100.0), (50, 110.0)])
    assert part.oldest_needed() == 45


def test_judgments_among_the_events_keep_the_log_needed_from_the_first_of_them():
    part = task(shown=NEW).partitions[SHOWN]
    part.saw_judgment(42)
    part.saw_judgment(57)
    part.position = 60
    assert part.oldest_needed() == 42
    part.chunks.append((41, 100.0))
    assert part.oldest_needed() == 41


def test_windows_are_covered_from_the_beginning_of_the_log_or_from_where_a_checkpoint_resumes():
    beginning = Start(0, "", fresh=True, from_beginning=True)
    assert task(shown=beginning).partitions[SHOWN].covered_from is None
    assert (
        task(Checkpoint(positions={"shown": 70}, watermark=500.0), shown=NEW).partitions[SHOWN].covered_from
        is None
    )
    assert task(shown=NEW).partitions[SHOWN].covered_from == 1000.0

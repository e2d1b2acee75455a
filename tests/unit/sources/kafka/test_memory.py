"""Which partitions go on after a rebalance, and which begin at what is stored."""

import pytest

from monitor.sources.kafka.memory import Memory
from monitor.sources.kafka.offsets import Committed
from monitor.stream.records import Start, TopicPartition

SHOWN, CLICKED = ("impressions", 0), ("clicks", 0)
OTHER = ("impressions", 1)
TASK = [SHOWN, CLICKED]
STORED = Committed(3, "state")
ENDS = dict.fromkeys((*TASK, OTHER), 100)


def memory_of(*places: TopicPartition) -> Memory:
    memory = Memory()
    start = Start(3, "state", fresh=False, from_beginning=False)
    memory.deliver(dict.fromkeys(places, (start, STORED)))
    memory.reach(dict.fromkeys(places, 50))
    return memory


def stored(**changed: Committed) -> dict[TopicPartition, Committed]:
    return {(topic, 0): changed.get(topic, STORED) for topic, _ in TASK}


def test_a_task_of_which_nobody_stored_anything_goes_on() -> None:
    memory = memory_of(*TASK)
    assert memory.kept(TASK, stored(), ENDS) == set(TASK)
    assert memory.position(SHOWN) == 50


def test_a_task_goes_on_as_a_whole_or_not_at_all() -> None:
    changed = stored(clicks=Committed(4, "theirs"))
    assert memory_of(*TASK).kept(TASK, changed, ENDS) == set()


@pytest.mark.parametrize(
    "theirs", [Committed(4, "state"), Committed(3, ""), Committed(-1, "")], ids=["offset", "metadata", "none"]
)
def test_another_pair_that_is_stored_is_somebody_elses(theirs: Committed) -> None:
    assert memory_of(*TASK).kept(TASK, stored(impressions=theirs), ENDS) == set()


def test_a_task_goes_on_only_with_the_partitions_that_it_had() -> None:
    assert memory_of(SHOWN).kept(TASK, stored(), ENDS) == set()
    assert memory_of(*TASK).kept([SHOWN], stored(), ENDS) == set()
    assert Memory().kept(TASK, stored(), ENDS) == set()


def test_a_task_that_changed_leaves_the_others_alone() -> None:
    memory = memory_of(*TASK, OTHER)
    found = {**stored(clicks=Committed(9, "")), OTHER: STORED}
    assert memory.kept([*TASK, OTHER], found, ENDS) == {OTHER}


def test_a_log_that_ends_before_the_position_is_another_one() -> None:
    assert memory_of(*TASK).kept(TASK, stored(), {**ENDS, CLICKED: 49}) == set()
    assert memory_of(*TASK).kept(TASK, stored(), {**ENDS, CLICKED: 50}) == set(TASK)


def test_what_is_not_assigned_any_more_is_forgotten() -> None:
    memory = memory_of(*TASK)
    memory.deliver({})
    assert memory.kept(TASK, stored(), ENDS) == set()
    assert SHOWN not in memory


def test_a_commit_of_unknown_outcome_may_be_stored_or_not() -> None:
    memory = memory_of(*TASK)
    memory.attempt({SHOWN: (8, "new"), CLICKED: (8, "new")})
    tried = Committed(8, "new")
    assert memory.newest() == {SHOWN: tried, CLICKED: tried}
    for clicks in (STORED, tried):
        for impressions in (STORED, tried):
            found = stored(clicks=clicks, impressions=impressions)
            assert memory.kept(TASK, found, ENDS) == set(TASK)
    assert memory.kept(TASK, stored(clicks=Committed(8, "theirs")), ENDS) == set()


def test_a_commit_that_was_taken_is_all_that_can_be_stored() -> None:
    memory = memory_of(*TASK)
    for n in range(3):
        memory.attempt({SHOWN: (n, "")})
    memory.attempt({SHOWN: (8, "new"), CLICKED: (8, "new")})
    memory.took({SHOWN: (8, "new"), CLICKED: (8, "new")})
    assert memory.kept(TASK, stored(), ENDS) == set()
    assert memory.kept(TASK, dict.fromkeys(TASK, Committed(8, "new")), ENDS) == set(TASK)

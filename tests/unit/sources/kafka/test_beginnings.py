"""Where each partition of a new assignment is read from, and what is stored for it."""

from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from monitor.config import KafkaConfig, TopicsConfig
from monitor.sources.kafka import beginnings as module
from monitor.sources.kafka.beginnings import Beginning, Beginnings, begin, find, go_on
from monitor.sources.kafka.members import Member
from monitor.sources.kafka.memory import Memory
from monitor.sources.kafka.offsets import NEVER, Committed, Log
from monitor.sources.kafka.waiting import Waiting
from monitor.stream.records import Start, TopicPartition

CONFIG = KafkaConfig(topics=TopicsConfig(impressions=("shown",), interactions=("clicked",)), start="latest")
PLACES = [("shown", 0), ("shown", 1), ("clicked", 0), ("clicked", 1)]
FIRST, SECOND = [("shown", 0), ("clicked", 0)], [("shown", 1), ("clicked", 1)]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """What the brokers answer: two topics of two partitions with offsets 2 to 9, and nothing committed."""
    there = SimpleNamespace(
        counts={"shown": 2, "clicked": 2},
        stored=dict.fromkeys(PLACES, Committed(NEVER, "")),
        members=[],
        refreshed=0,
    )

    @asynccontextmanager
    async def admin_client(_: object) -> Any:
        yield None

    async def partition_counts(*_: object) -> dict[str, int]:
        return there.counts

    async def committed(_: object, __: str, places: list[TopicPartition]) -> Any:
        return {place: there.stored[place] for place in places}

    async def logs(_: object, places: list[TopicPartition]) -> dict[TopicPartition, Log]:
        return dict.fromkeys(places, Log(2, 10))

    async def members(*_: object) -> list[Member]:
        return list(there.members)

    def refresh_metadata(_: object) -> None:
        there.refreshed += 1

    for replaced in (admin_client, partition_counts, committed, logs, members):
        monkeypatch.setattr(module, replaced.__name__, replaced)
    monkeypatch.setattr(module.internals, "refresh_metadata", refresh_metadata)
    return there


async def found(given: list[TopicPartition], memory: Memory | None = None) -> Beginnings:
    return await find(None, {}, CONFIG, given, memory or Memory())


async def test_in_a_new_group_one_member_chooses_for_all(cluster: SimpleNamespace) -> None:
    theirs = await found(FIRST)
    assert theirs.to_store() == dict.fromkeys(PLACES, (10, ""))
    assert set(theirs.given) == set(FIRST)
    assert theirs.total == 4
    with pytest.raises(Waiting, match="waiting for the starting positions of the new group"):
        await found(SECOND)
    cluster.stored = dict.fromkeys(PLACES, Committed(10, ""))
    chosen = await found(SECOND)
    assert {begin.start.offset for begin in chosen.given.values()} == {10}
    assert chosen.to_store() == dict.fromkeys(SECOND, (10, ""))


async def test_a_partition_added_later_begins_with_its_first_record_whatever_the_start(
    cluster: SimpleNamespace,
) -> None:
    cluster.stored |= dict.fromkeys(FIRST, Committed(7, "state"))
    added = await found(SECOND)
    start = Start(2, "", fresh=True, from_beginning=True, end=10)
    assert added.given == dict.fromkeys(SECOND, Beginning(start, Committed(2, ""), wanted=2))
    assert added.others == {}


async def test_a_member_that_was_given_nothing_waits_until_others_own_everything(
    cluster: SimpleNamespace,
) -> None:
    cluster.members = [Member("one", "", frozenset(FIRST)), Member("two", "", frozenset())]
    with pytest.raises(Waiting, match=r"to share out shown\[1\], clicked\[1\]"):
        await found([])
    assert cluster.refreshed == 1
    cluster.members[1] = Member("two", "", frozenset(SECOND))
    assert await found([]) == Beginnings(4, {}, {})


async def test_topics_that_were_deleted_and_created_begin_with_their_first_record(
    cluster: SimpleNamespace,
) -> None:
    memory = Memory()
    memory.deliver(
        {place: (Start(5, "", fresh=True, from_beginning=False), Committed(5, "")) for place in FIRST}
    )
    created = await found(FIRST, memory)
    assert {begin.start for begin in created.given.values()} == {
        Start(2, "", fresh=True, from_beginning=True, end=10)
    }
    assert created.others == {}


async def test_counts_that_differ_are_waited_for(cluster: SimpleNamespace) -> None:
    cluster.counts["clicked"] = 3
    with pytest.raises(Waiting, match="shown has 2 partitions and clicked has 3: make them equal"):
        await found(FIRST)


async def test_a_task_is_not_begun_without_all_its_partitions(cluster: SimpleNamespace) -> None:
    with pytest.raises(Waiting, match=r"to share out clicked\[1\]$"):
        await found([*FIRST, ("shown", 1)])
    assert cluster.refreshed == 1


async def test_of_two_tasks_the_one_that_somebody_else_had_begins_at_what_they_stored(
    cluster: SimpleNamespace,
) -> None:
    mine = Committed(3, "mine")
    memory = Memory()
    start = Start(3, "mine", fresh=False, from_beginning=False)
    memory.deliver(dict.fromkeys(PLACES, (start, mine)))
    memory.reach(dict.fromkeys(PLACES, 8))
    cluster.stored = {**dict.fromkeys(PLACES, mine), ("clicked", 1): Committed(5, "theirs")}
    begun = {place: beginning.start for place, beginning in (await found(PLACES, memory)).given.items()}
    assert {(place, start.offset) for place, start in begun.items() if start.kept} == {
        (place, 8) for place in FIRST
    }
    assert (begun["shown", 1].offset, begun["clicked", 1].offset) == (3, 5)


def test_what_goes_on_goes_over_records_that_are_gone() -> None:
    stored = Committed(3, "state")
    start = Start(12, "state", fresh=False, from_beginning=True, kept=True, end=20)
    assert go_on(8, stored, Log(12, 20)) == Beginning(start, stored, wanted=8)


def test_a_log_of_the_same_name_that_ends_before_what_is_stored_is_stored_anew() -> None:
    begun = begin(None, Committed(70, "state"), Log(0, 10))
    assert (begun.start.offset, begun.start.metadata) == (0, "")
    assert (begun.stored, begun.wanted) == (Committed(0, ""), 70)


def test_what_is_stored_stays_as_it_is_where_records_are_gone() -> None:
    begun = begin(None, Committed(3, "state"), Log(6, 10))
    assert (begun.start.offset, begun.stored, begun.wanted) == (6, Committed(3, "state"), 3)

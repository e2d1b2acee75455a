"""What a member of the group stores, and when it does not."""

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from monitor.config import KafkaConfig, TopicsConfig
from monitor.sources.kafka import group as module
from monitor.sources.kafka.beginnings import Beginning, Beginnings
from monitor.sources.kafka.group import GroupReader
from monitor.sources.kafka.memory import Memory
from monitor.sources.kafka.offsets import Committed
from monitor.sources.kafka.waiting import Notices
from monitor.stream.records import Start

PLACE = ("events", 0)
CONFIG = KafkaConfig(topics=TopicsConfig(events=("events",), judgments=("judgments",)))
STORED = Committed(3, "state")
BEGUN = Beginning(Start(3, "state", fresh=False, from_beginning=False, end=9), STORED, wanted=3)


class Broker:
    """Takes commits, with whatever generation the client is in."""

    def __init__(self) -> None:
        self.member_id = "member"
        self.generation = 5
        self.commits: list[Any] = []
        self.answers = asyncio.Event()
        self.answers.set()

    async def commit_once(self, _: object, offsets: Any) -> None:
        self.commits.append(dict(offsets))
        await self.answers.wait()


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Broker]:
    there = Broker()
    monkeypatch.setattr(module.internals, "membership", lambda _: (there.member_id, there.generation))
    monkeypatch.setattr(module.internals, "commit_once", there.commit_once)
    monkeypatch.setattr(module, "COMMIT_SECONDS", 0.05)
    monkeypatch.setattr(module, "CONFIRM_SECONDS", 0.05)
    client = SimpleNamespace(
        pause=lambda _: None,
        seek=lambda *_: None,
        resume=lambda _: None,
        partitions_for_topic=lambda _: {0},
    )
    monkeypatch.setattr(module, "AIOKafkaConsumer", lambda **_: client)
    return there


def settled(*, delivered: bool = True) -> tuple[GroupReader, Memory]:
    memory = Memory()
    group = GroupReader(CONFIG, {}, Notices(), memory, idle_seconds=30.0)
    group.on_partitions_assigned([module.Place(*PLACE)])
    group._begin(Beginnings(1, {PLACE: BEGUN}, {}))
    if delivered:
        assert group.take_news() == {PLACE: BEGUN.start}
    return group, memory


async def test_confirming_stores_what_was_last_stored_again(broker: Broker) -> None:
    group, _ = settled()
    assert await group.confirm()
    assert await group.commit({PLACE: (4, "new")})
    assert await group.confirm()
    assert broker.commits == [{PLACE: (3, "state")}, {PLACE: (4, "new")}, {PLACE: (4, "new")}]


async def test_nothing_is_stored_before_the_assignment_is_delivered(broker: Broker) -> None:
    group, _ = settled(delivered=False)
    assert not await group.confirm()
    assert not await group.commit({PLACE: (4, "")})
    assert broker.commits == []


@pytest.mark.parametrize("generation", [6, -1])
async def test_nothing_is_stored_in_another_generation(broker: Broker, generation: int) -> None:
    group, _ = settled()
    broker.generation = generation
    assert not await group.confirm()
    assert not await group.commit({PLACE: (4, "")})
    assert broker.commits == []


async def test_nothing_is_stored_as_another_member_of_the_same_generation(broker: Broker) -> None:
    group, _ = settled()
    broker.member_id = "replaced"
    assert not await group.confirm()
    assert not await group.commit({PLACE: (4, "")})
    assert broker.commits == []


async def test_a_member_that_lost_its_generation_on_the_way_stores_nothing(broker: Broker) -> None:
    broker.generation = -1
    group, _ = settled()
    assert not await group.confirm()
    assert broker.commits == []


async def test_a_commit_that_waits_for_another_is_dropped_when_the_partitions_change(broker: Broker) -> None:
    group, _ = settled()
    broker.answers.clear()
    first = asyncio.create_task(group.commit({PLACE: (4, "")}))
    second = asyncio.create_task(group.commit({PLACE: (5, "")}))
    await asyncio.sleep(0)
    group.on_partitions_revoked([])
    broker.answers.set()
    assert (await first, await second) == (True, False)
    assert broker.commits == [{PLACE: (4, "")}]


async def test_a_commit_without_an_answer_may_have_been_taken(broker: Broker) -> None:
    group, memory = settled()
    broker.answers.clear()
    assert not await group.commit({PLACE: (4, "new")})
    for stored, kept in ((STORED, True), (Committed(4, "new"), True), (Committed(4, "theirs"), False)):
        assert bool(memory.kept([PLACE], {PLACE: stored}, {PLACE: 9})) is kept
    broker.answers.set()
    # What was tried has been shown: it is the one to store.
    assert await group.confirm()
    assert broker.commits[-1] == {PLACE: (4, "new")}
    assert not memory.kept([PLACE], {PLACE: STORED}, {PLACE: 9})


async def test_what_was_not_delivered_is_not_taken_for_handed_out(broker: Broker) -> None:
    group, memory = settled()
    group.ledger.advance({PLACE: 8}, {PLACE: [None]}, 0.0, 0)
    group.on_partitions_revoked([])
    assert memory.position(PLACE) == 8
    group.on_partitions_assigned([module.Place(*PLACE)])
    group._begin(Beginnings(1, {PLACE: BEGUN}, {}))
    group.on_partitions_revoked([])
    assert group.take_news() is None
    assert memory.position(PLACE) == 8

"""Partitions that are taken away and come back: who goes on, and who begins at what is stored."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
from aiokafka import errors
from aiokafka.protocol.group import LeaveGroupRequest

from monitor.config import KafkaConfig
from monitor.sources.kafka import internals
from monitor.sources.kafka.group import GroupReader
from monitor.stream.records import TopicPartition
from tests.integration.following import Follower, config, following, numbered
from tests.support.kafka import Broker

pytestmark = pytest.mark.kafka


@pytest.fixture
async def wanted(kafka: Broker) -> KafkaConfig:
    """Two topics of two partitions with ten records each."""
    impressions, clicks = await kafka.topic(2), await kafka.topic(2)
    for topic in (impressions, clicks):
        await kafka.produce(topic, [record for n in range(2) for record in numbered(10, n)])
    return config(kafka, impressions=[impressions], interactions=[clicks])


def group_of(follower: Follower) -> GroupReader:
    session = follower.source._session
    assert session is not None
    return session.group


def tasks(follower: Follower, *, kept: bool) -> set[int]:
    """Numbers of the tasks that the last assignment let go on, or begin."""
    return {place[1] for place, start in (follower.assigned or {}).items() if start.kept is kept}


async def together(*followers: Follower, until: Callable[[], Any], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < deadline, [follower.source.status() for follower in followers]
        await asyncio.gather(*(follower.poll() for follower in followers))


def checkpoints(follower: Follower, offset: int, metadata: str) -> dict[TopicPartition, tuple[int, str]]:
    return dict.fromkeys(follower.assigned or {}, (offset, metadata))


async def rejoin(follower: Follower) -> None:
    """Let the group be shared out anew, as it is when another member comes or goes."""
    before = len(follower.assignments)
    group_of(follower).consumer._coordinator.request_rejoin()
    await follower.until(lambda: len(follower.assignments) > before)


async def test_what_a_member_keeps_goes_on_when_another_joins_and_leaves(wanted: KafkaConfig) -> None:
    async with following(wanted) as one:
        await one.until(lambda: one.count() == 40)
        assert await one.source.commit(checkpoints(one, 4, "state"))
        async with following(wanted) as two:
            await together(one, two, until=lambda: two.assigned and len(one.assigned or {}) == 2)
            (mine,), (theirs,) = tasks(one, kept=True), tasks(two, kept=False)
            assert mine != theirs
            assert {start.offset for start in (one.assigned or {}).values()} == {10}
            assert {start.offset for start in (two.assigned or {}).values()} == {4}
            await together(one, two, until=lambda: two.count() == 12 and one.ready())
        await one.until(lambda: len(one.assigned or {}) == 4)
        assert (tasks(one, kept=True), tasks(one, kept=False)) == ({mine}, {theirs})
        assert one.count() == 28, "what was lost begins at what is stored"
        await one.until(lambda: one.count() == 40)
    # In all of this no empty assignment: that would have dropped what is kept.
    assert {} not in one.assignments


async def test_a_rebalance_that_changes_nothing_reads_nothing_again(
    kafka: Broker, wanted: KafkaConfig
) -> None:
    async with following(wanted) as one:
        await one.until(lambda: one.count() == 40)
        read = len(one.order)
        # Nothing was committed but the starting positions.
        await rejoin(one)
        assert tasks(one, kept=True) == {0, 1}
        await kafka.produce(wanted.topics.impressions[0], numbered(5, 0, first=10))
        await one.until(lambda: one.count() == 45)
        assert len(one.order) == read + 5
        assert await one.source.commit(checkpoints(one, 10, "state"))


async def test_nothing_is_handed_out_committed_or_confirmed_while_it_is_shared_out(
    wanted: KafkaConfig,
) -> None:
    async with following(wanted, idle_seconds=0.5) as one:
        await one.until(lambda: len(one.last.idle) == 4)
        assert await one.source.confirm()
        offsets = checkpoints(one, 5, "")
        group = group_of(one)
        group.consumer._coordinator.request_rejoin()
        before = len(one.assignments)
        while not group._news:
            await asyncio.wait({group.work()}, timeout=0.05)
            if group._work is not None and group._work.done():
                group._work = None
            refused = (await one.source.confirm(), await one.source.commit(offsets))
            if not group._settled:
                assert refused == (False, False)
        # Settled, but nobody was told yet.
        assert not await one.source.confirm()
        assert not await one.source.commit(offsets)
        assert not (await one.poll()).idle
        assert len(one.assignments) == before + 1
        assert await one.source.confirm()


async def test_what_another_owner_committed_is_begun_there(kafka: Broker, wanted: KafkaConfig) -> None:
    async with following(wanted) as one:
        await one.until(lambda: one.count() == 40)
        mine = checkpoints(one, 4, "mine")
        assert await one.source.commit(mine)
        place = (wanted.topics.interactions[0], 1)
        # As a member of a generation that this one was not told of.
        await internals.commit_once(group_of(one).consumer, {place: (6, "theirs")})
        await rejoin(one)
        assert (tasks(one, kept=True), tasks(one, kept=False)) == ({0}, {1})
        assert one.assigned
        assert (one.assigned[place].offset, one.assigned[place].metadata) == (6, "theirs")
        beside = one.assigned[wanted.topics.impressions[0], 1]
        assert (beside.offset, beside.metadata, beside.kept) == (4, "mine", False)


@pytest.mark.parametrize("taken", [True, False], ids=["taken", "not taken"])
async def test_after_a_commit_of_unknown_outcome_the_task_goes_on(
    kafka: Broker, wanted: KafkaConfig, monkeypatch: pytest.MonkeyPatch, taken: bool
) -> None:
    async with following(wanted) as one:
        await one.until(lambda: one.count() == 40)
        assert await one.source.commit(checkpoints(one, 3, "first"))
        really = internals.commit_once

        async def no_answer(*asked: Any) -> None:
            if taken:
                await really(*asked)
            raise errors.RequestTimedOutError

        monkeypatch.setattr(internals, "commit_once", no_answer)
        assert not await one.source.commit(checkpoints(one, 7, "second"))
        monkeypatch.undo()
        await rejoin(one)
        assert tasks(one, kept=True) == {0, 1}
        assert {start.metadata for start in (one.assigned or {}).values()} == {"second" if taken else "first"}
        assert one.count() == 40


async def test_confirming_stores_again_what_is_stored(kafka: Broker, wanted: KafkaConfig) -> None:
    topic = wanted.topics.impressions[0]
    async with following(wanted) as one:
        assert not await one.source.confirm()
        await one.until(lambda: one.count() == 40)
        assert await one.source.confirm()
        assert await kafka.committed(wanted.group_id, topic) == {0: (0, ""), 1: (0, "")}
        assert await one.source.commit(checkpoints(one, 6, "state"))
        assert await one.source.confirm()
        assert await kafka.committed(wanted.group_id, topic) == {0: (6, "state"), 1: (6, "state")}
    assert not await one.source.confirm()


async def test_a_member_that_was_shut_out_without_being_told_neither_commits_nor_confirms(
    kafka: Broker, wanted: KafkaConfig
) -> None:
    async with following(wanted) as zombie:
        await zombie.until(lambda: zombie.count() == 40)
        assert await zombie.source.commit(checkpoints(zombie, 4, "zombie"))
        asleep = group_of(zombie).consumer._coordinator
        await asleep._stop_heartbeat_task()
        members = await shut_out(kafka, wanted.group_id)
        assert members == 1
        async with following(wanted) as two:
            await two.until(lambda: two.count() == 24)
            assert await two.source.commit(checkpoints(two, 8, "new owner"))
            assert not await zombie.source.confirm()
            assert not await zombie.source.commit(checkpoints(zombie, 9, "zombie"))
            topic = wanted.topics.impressions[0]
            assert await kafka.committed(wanted.group_id, topic) == {0: (8, "new owner"), 1: (8, "new owner")}
            before = len(zombie.assignments)
            await together(zombie, two, until=lambda: len(zombie.assignments) > before)
            assert tasks(zombie, kept=True) == set()


async def shut_out(kafka: Broker, group_id: str) -> int:
    """Remove the members of a group, as a session timeout does."""
    async with kafka.admin() as admin:
        (description,) = await admin.describe_consumer_groups([group_id])
        ((_, _, _, _, _, members, *_),) = description.groups
    for member in members:
        await leave(kafka, group_id, member[0])
    return len(members)


async def leave(kafka: Broker, group_id: str, member_id: str) -> None:
    async with kafka.admin() as admin:
        coordinator = await admin.find_coordinator(group_id)
        await admin._send_request(LeaveGroupRequest(group_id, member_id), coordinator)


async def test_a_new_client_goes_on_where_the_old_one_was(kafka: Broker, wanted: KafkaConfig) -> None:
    async with following(wanted, stuck_seconds=2.0) as one:
        await one.until(lambda: one.count() == 40)
        assert await one.source.commit(checkpoints(one, 3, "state"))
        first = group_of(one)
        first.consumer._fetcher._fetch_task.cancel()
        await one.until(lambda: len(one.assignments) == 2)
        assert group_of(one) is not first
        assert tasks(one, kept=True) == {0, 1}
        await kafka.produce(wanted.topics.interactions[0], numbered(2, 1, first=10))
        await one.until(lambda: one.count() == 42)


async def test_records_that_were_fetched_but_not_handed_out_come_after_the_rebalance(
    kafka: Broker, wanted: KafkaConfig
) -> None:
    async with following(wanted) as one:
        await one.until(lambda: one.count() == 40)
        group = group_of(one)
        await kafka.produce(wanted.topics.impressions[0], numbered(5, 0, first=10))
        deadline = time.monotonic() + 10
        while True:
            assert time.monotonic() < deadline
            fetched = await group.work()
            if fetched and fetched.batches:
                break
            group._work = None
        await rejoin(one)
        assert tasks(one, kept=True) == {0, 1}
        await one.until(lambda: one.count() == 45)

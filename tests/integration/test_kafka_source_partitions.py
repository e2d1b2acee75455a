"""Partitions that are added later, counts that differ for a while, and members that start together."""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

import pytest
from aiokafka.admin import NewPartitions

from monitor.sources.kafka import internals
from monitor.stream.records import Start
from tests.integration.following import Follower, config, following, numbered
from tests.support.kafka import Broker

pytestmark = pytest.mark.kafka


async def add_partition(kafka: Broker, topic: str, count: int) -> None:
    async with kafka.admin() as admin:
        await admin.create_partitions({topic: NewPartitions(count)})


def look_for_partitions(follower: Follower) -> None:
    """What happens anyway each half minute."""
    session = follower.source._session
    assert session is not None
    internals.refresh_metadata(session.group.consumer)


async def together(*followers: Follower, until: Callable[[], Any], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < deadline, [follower.source.status() for follower in followers]
        await asyncio.gather(*(follower.poll() for follower in followers))


@pytest.mark.parametrize("start", ["latest", "earliest"])
async def test_a_partition_that_is_added_later_is_read_from_its_beginning(kafka: Broker, start: str) -> None:
    topic, judgments = await kafka.topic(1), await kafka.topic(1)
    wanted = config(kafka, start=start, events=[topic], judgments=[judgments])
    async with following(wanted) as follower:
        await follower.until(follower.ready)
        await kafka.produce(topic, numbered(4))
        await follower.until(lambda: follower.count() == 4)
        await add_partition(kafka, topic, 2)
        # They are there before the group knows of the partition.
        await kafka.produce(topic, numbered(6, partition=1))
        look_for_partitions(follower)
        await follower.until(lambda: follower.count() == 10, 30)
        assert follower.assigned
        assert follower.assigned[topic, 0].kept
        assert follower.assigned[topic, 1] == Start(0, "", fresh=True, from_beginning=True, end=6)
        assert (await kafka.committed(wanted.group_id, topic))[1] == (0, "")
        assert len(follower.order) == 10


async def test_counts_that_differ_while_it_runs_are_waited_for(
    kafka: Broker, caplog: pytest.LogCaptureFixture
) -> None:
    impressions, clicks = await kafka.topic(2), await kafka.topic(2)
    async with following(config(kafka, impressions=[impressions], interactions=[clicks])) as follower:
        await follower.until(follower.ready)
        for topic in (impressions, clicks):
            await kafka.produce(topic, [*numbered(5, 0), *numbered(5, 1)])
        await follower.until(lambda: follower.count() == 20)
        await add_partition(kafka, impressions, 3)
        look_for_partitions(follower)
        reason = f"{impressions} has 3 partitions and {clicks} has 2: make them equal (docs/producing.md)"
        await follower.until(lambda: follower.source.status().reason == reason, 30)
        assert not follower.ready()
        assert not await follower.source.confirm()
        assert [record.message for record in caplog.records if record.levelno >= logging.WARNING] == [reason]
        await add_partition(kafka, clicks, 3)
        await kafka.produce(clicks, [*numbered(5, 0, first=5), *numbered(5, 2)])
        await follower.until(lambda: follower.count() == 30, 45)
        await follower.until(follower.ready)
        assert {place[1] for place, start in (follower.assigned or {}).items() if start.kept} == {0, 1}
        assert len(follower.assigned or {}) == 6
        assert len(follower.order) == 30


async def test_the_first_member_of_a_new_group_commits_where_all_partitions_start(kafka: Broker) -> None:
    impressions, clicks = await kafka.topic(3), await kafka.topic(3)
    for topic in (impressions, clicks):
        await kafka.produce(topic, [record for n in range(3) for record in numbered(4, n)])
    wanted = config(kafka, start="latest", impressions=[impressions], interactions=[clicks])
    async with following(wanted) as one, following(wanted) as two, following(wanted) as three:
        members = (one, two, three)
        await together(*members, until=lambda: all(len(member.assigned or {}) == 2 for member in members))
        for topic in (impressions, clicks):
            assert await kafka.committed(wanted.group_id, topic) == dict.fromkeys(range(3), (4, ""))
        # What comes between the choice and the first look of its reader is read.
        await kafka.produce(clicks, [record for n in range(3) for record in numbered(1, n, first=4)])
        await together(*members, until=lambda: sum(member.count() for member in members) == 3)


async def test_a_member_that_is_not_the_one_to_choose_waits_for_the_choice(
    kafka: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic, judgments = await kafka.topic(2), await kafka.topic(1)
    await kafka.produce(topic, [*numbered(3, 0), *numbered(3, 1)])
    wanted = config(kafka, start="latest", events=[topic], judgments=[judgments])
    chosen = asyncio.Event()
    really = internals.commit_once

    async def slowly(*asked: Any) -> None:
        await chosen.wait()
        await really(*asked)

    monkeypatch.setattr(internals, "commit_once", slowly)
    async with following(wanted) as one, following(wanted) as two:
        waiting = f"waiting for the starting positions of the new group {wanted.group_id}"
        reasons = lambda: [member.source.status().reason for member in (one, two)]  # noqa: E731
        await together(one, two, until=lambda: waiting in reasons())
        assert one.assigned is None
        assert two.assigned is None
        # The end has moved on for whoever would look at it now by itself.
        await kafka.produce(topic, [*numbered(2, 0, first=3), *numbered(2, 1, first=3)])
        chosen.set()
        await together(one, two, until=lambda: one.count() + two.count() == 4)
        assert {start.offset for member in (one, two) for start in (member.assigned or {}).values()} == {3}

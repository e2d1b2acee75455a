"""Where a group begins."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.structs import OffsetAndMetadata
from aiokafka.structs import TopicPartition as Place

from monitor.sources.kafka import internals
from monitor.sources.kafka.offsets import Committed, Log, at_start, committed
from monitor.sources.kafka.waiting import Waiting
from monitor.stream.records import Start

A, B = Place("topic", 0), Place("topic", 1)


def admin(stored: dict[Place, OffsetAndMetadata]) -> Any:
    async def list_consumer_group_offsets(
        group_id: str, partitions: object
    ) -> dict[Place, OffsetAndMetadata]:
        return stored

    return SimpleNamespace(list_consumer_group_offsets=list_consumer_group_offsets)


async def test_minus_one_means_never_committed_and_absent_means_ask_again() -> None:
    stored = {A: OffsetAndMetadata(7, "state"), B: OffsetAndMetadata(-1, None)}
    assert await committed(admin(stored), "group", [A, B]) == {A: Committed(7, "state"), B: Committed(-1, "")}
    with pytest.raises(Waiting, match="waiting for the committed offsets of group mine"):
        await committed(admin({}), "mine", [A])


async def test_a_group_begins_where_start_says(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    async def list_offsets(_: object, times: dict[Place, int]) -> None:
        asked.append(times)

    monkeypatch.setattr(internals, "list_offsets", list_offsets)
    consumer: Any = None
    held = {A: Log(2, 9), B: Log(0, 4)}
    assert await at_start(consumer, "earliest", held) == {
        A: fresh(2, 9, first=True),
        B: fresh(0, 4, first=True),
    }
    assert await at_start(consumer, "latest", held) == {A: fresh(9, 9), B: fresh(4, 4)}
    assert asked == []


async def test_a_start_by_time_tells_since_when_the_log_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    async def list_offsets(_: object, times: dict[Place, int]) -> dict[Place, int]:
        asked.append(times)
        return {A: 5}

    monkeypatch.setattr(internals, "list_offsets", list_offsets)
    consumer: Any = None
    start = datetime(2024, 1, 1, tzinfo=UTC)
    seconds = 1_704_067_200
    found = await at_start(consumer, start, {A: Log(2, 9), B: Log(0, 4)})
    assert found == {A: fresh(5, 9)._replace(since=seconds), B: fresh(4, 4)._replace(since=seconds)}
    assert asked == [{A: seconds * 1000, B: seconds * 1000}]
    assert await at_start(consumer, start, {}) == {}


def fresh(offset: int, end: int, *, first: bool = False) -> Start:
    return Start(offset, "", fresh=True, from_beginning=first, end=end)

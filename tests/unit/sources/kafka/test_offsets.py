"""Where a group begins."""

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.structs import OffsetAndMetadata
from aiokafka.structs import TopicPartition as Place

from monitor.sources.kafka.offsets import Committed, Log, at_start, committed
from monitor.sources.kafka.waiting import Waiting

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


async def test_a_group_begins_where_start_says() -> None:
    asked = []

    async def offsets_for_times(times: dict[Place, int]) -> dict[Place, Any]:
        asked.append(times)
        return {A: SimpleNamespace(offset=5), B: None}

    consumer: Any = SimpleNamespace(offsets_for_times=offsets_for_times)
    held = {A: Log(2, 9), B: Log(0, 4)}
    assert await at_start(consumer, "earliest", held) == {A: 2, B: 0}
    assert await at_start(consumer, "latest", held) == {A: 9, B: 4}
    assert await at_start(consumer, datetime(2024, 1, 1, tzinfo=UTC), held) == {A: 5, B: 4}
    assert asked == [{A: 1_704_067_200_000, B: 1_704_067_200_000}]
    assert await at_start(consumer, datetime(2024, 1, 1, tzinfo=UTC), {}) == {}

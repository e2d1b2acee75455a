"""A backlog is read in step: no partition far ahead of another that has records left."""

import math
import time

import pytest

from monitor.sources.kafka import reader
from monitor.sources.kafka.ledger import STEP_MS
from monitor.stream.records import TopicPartition
from tests.integration.following import config, following
from tests.support.kafka import Broker, Produced

pytestmark = pytest.mark.kafka

COUNT, EVERY_MS = 3_000, 100
"""Records of a topic, and the time between two of them: five minutes."""
AT_ONCE = 100


async def test_small_records_are_not_read_far_ahead_of_large_ones(
    kafka: Broker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader, "MAX_RECORDS", AT_ONCE)
    begin = int(time.time() * 1000) - COUNT * EVERY_MS
    large, small = await kafka.topic(1), await kafka.topic(1)
    for topic, size in ((large, 2_000), (small, 20)):
        await kafka.produce(
            topic, [Produced(None, b"x" * size, 0, begin + n * EVERY_MS) for n in range(COUNT)]
        )
    reached: dict[TopicPartition, float] = {(large, 0): -math.inf, (small, 0): -math.inf}
    ahead = 0.0
    async with following(config(kafka, impressions=[large], interactions=[small])) as follower:
        while follower.count() < 2 * COUNT:
            await follower.until(lambda: follower.last.chunks or follower.count() == 2 * COUNT)
            for topic, partition, records, *_ in follower.last.chunks:
                reached[topic, partition] = records[-1].timestamp or 0
            if min(reached.values()) > -math.inf:
                ahead = max(ahead, abs(reached[large, 0] - reached[small, 0]))
            await follower.poll()
    assert 0 < ahead <= STEP_MS + 2 * AT_ONCE * EVERY_MS

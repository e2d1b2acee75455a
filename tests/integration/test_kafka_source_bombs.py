"""The Kafka source at batches that expand beyond the bound: they are left out, their neighbours all come."""

import asyncio

import pytest

from tests.integration.following import config, following, numbered
from tests.support.kafka import Broker
from tests.support.kafka.bombs import MIB, produce_bomb

pytestmark = pytest.mark.kafka


@pytest.mark.parametrize(("codec", "size"), [("gzip", 40), ("snappy", 20), ("lz4", 40), ("zstd", 40)])
async def test_a_batch_that_expands_too_far_is_left_out_and_its_neighbours_all_come(
    kafka: Broker, caplog: pytest.LogCaptureFixture, codec: str, size: int
) -> None:
    events, judgments = await kafka.topic(2), await kafka.topic(cleanup_policy="delete")
    for topic in (events, judgments):
        await kafka.produce(topic, numbered(10) + (numbered(20, 1) if topic == events else []))
        await asyncio.to_thread(produce_bomb, kafka, topic, 0, codec, size * MIB)
        await kafka.produce(topic, numbered(10, first=10))
        # What is within the bound is read, though it is large.
        await asyncio.to_thread(produce_bomb, kafka, topic, 0, codec, 12 * MIB)
        await asyncio.to_thread(produce_bomb, kafka, topic, 0, codec, 12 * MIB)
    expected = {n if n < 10 else n + 1: b"%d" % n for n in range(20)} | dict.fromkeys(
        (21, 22), bytes(12 * MIB)
    )
    async with following(config(kafka, events=[events], judgments=[judgments])) as follower:
        await follower.until(lambda: follower.ready() and not any(follower.source.status().lag.values()), 30)
        assert follower.values[judgments, 0] == expected
        await follower.until(lambda: follower.count() == 22 + 20 + 22, 30)
        assert follower.values[events, 0] == expected
        assert len(follower.values[events, 1]) == 20
        assert follower.source.status().skipped == {(events, 0): 1, (events, 1): 0, (judgments, 0): 1}
    lines = [line for line in caplog.messages if "left out" in line]
    assert sorted(lines) == sorted(
        f"{topic}[0]: the batch at offsets 10 to 10 cannot be decoded: it expands to more than 16,777,216"
        " bytes (kafka.max_batch_bytes); 1 records are left out"
        for topic in (events, judgments)
    )


async def test_with_a_higher_bound_it_is_read(kafka: Broker) -> None:
    topic = await kafka.topic()
    await asyncio.to_thread(produce_bomb, kafka, topic, 0, "zstd", 40 * MIB)
    chosen = config(kafka, events=[topic]).model_copy(update={"max_batch_bytes": 64 * MIB})
    async with following(chosen) as follower:
        await follower.until(lambda: follower.count() == 1)
        assert follower.values[topic, 0] == {0: bytes(40 * MIB)}

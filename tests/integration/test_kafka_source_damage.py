"""The Kafka source at a log that is damaged: a bad batch never stops the records around it."""

import asyncio
import logging

import pytest

from tests.integration.following import config, following, numbered
from tests.support.kafka import OwnBroker
from tests.support.kafka.damage import Batch, damage, flip_a_byte, name_an_unknown_codec
from tests.support.kafka.process import Process

pytestmark = pytest.mark.kafka


async def test_batches_that_cannot_be_decoded_are_left_out_and_their_neighbours_all_come(
    lone_kafka: OwnBroker, caplog: pytest.LogCaptureFixture
) -> None:
    broker = lone_kafka
    if not isinstance(broker._node, Process):
        pytest.skip("the files of a broker in a container are out of reach: stop Docker, have java and mvn")
    events, judgments = await broker.topic(3), await broker.topic(cleanup_policy="compact")
    for first in range(0, 50, 10):
        await broker.produce(events, [r for p in range(3) for r in numbered(10, p, first=first)])
        keyed = [record._replace(key=record.value) for record in numbered(10, first=first)]
        await broker.produce(judgments, keyed)
    # Not killed: a broker that crashed would look for damage, and cut the log off there.
    await asyncio.to_thread(broker.stop)
    data = broker._node.folder / "data"
    left_out: dict[tuple[str, int], list[Batch]] = {
        (events, 0): [
            damage(data, events, 0, 15, flip_a_byte),
            damage(data, events, 0, 25, name_an_unknown_codec),
            damage(data, events, 0, 49, flip_a_byte),
        ],
        (events, 1): [damage(data, events, 1, 0, name_an_unknown_codec)],
        (judgments, 0): [damage(data, judgments, 0, 30, flip_a_byte)],
    }
    await asyncio.to_thread(broker.start)

    gone = {
        place: {offset for batch in batches for offset in range(batch.first, batch.last + 1)}
        for place, batches in left_out.items()
    }
    reasons = set()
    async with following(config(broker, events=[events], judgments=[judgments])) as follower:

        def whole() -> bool:
            reasons.add(follower.source.status().reason)
            return follower.ready() and not any(follower.source.status().lag.values())

        await follower.until(whole, 60)
        for place in [(events, 0), (events, 1), (events, 2), (judgments, 0)]:
            expected = {n: b"%d" % n for n in range(50) if n not in gone.get(place, ())}
            assert follower.values[place] == expected
        assert follower.source.status().skipped == {
            (events, 2): 0,
            **{place: len(offsets) for place, offsets in gone.items()},
        }
        # Read again, as after a rebalance: left out at once, and counted once.
        session = follower.source._session
        assert session is not None
        session.group.ledger.jump((events, 0), 0, 0.0)
        session.group.rewind([(events, 0)])
        del follower.values[events, 0]
        await follower.until(
            lambda: len(follower.values.get((events, 0), ())) == 50 - len(gone[events, 0]), 8
        )
        await follower.until(lambda: not any(follower.source.status().lag.values()), 8)
        assert follower.source.status().skipped[events, 0] == len(gone[events, 0])
    for place in [(events, 0), (judgments, 0)]:
        first = left_out[place][0].first
        where = (
            f"{place[0]}[{place[1]}]: the batch at offset {first} cannot be decoded: its checksum is wrong"
        )
        assert f"{where}; it is left out after 5 tries" in reasons
    lines = [record.message for record in caplog.records if "are left out" in record.message]
    assert len(lines) == 5
    batch = left_out[events, 0][0]
    assert (
        f"{events}[0]: the batch at offsets {batch.first} to {batch.last} cannot be decoded: its checksum is"
        f" wrong; {batch.last - batch.first + 1} records are left out"
    ) in lines


async def test_nothing_is_left_out_of_a_log_that_is_whole(
    kafka: OwnBroker, caplog: pytest.LogCaptureFixture
) -> None:
    topic = await kafka.topic()
    async with following(config(kafka, events=[topic])) as follower:
        await follower.until(follower.ready)
        assert follower.source.status().skipped == {(topic, 0): 0}
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]

"""Records and batches that cannot be read: only they are left out, their neighbours are counted exactly."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.faults.stage import Scene, scenario, stopping_the_broker
from tests.support.kafka import Produced
from tests.support.kafka.damage import damage, flip_a_byte, name_an_unknown_codec
from tests.support.kafka.process import Process

POISON: dict[str, list[bytes | None]] = {
    "not_json": [None, b"", b"\xff\xfe\x00", b"\x00" * 1000, b'{"type": "impression"'],
    "not_object": [b"null", b"17", b'"text"', b"[[]]", b"[" * 100_000],
    "unknown_type": [b'{"type": "\\u0000"}', b'{"type": {}}'],
    "missing_field": [b"{}", b'{"type": "impression"}'],
    "not_finite": [b'{"type": "impression", "impression_id": "i", "query_id": "q", "ts": NaN, "ranked": []}'],
    "id_too_long": [
        json.dumps({"type": "click", "impression_id": "x" * 5000, "ts": 1.7e9, "position": 1}).encode()
    ],
    "future_ts": [b'{"type": "click", "impression_id": "i", "ts": 9e10, "position": 1}'],
}


@scenario
async def test_poison_in_one_partition_is_counted_and_its_neighbours_stay_exact(scene: Scene) -> None:
    traffic = await scene.traffic()
    replica = await scene.replica(traffic.config(), session_seconds=1.5)
    server = await scene.prometheus([replica])
    await scene.warm(traffic, replica)
    for times in range(3):
        for role in ("impressions", "interactions"):
            for reason, values in POISON.items():
                records = [Produced(b"poison", value, partition=0) for value in values]
                await scene.broker.produce(traffic.topics[role], records)
                traffic.poisoned[role, reason] += len(records)
        await asyncio.sleep(1.5)
        if times == 1:
            # Read again after a restart, and not counted again.
            await replica.kill_outside()
            await replica.start()
    await scene.settle(traffic, server)


@scenario
@stopping_the_broker
async def test_batches_with_a_bad_checksum_or_an_unknown_codec_take_nothing_else_along(scene: Scene) -> None:
    broker = await scene.own_broker()
    if not isinstance(broker._node, Process):
        pytest.skip("the files of a broker in a container are out of reach: stop Docker, have java and mvn")
    data: Path = broker._node.folder / "data"
    traffic = await scene.traffic()
    await asyncio.sleep(8)
    await traffic.finish()
    topic = traffic.topics["impressions"]
    stored = [
        record for record in await broker.consume(topic, traffic.records()[topic]) if record.partition == 0
    ]
    # Not killed: a broker that crashed would look for damage, and cut the log off there.
    await asyncio.to_thread(broker.stop)
    middle = len(stored) // 2
    batches = [
        damage(data, topic, 0, middle, flip_a_byte),
        damage(data, topic, 0, middle + 20, name_an_unknown_codec),
    ]
    await asyncio.to_thread(broker.start)
    lost = {
        record.value for record in stored for batch in batches if batch.first <= record.offset <= batch.last
    }
    traffic.lose(lost)
    replica = await scene.replica(traffic.config(), session_seconds=1.5)
    server = await scene.prometheus([replica])
    await scene.counted(traffic, server)
    assert await replica.running.total("ranking_monitor_skipped_records_total") == len(lost)
    scene.say(f"{len(lost)} records in {len(batches)} damaged batches left out")

"""Records and batches that cannot be read: only they are left out, their neighbours are counted exactly."""

import asyncio
import itertools
import json
from pathlib import Path

import pytest

from tests.faults.stage import Scene, scenario, stopping_the_broker
from tests.support.kafka import Produced
from tests.support.kafka.bombs import SIZES, produce_bomb
from tests.support.kafka.damage import damage, flip_a_byte, name_an_unknown_codec
from tests.support.kafka.process import Process
from tests.support.waiting import wait_until

MEMORY_BYTES = 512 << 20
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
async def test_batches_that_expand_to_a_gigabyte_are_left_out_under_a_limit_of_512_mib(scene: Scene) -> None:
    traffic = await scene.traffic()
    replica = await scene.replica(traffic.config(), session_seconds=1.5, memory_bytes=MEMORY_BYTES)
    server = await scene.prometheus([replica])
    await scene.warm(traffic, replica)
    for number, (role, codec) in enumerate(itertools.product(("impressions", "interactions"), SIZES)):
        partition = number % traffic.partitions
        await asyncio.to_thread(produce_bomb, scene.broker, traffic.topics[role], partition, codec)
        traffic.left_out[role] += 1
    skipped = sum(traffic.left_out.values())

    async def all_are_left_out() -> bool:
        return await replica.running.total("ranking_monitor_skipped_records_total") == skipped

    await wait_until(all_are_left_out, 60)
    lines = [line for line in replica.log.read_text().splitlines() if "are left out" in line]
    assert len(lines) == skipped, "each is logged once"
    peaks = [replica.peak_bytes()]
    await replica.kill_outside()
    # As large as may be, and in all partitions at once: they are read, and each record is rejected.
    for role, partition in itertools.product(("impressions", "interactions"), range(traffic.partitions)):
        topic = traffic.topics[role]
        await asyncio.to_thread(produce_bomb, scene.broker, topic, partition, "zstd", 16_000_000)
        traffic.poisoned[role, "too_large"] += 1
    await replica.start()
    await scene.settle(traffic, server)
    peaks.append(replica.peak_bytes())
    assert replica.starts == 2
    assert replica.alive
    large = f"with {sum(traffic.poisoned.values())} batches of 16 MB {peaks[1] >> 20} MiB"
    scene.say(
        f"{skipped} batches of up to 1 GiB left out with at most {peaks[0] >> 20} MiB of memory, {large}"
    )
    assert max(peaks) < MEMORY_BYTES


@scenario
@stopping_the_broker
async def test_batches_with_a_bad_checksum_or_an_unknown_codec_take_nothing_else_along(scene: Scene) -> None:
    broker = await scene.own_broker()
    if not isinstance(broker._node, Process):
        pytest.skip("the files of a broker in a container are out of reach: stop Docker, have java and mvn")
    data: Path = broker._node.folder / "data"
    # All of it is in the log before the daemon starts: only idleness moves event time to the end of it.
    traffic = await scene.traffic(settings={"idle_seconds": 5.0})
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
    lost = [
        record.value for record in stored for batch in batches if batch.first <= record.offset <= batch.last
    ]
    traffic.lose(lost)
    replica = await scene.replica(traffic.config(), session_seconds=1.5)
    server = await scene.prometheus([replica])
    await scene.counted(traffic, server)
    assert await replica.running.total("ranking_monitor_skipped_records_total") == len(lost)
    scene.say(f"{len(lost)} records in {len(batches)} damaged batches left out")

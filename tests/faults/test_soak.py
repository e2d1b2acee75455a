"""A soak: ever new labels, queries, documents and impressions, and memory that stays flat."""

import asyncio
import statistics

from tests.faults.stage import FULL, Scene, scenario

WARM_UP, MEASURED = (120.0, 480.0) if FULL else (15.0, 45.0)
RATE = 200.0
FLAT_MEGABYTES = 6.0


@scenario
async def test_memory_stays_flat_while_labels_and_keys_are_ever_new(scene: Scene) -> None:
    traffic = await scene.traffic(rate=RATE, churn=True)
    config = {**traffic.config(), "windows_kept": 3, "limits": {"judgments": 1000}}
    replica = await scene.replica(config)
    await scene.prometheus([replica])
    await replica.ready()
    await asyncio.sleep(WARM_UP)
    megabytes = []
    for _ in range(int(MEASURED)):
        megabytes.append(replica.resident_bytes() / 1e6)
        await asyncio.sleep(1)
    part = len(megabytes) // 4
    first, last = statistics.median(megabytes[:part]), statistics.median(megabytes[-part:])
    shown = await replica.running.total("ranking_monitor_records_total")
    scene.say(
        f"resident memory {first:.1f} MB, {last:.1f} MB after {MEASURED * 3 / 4:.0f} s more"
        f" ({last - first:+.1f}), highest {max(megabytes):.1f}; {shown:.0f} records"
    )
    assert last - first < FLAT_MEGABYTES
    open_impressions = await replica.running.total("ranking_monitor_open_impressions")
    assert open_impressions < RATE * 15, "the load is more than it bears: nothing is measured"

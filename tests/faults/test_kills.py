"""kill -9 under load, with a real Prometheus that scrapes each second."""

import asyncio
import random

from tests.faults.checks import describe, settled
from tests.faults.increases import Key
from tests.faults.stage import FULL, Scene, scenario

KILLS = 10 if FULL else 5
INSIDE = 10 if FULL else 3
SHOWN: dict[str, Key] = {
    "records": ("ranking_monitor_records_total", ()),
    "settled impressions": ("ranking_monitor_events_total", (("fate", "settled"), ("type", "impression"))),
    "impressions in vector_ctr_avg_count": ("vector_ctr_avg_count", (("k", "10"),)),
    "impressions in vector_ndcg_avg_count": ("vector_ndcg_avg_count", (("k", "10"), ("maturity", "2s"))),
}


@scenario
async def test_kills_outside_the_moment_lose_and_double_nothing(scene: Scene) -> None:
    moments = random.Random(6)
    traffic = await scene.traffic()
    replica = await scene.replica(traffic.config(), session_seconds=1.5)
    server = await scene.prometheus([replica])
    await scene.warm(traffic, replica)
    found_inside = 0
    for kill in range(KILLS):
        if kill % 3 < 2:
            await replica.ready()
            await asyncio.sleep(2)
        # At any time: while it replays, and before it has partitions, too.
        await asyncio.sleep(moments.uniform(0.0, 2.0))
        found_inside += await replica.kill_outside()
        await replica.start()
    scene.say(f"{KILLS} kills, {found_inside} times found inside the moment and let go on")
    await scene.settle(traffic, server)


@scenario
async def test_kills_inside_the_moment_double_at_most_one_cut(scene: Scene) -> None:
    moments = random.Random(7)
    traffic = await scene.traffic()
    # The commit is held back for as long: else it would be hit only now and then.
    replica = await scene.replica(traffic.config(), session_seconds=1.5, dawdle_seconds=0.2)
    server = await scene.prometheus([replica])
    await scene.warm(traffic, replica)
    for _ in range(INSIDE):
        await replica.ready()
        await asyncio.sleep(moments.uniform(2.0, 4.0))
        assert await replica.kill_inside(moments.uniform(0.0, 0.15)), (
            f"it was never inside the moment:\n{replica.said()}"
        )
        await replica.start()
    await traffic.finish()
    expected = await traffic.expected(scene.folder)
    samples = await settled(server, expected, 60)
    found, cuts = samples.increases(), samples.last_steps()
    excess = {key: found.get(key, 0.0) - value for key, value in expected.items()}
    for what, (name, labels) in SHOWN.items():
        these = [key for key in expected if key[0] == name and set(labels) <= set(key[1])]
        over, bound = (sum(values.get(key, 0.0) for key in these) for values in (excess, cuts))
        scene.say(f"{INSIDE} kills doubled {over:g} {what}, the cuts shown last had {bound:g}")
    wrong = {
        key: (found.get(key, 0.0), expected[key])
        for key, over in excess.items()
        if not -1e-6 <= over <= cuts.get(key, 0.0) + 1e-6
    }
    assert not wrong, "lost, or doubled by more than the last cut: " + describe(wrong, samples)

"""Replicas that come, go and fall asleep under load: summed, they count everything once."""

import asyncio

from tests.faults.stage import FULL, Scene, scenario

ROUNDS = 3 if FULL else 1


@scenario
async def test_a_rolling_restart_of_three_replicas_loses_and_doubles_nothing(scene: Scene) -> None:
    traffic = await scene.traffic(partitions=6)
    replicas = [await scene.replica(traffic.config()) for _ in range(3)]
    server = await scene.prometheus(replicas)
    await scene.warm(traffic, *replicas)
    await asyncio.sleep(1)
    for replica in replicas * ROUNDS:
        await replica.terminate()
        await replica.start()
        await replica.ready()
        await asyncio.sleep(1.5)
    shares = [await replica.running.total("ranking_monitor_open_impressions") for replica in replicas]
    assert all(shares), f"a replica has nothing to do: {shares}"
    await scene.settle(traffic, server)


@scenario
async def test_replicas_that_join_and_leave_under_load_lose_and_double_nothing(scene: Scene) -> None:
    traffic = await scene.traffic(partitions=6)
    first, second, third = [await scene.replica(traffic.config(), start=False) for _ in range(3)]
    server = await scene.prometheus([first, second, third])
    await first.start()
    await scene.warm(traffic, first)
    for _ in range(ROUNDS):
        await asyncio.sleep(1)
        # Two at once, of which one goes again before the group has come to rest.
        await asyncio.gather(second.start(), third.start())
        await third.terminate()
        await second.ready()
        await asyncio.sleep(2)
        await first.kill_outside()
        await third.start()
        await third.ready()
        await asyncio.sleep(2)
        await second.terminate()
        await asyncio.sleep(2)
        await first.start()
        await first.ready()
        await third.terminate()
    await scene.settle(traffic, server)


@scenario
async def test_a_replica_that_wakes_after_it_lost_its_partitions_neither_counts_nor_commits(
    scene: Scene,
) -> None:
    traffic = await scene.traffic(partitions=4)
    sleeper, other = [await scene.replica(traffic.config(), session_seconds=3.0) for _ in range(2)]
    server = await scene.prometheus([sleeper, other])
    for _ in range(ROUNDS):
        await scene.warm(traffic, sleeper, other)
        await asyncio.sleep(1)
        await sleeper.freeze_outside()
        await asyncio.sleep(9)
        assert await other.running.answers("/-/ready")
        sleeper.thaw()
        await sleeper.ready()
    await scene.settle(traffic, server)

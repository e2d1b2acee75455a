"""Six kills in a minute, with the session timeout that users have."""

import asyncio
import os
import random
import time

from tests.faults.stage import FULL, Scene, scenario

RUNS = int(os.environ.get("SIX_KILLS_RUNS", "3" if FULL else "1"))
SEED = int(os.environ.get("SIX_KILLS_SEED", "0"))
"""Of the first run; each run has the next one."""
KILLS, EVERY_SECONDS = 6, 10.0
BACK_SECONDS = 15.0
COUNTED_SECONDS = 30.0


@scenario
async def test_six_kills_in_a_minute_are_made_up_for_within_half_a_minute(scene: Scene) -> None:
    longest_back = longest_counted = 0.0
    for run in range(RUNS):
        back, counted = await kill_six_times(scene, random.Random(SEED + run))
        longest_back, longest_counted = max(longest_back, back), max(longest_counted, counted)
        scene.say(f"run {run + 1}: partitions back {back:.1f} s, all counted {counted:.1f} s after the last")
    scene.check(longest_back <= BACK_SECONDS, f"the partitions came back after {longest_back:.1f} s")
    scene.check(longest_counted <= COUNTED_SECONDS, f"all was counted after {longest_counted:.1f} s")
    scene.say(f"{RUNS} of {RUNS} runs exact")


async def kill_six_times(scene: Scene, moments: random.Random) -> tuple[float, float]:
    """How long after the last kill the partitions were back, and a scraper had seen every impression."""
    traffic = await scene.traffic()
    replica = await scene.replica(traffic.config(), session_seconds=None)
    async with scene.scraping([replica]) as server:
        await scene.warm(traffic, replica)
        began = time.monotonic()
        for kill in range(KILLS):
            # At any time: some wait for partitions, some replay, some have just become ready.
            due = began + kill * EVERY_SECONDS + moments.uniform(0.0, EVERY_SECONDS / 2)
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            await replica.kill_outside()
            killed = time.time()
            await replica.start()
        await replica.ready()
        back = time.time() - killed
        await traffic.finish()
        expected = await traffic.expected(scene.folder)
        counted = await scene.count(expected, server, killed)
    await replica.terminate()
    return back, counted

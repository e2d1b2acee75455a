"""Very many judgments of one document: the loop comes round, and all is counted exactly as without them."""

import asyncio
import json
import time

from tests.faults.events import Event
from tests.faults.stage import Scene, scenario
from tests.faults.traffic import Traffic
from tests.support.daemon import Daemon
from tests.support.kafka import Produced
from tests.support.waiting import wait_until

ASSESSORS = 100_000
LONGEST_SECONDS = 3.0
"""A loop that is held up cannot answer. It was for minutes; some of this is for a busy machine."""


def judgments(ts: float) -> list[Produced]:
    """One document of a query that is searched for all the time, judged by everyone."""
    return [
        Produced(
            json.dumps(["q0", "q0d0", f"assessor-{i}"]).encode(),
            json.dumps(
                {
                    "type": "judgment",
                    "query_id": "q0",
                    "key": "q0d0",
                    "assessor": f"assessor-{i}",
                    "ts": ts,
                    "grade": (i + round(ts)) % 4,
                }
            ).encode(),
        )
        for i in range(ASSESSORS)
    ]


async def longest_answer(scene: Scene, traffic: Traffic, running: Daemon, ts: float) -> float:
    """Send them, and ask for health until they are all in the table; how long the slowest answer took."""
    longest = 0.0
    before = await running.total("ranking_monitor_events_total", type="judgment")
    sending = asyncio.create_task(scene.broker.produce(traffic.topics["judgments"], judgments(ts)))

    async def all_there() -> bool:
        nonlocal longest
        began = time.monotonic()
        assert await running.answers("/-/healthy")
        longest = max(longest, time.monotonic() - began)
        return await running.total("ranking_monitor_events_total", type="judgment") >= before + ASSESSORS

    await wait_until(all_there, 120, every=0.05)
    await sending
    return longest


@scenario
async def test_a_document_that_100_000_assessors_judge_holds_nobody_up(scene: Scene) -> None:
    traffic = await scene.traffic()
    # Before anything is shown, so that every impression of the query sees them.
    ts = traffic.generator.began - 99.0
    crowd = judgments(ts)
    await scene.broker.produce(traffic.topics["judgments"], crowd)
    traffic.sent += [Event(-99.0, i, "judgments", p.key or b"", p.value or b"") for i, p in enumerate(crowd)]
    replica = await scene.replica(traffic.config(), session_seconds=1.5)
    server = await scene.prometheus([replica])
    await scene.warm(traffic, replica)
    stalls = await replica.running.total("ranking_monitor_loop_stalls_total")
    stalled = await replica.running.total("ranking_monitor_loop_stall_seconds_total")
    # And while its impressions are decided: all given again, for a time that none of their deadlines sees.
    longest = await longest_answer(scene, traffic, replica.running, time.time() + 300.0)
    scene.say(f"{ASSESSORS} judgments of one document: the slowest answer took {longest:.2f} s")
    scene.check(longest < LONGEST_SECONDS, f"an answer took {longest:.1f} s")
    stalls = await replica.running.total("ranking_monitor_loop_stalls_total") - stalls
    stalled = await replica.running.total("ranking_monitor_loop_stall_seconds_total") - stalled
    scene.say(f"{stalls:.0f} stalls of {stalled:.1f} s in all")
    scene.check(stalled <= max(stalls, 1), f"{stalls:.0f} stalls took {stalled:.1f} s: more than 1 s each")
    await scene.settle(traffic, server)

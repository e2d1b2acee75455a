"""A stranger scrapes as Prometheus does: without the token that costs Prometheus nothing."""

import asyncio
from collections import Counter
from contextlib import suppress

import httpx

from tests.faults.replica import Replica
from tests.faults.stage import Scene, scenario

HEADERS = (
    {"X-Prometheus-Scrape-Timeout-Seconds": "1"},
    {"X-Prometheus-Scrape-Timeout-Seconds": "1", "Authorization": "Bearer guessed"},
)
EVERY_SECONDS = 0.1


async def steal(replica: Replica, answers: Counter[int]) -> None:
    """Scrape ten times a second with Prometheus's header, whatever happens to the replica."""
    while True:
        with suppress(httpx.TransportError):
            async with httpx.AsyncClient(timeout=1, verify=False) as client:
                for headers in HEADERS:
                    answer = await client.get(f"http://{replica.address}/metrics", headers=headers)
                    answers[answer.status_code] += 1
                    await asyncio.sleep(EVERY_SECONDS)
        await asyncio.sleep(0.01)


@scenario
async def test_a_thief_without_the_token_and_two_kills_cost_prometheus_nothing(scene: Scene) -> None:
    token_file = scene.folder / "token"
    token_file.write_text("a-token-that-nobody-guesses\n")
    traffic = await scene.traffic()
    config = {**traffic.config(), "commit_token_file": str(token_file)}
    replica = await scene.replica(config, session_seconds=1.5)
    server = await scene.prometheus([replica], token_file=token_file)
    answers: Counter[int] = Counter()
    thief = asyncio.create_task(steal(replica, answers))
    try:
        await scene.warm(traffic, replica)
        for _ in range(2):
            await replica.ready()
            await asyncio.sleep(4)
            await replica.kill_outside()
            await replica.start()
        await replica.ready()
        await asyncio.sleep(2)
        scene.say(f"the thief got {answers[200]} answers")
        scene.check(answers[200] > 50, f"the thief got no more than {answers[200]} answers")
        scene.check(token_file.read_text().strip() not in replica.log.read_text(), "the token is in the log")
        await scene.settle(traffic, server)
    finally:
        thief.cancel()
        await asyncio.gather(thief, return_exceptions=True)

"""Prometheus goes away, comes back, is two, or is cut off: what it counts in the end is exact."""

import asyncio
import socket
from pathlib import Path

from tests.faults.checks import describe, differences, settled
from tests.faults.replica import Replica
from tests.faults.stage import FULL, Scene, scenario
from tests.faults.traffic import Traffic
from tests.support.waiting import wait_until

SCRAPE = b"X-Prometheus-Scrape-Timeout-Seconds"
AWAY = 60.0 if FULL else 6.0


MANY_SERIES = {
    "metrics": [
        f"{name}@{k}" for name in ("ndcg", "mrr", "recall", "precision", "ctr") for k in (1, 2, 3, 5, 10)
    ]
}
UNHURRIED = "3s"
"""What a tight proxy has taken must still be passed on in time, also by a busy machine."""
LARGE_BYTES = 12_000
"""Of an answer: more than what a tight proxy takes of it anyway, so that who answers sees that it was cut."""


async def scrape_for_a_while(scene: Scene, traffic: Traffic, replica: Replica, folder: Path) -> None:
    """Let Prometheus scrape for some seconds, and end it when what it saw last is committed.

    A scrape that is under way when it ends may have arrived or not: no one can know.
    """
    folder.mkdir()

    async def ended_outside() -> bool:
        async with scene.scraping([replica], folder):
            await scene.warm(traffic, replica)
            await asyncio.sleep(2)
        await asyncio.sleep(0.5)
        return not replica.inside()

    await wait_until(ended_outside, 60)


@scenario
async def test_what_happened_while_prometheus_was_away_is_there_when_it_is_back(scene: Scene) -> None:
    traffic = await scene.traffic()
    replica = await scene.replica(traffic.config())
    folder = scene.folder / "server"
    await scrape_for_a_while(scene, traffic, replica, folder)
    await asyncio.sleep(AWAY)
    assert await replica.running.answers("/-/ready")
    async with scene.scraping([replica], folder) as server:
        await asyncio.sleep(3)
        await scene.settle(traffic, server)


@scenario
async def test_restarts_while_prometheus_is_away_lose_and_double_nothing(scene: Scene) -> None:
    traffic = await scene.traffic()
    replica = await scene.replica(traffic.config(), session_seconds=1.5)
    folder = scene.folder / "server"
    await scrape_for_a_while(scene, traffic, replica, folder)
    await replica.kill_outside()
    await replica.start()
    await replica.ready()
    await asyncio.sleep(AWAY / 2)
    await replica.terminate()
    await asyncio.sleep(1)
    await replica.start()
    await replica.ready()
    await asyncio.sleep(AWAY / 2)
    async with scene.scraping([replica], folder) as server:
        await asyncio.sleep(3)
        await scene.settle(traffic, server)


@scenario
async def test_two_prometheus_servers_see_every_number_and_nothing_twice(scene: Scene) -> None:
    traffic = await scene.traffic()
    replica = await scene.replica(traffic.config(), start=False)
    servers = [await scene.prometheus([replica]) for _ in range(2)]
    await replica.start()
    await scene.warm(traffic, replica)
    await asyncio.sleep(8)
    await traffic.finish()
    expected = await traffic.expected(scene.folder)
    exactly = []
    for server in servers:
        samples = await settled(server, expected, 30, with_first=True)
        # One server's scrape moves on what the other is shown: that one may see a series after its 0.
        wrong = differences(expected, samples.increases(with_first=True))
        assert not wrong, describe(wrong, samples)
        missed = len(differences(expected, samples.increases()))
        exactly.append(f"{len(expected) - missed} of {len(expected)}")
    scene.say(f"series that began at 0 in both: {exactly[0]} here, {exactly[1]} there")


@scenario
async def test_scrapes_that_are_cut_off_in_the_middle_lose_and_double_nothing(scene: Scene) -> None:
    traffic = await scene.traffic(settings=MANY_SERIES)
    replica = await scene.replica(traffic.config())
    proxy = await scene.proxy(int(replica.address.rpartition(":")[2]), tight=True)
    server = await scene.prometheus([f"127.0.0.1:{proxy.port}"], every=UNHURRIED)
    await replica.ready()
    for size_bytes in (1, 300, 1_000, 2_000):
        await asyncio.sleep(2)
        await proxy.cut_an_answer_after(size_bytes, of=LARGE_BYTES)
    await scene.settle(traffic, server)


@scenario
async def test_scrapes_that_somebody_between_took_and_lost_cost_no_number(scene: Scene) -> None:
    traffic = await scene.traffic()
    replica = await scene.replica(traffic.config())
    proxy = await scene.proxy(int(replica.address.rpartition(":")[2]))
    server = await scene.prometheus([f"127.0.0.1:{proxy.port}"])
    await replica.ready()
    for size_bytes in (1, 2_000):
        await asyncio.sleep(3)
        await proxy.cut_an_answer_after(size_bytes)
    await traffic.finish()
    expected = await traffic.expected(scene.folder)
    samples = await settled(server, expected, 30, with_first=True)
    # All of it was acknowledged by the other end of the connection, so that a series may be seen after its 0.
    wrong = differences(expected, samples.increases(with_first=True))
    assert not wrong, describe(wrong, samples)
    missed = len(differences(expected, samples.increases()))
    scene.say(f"{missed} of {len(expected)} series were not seen at 0")


@scenario
async def test_a_scraper_that_gives_up_before_the_answer_acknowledges_nothing(scene: Scene) -> None:
    traffic = await scene.traffic()
    replica = await scene.replica(traffic.config())
    await replica.ready()
    host, _, port = replica.address.partition(":")
    for _ in range(8):
        # Without a pause between asking and going: what has arrived before one goes has arrived.
        with socket.create_connection((host, int(port))) as scraper:
            scraper.sendall(b"GET /metrics HTTP/1.1\r\nHost: monitor\r\n" + SCRAPE + b": 1\r\n\r\n")
        await asyncio.sleep(0.4)
    # Had any of those counted as a scrape that arrived, this one would not see the series at 0.
    server = await scene.prometheus([replica])
    await asyncio.sleep(3)
    await scene.settle(traffic, server)


@scenario
async def test_a_process_that_is_killed_after_a_scrape_was_cut_off_loses_and_doubles_nothing(
    scene: Scene,
) -> None:
    traffic = await scene.traffic(settings=MANY_SERIES)
    replica = await scene.replica(traffic.config(), session_seconds=1.5)
    proxy = await scene.proxy(int(replica.address.rpartition(":")[2]), tight=True)
    server = await scene.prometheus([f"127.0.0.1:{proxy.port}"], every=UNHURRIED)
    for size_bytes in (1, 500):
        await scene.warm(traffic, replica)
        await asyncio.sleep(4)
        await proxy.cut_an_answer_after(size_bytes, of=LARGE_BYTES)
        await replica.kill_outside()
        await replica.start()
    await scene.settle(traffic, server)

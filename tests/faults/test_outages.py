"""The broker goes away, hangs or is slow: the daemon says so, waits, and has counted everything after."""

import asyncio
from collections.abc import Awaitable, Callable

from tests.faults.replica import Replica
from tests.faults.stage import FULL, Scene, scenario, stopping_the_broker
from tests.faults.watch import watching
from tests.support.kafka import Broker
from tests.support.tcp_proxy import Proxy

OUTAGES = (10, 30, 120) if FULL else (10,)
LONG = 8.0
"""More than it takes until silence would count as idleness and every deadline would pass."""
SOON_IDLE = {"idle_seconds": 4.0}
"""Less than an outage lasts of which the producer notices nothing."""
IDLE_AFTER_A_STOP = {"idle_seconds": 10.0}
"""Less than an outage of the broker lasts, more than the producer needs to come back after one."""


def port(broker: Broker) -> int:
    return int(broker.bootstrap_servers.rpartition(":")[2])


async def outage(scene: Scene, replica: Replica, *steps: Callable[[], Awaitable[object]]) -> None:
    """Go through the steps; meanwhile it is not ready but healthy, and afterwards it is ready again."""
    async with watching(replica) as watch:
        for step in steps[:-1]:
            await step()
        seconds = watch.seconds
        scene.check(not all(watch.ready), f"ready through {seconds:.0f} s of outage")
        if watch.unready_after is not None:
            scene.say(f"not ready after {watch.unready_after:.1f} s of outage: {watch.reasons[-1]}")
        await steps[-1]()
        await replica.ready()
        scene.check(all(watch.healthy), "not healthy")


async def behind_a_proxy(
    scene: Scene, **settings: float
) -> tuple[Proxy, Replica, Callable[[], Awaitable[None]]]:
    """A daemon that reaches the broker through a proxy, while events go there directly; and how to end it."""
    traffic = await scene.traffic(settings={**SOON_IDLE, **settings})
    proxy = await scene.proxy(port(scene.broker))
    replica = await scene.replica(traffic.config(), session_seconds=10.0, proxy=proxy.port)
    server = await scene.prometheus([replica])
    await scene.warm(traffic, replica)
    return proxy, replica, lambda: scene.settle(traffic, server)


@scenario
@stopping_the_broker
async def test_a_broker_that_is_stopped_is_waited_for(scene: Scene) -> None:
    broker = await scene.own_broker()
    traffic = await scene.traffic(settings=IDLE_AFTER_A_STOP)
    replica = await scene.replica(traffic.config(), session_seconds=10.0)
    server = await scene.prometheus([replica])
    for seconds in OUTAGES:
        await scene.warm(traffic, replica)
        await outage(
            scene,
            replica,
            lambda: asyncio.to_thread(broker.stop),
            lambda seconds=seconds: asyncio.sleep(seconds),
            lambda: asyncio.to_thread(broker.start),
        )
    await scene.settle(traffic, server)


@scenario
@stopping_the_broker
async def test_a_broker_that_is_killed_and_started_again_is_waited_for(scene: Scene) -> None:
    broker = await scene.own_broker()
    traffic = await scene.traffic(settings=IDLE_AFTER_A_STOP)
    replica = await scene.replica(traffic.config(), session_seconds=10.0)
    server = await scene.prometheus([replica])
    await scene.warm(traffic, replica)
    await outage(
        scene,
        replica,
        lambda: asyncio.to_thread(broker.stop, kill=True),
        lambda: asyncio.sleep(OUTAGES[0]),
        lambda: asyncio.to_thread(broker.start),
    )
    await scene.settle(traffic, server)


@scenario
@stopping_the_broker
async def test_sigterm_while_the_broker_is_away_ends_it_and_the_next_one_goes_on(scene: Scene) -> None:
    broker = await scene.own_broker()
    traffic = await scene.traffic()
    replica = await scene.replica(traffic.config(), session_seconds=3.0)
    server = await scene.prometheus([replica])
    await scene.warm(traffic, replica)
    await asyncio.to_thread(broker.stop, kill=True)
    await replica.terminate()
    await replica.start()
    assert await replica.running.answers("/-/ready", 503)
    await asyncio.to_thread(broker.start)
    await replica.ready()
    await scene.settle(traffic, server)


@scenario
async def test_clicks_that_waited_in_kafka_during_an_outage_meet_their_impressions(scene: Scene) -> None:
    proxy, replica, settle = await behind_a_proxy(scene)
    await outage(scene, replica, proxy.refuse, lambda: asyncio.sleep(LONG), proxy.start)
    await settle()


@scenario
async def test_connections_that_hang_are_waited_for_and_sigterm_needs_no_answer(scene: Scene) -> None:
    proxy, replica, settle = await behind_a_proxy(scene)

    async def flow() -> None:
        proxy.flow()

    async def hold() -> None:
        proxy.hold()

    await outage(scene, replica, hold, lambda: asyncio.sleep(2 * LONG), flow)
    await asyncio.sleep(2)
    proxy.hold()
    await asyncio.sleep(2)
    await replica.terminate()
    proxy.flow()
    await replica.start()
    await replica.ready()
    await settle()


@scenario
async def test_a_connection_that_is_cut_in_the_middle_of_a_fetch_is_made_anew(scene: Scene) -> None:
    proxy, replica, settle = await behind_a_proxy(scene)
    for size_bytes in (100, 3_000, 9_000, 14_000):
        # What is held back comes in one large answer, and that is cut.
        proxy.hold()
        await asyncio.sleep(1.5)
        cutting = asyncio.ensure_future(proxy.cut_an_answer_after(size_bytes))
        await asyncio.sleep(0)
        proxy.flow()
        await cutting
        await asyncio.sleep(1)
    assert await replica.running.answers("/-/healthy")
    await replica.ready()
    await settle()


@scenario
async def test_two_seconds_of_latency_slow_it_down_and_lose_nothing(scene: Scene) -> None:
    # Topics are read at different times by as much: that is disorder, and has to be allowed for.
    proxy, replica, settle = await behind_a_proxy(scene, lateness_seconds=8.0)
    async with watching(replica) as watch:
        proxy.latency_seconds = 2.0
        await asyncio.sleep(30 if FULL else 10)
        proxy.latency_seconds = 0.0
        await replica.ready()
        scene.check(all(watch.healthy), "not healthy")
    # What was asked for while it was slow is still on its way; judgments are read apart from events.
    await asyncio.sleep(5)
    await settle()

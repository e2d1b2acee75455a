"""Where scenarios run: several at a time in one event loop, since most of their time is waiting."""

import asyncio
import functools
import logging
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import broker_or_skip
from tests.faults.checks import exact
from tests.faults.increases import Key, raw_samples
from tests.faults.replica import Replica
from tests.faults.traffic import Traffic, traffic
from tests.support.kafka import Broker, OwnBroker
from tests.support.prometheus import Prometheus, prometheus
from tests.support.tcp_proxy import Proxy, tcp_proxy
from tests.support.waiting import wait_until

FULL = os.environ.get("FAULTS") == "full"
"""The long forms: `make faults`."""
AT_ONCE = int(os.environ.get("FAULTS_AT_ONCE", "4"))


class Scene:
    """What a scenario has: a broker, and all that it starts ends with it."""

    def __init__(self, name: str, folder: Path, stage: "Stage", stack: AsyncExitStack) -> None:
        self.name = name
        self.folder = folder
        self.broker = stage.broker
        self.lines: list[str] = []
        self.broken: list[str] = []
        self._stage = stage
        self._stack = stack
        self._seed = sum(map(ord, name))
        self._servers = 0
        self._replicas: list[Replica] = []

    def say(self, line: str) -> None:
        """A measured figure, printed at the end of the tests."""
        self.lines.append(line)

    def check(self, holds: bool, otherwise: str) -> None:
        """What must hold, told at the end: the numbers are worth knowing as well."""
        if not holds:
            self.broken.append(otherwise)

    async def own_broker(self) -> OwnBroker:
        """A broker that may be stopped."""
        broker = self.broker = await asyncio.to_thread(self._stage.stoppable)
        return broker

    async def traffic(self, **options: Any) -> Traffic:
        made = await traffic(self.broker, self._seed, **options)
        self._stack.push_async_callback(made.stop)
        return made

    async def replica(self, config: Mapping[str, Any], *, start: bool = True, **options: Any) -> Replica:
        replica = Replica(self.folder, config, **options)
        self._replicas.append(replica)
        self._stack.push_async_callback(replica.kill)
        if start:
            await replica.start()
        return replica

    async def proxy(self, target_port: int, *, tight: bool = False) -> Proxy:
        return await self._stack.enter_async_context(tcp_proxy(target_port, tight=tight))

    async def prometheus(
        self, targets: Sequence[Replica | str], *, every: str = "1s", token_file: Path | None = None
    ) -> Prometheus:
        """A Prometheus that scrapes these each second until the scenario ends."""
        return await self._stack.enter_async_context(
            self.scraping(targets, every=every, token_file=token_file)
        )

    @asynccontextmanager
    async def scraping(
        self,
        targets: Sequence[Replica | str],
        folder: Path | None = None,
        *,
        every: str = "1s",
        token_file: Path | None = None,
    ) -> AsyncIterator[Prometheus]:
        """The same until the block ends; given the folder of an earlier one, it goes on with its data."""
        if folder is None:
            self._servers += 1
            folder = self.folder / f"server-{self._servers}"
            folder.mkdir()
        addresses = [t.address if isinstance(t, Replica) else t for t in targets]
        with ExitStack() as stack:
            context = prometheus(folder, {"monitor": addresses}, every=every, token_file=token_file)
            server = await asyncio.to_thread(stack.enter_context, context)
            try:
                yield server
            finally:
                await asyncio.to_thread(stack.close)

    async def warm(self, traffic: Traffic, *replicas: Replica, seconds: float = 60.0) -> None:
        """Wait until they are ready and every task is committed; from then on there are late impressions.

        How late something is depends on which topic is read first, until event time is remembered.
        """
        await asyncio.gather(*(replica.ready(seconds) for replica in replicas))
        await wait_until(traffic.checkpointed, seconds, every=0.3)
        traffic.generator.late = True

    async def settle(self, traffic: Traffic, *servers: Prometheus, seconds: float = 60.0) -> None:
        """End the traffic, and see that each server has counted everything exactly."""
        await traffic.finish()
        await self.counted(traffic, *servers, seconds=seconds)

    async def counted(self, traffic: Traffic, *servers: Prometheus, seconds: float = 60.0) -> None:
        """The same, where the traffic has ended before."""
        expected = await traffic.expected(self.folder)
        try:
            for server in servers:
                self.say(await exact(server, expected, seconds))
        except AssertionError as error:
            states = [await replica.state() for replica in self._replicas]
            raise AssertionError("\n".join([str(error), *states])) from None

    async def count(self, expected: Mapping[Key, float], server: Prometheus, since: float) -> float:
        """See that a server counts everything exactly; how long after a time of the clock it had it all.

        By its own samples: when somebody asks for them says nothing about when they came.
        """
        await exact(server, expected)
        samples = await asyncio.to_thread(raw_samples, server)
        return samples.last_increase(expected) - since


Scenario = Callable[[Scene], Awaitable[None]]


def stopping_the_broker(body: Scenario) -> Scenario:
    """A scenario that stops its broker: one at a time, on a broker that the others do not use."""
    body.stops_the_broker = True  # type: ignore[attr-defined]
    return body


def scenario(body: Scenario) -> Callable[["Stage"], None]:
    """A test that runs beside the others of this folder; `body` has what it does."""

    def test(stage: "Stage") -> None:
        stage.result(body)

    functools.update_wrapper(test, body)
    del test.__wrapped__  # type: ignore[attr-defined] # pytest would ask for the arguments of the body
    test.scenario = body  # type: ignore[attr-defined]
    marks = [pytest.mark.kafka, pytest.mark.prometheus, pytest.mark.timeout(3600 if FULL else 300)]
    test.pytestmark = marks  # type: ignore[attr-defined]
    return test


class Stage:
    """Runs the scenarios that were chosen, in their order, as many at once as the machine bears."""

    def __init__(self, broker: Broker, folder: Path, chosen: Sequence[Scenario]) -> None:
        self.broker = broker
        self.figures: dict[str, list[str]] = {}
        self._folder = folder
        self._own: OwnBroker | None = None
        self._stack = ExitStack()
        # It tells of every connection that an outage refuses.
        logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._stopping = asyncio.Lock()
        self._places = asyncio.Semaphore(AT_ONCE)
        self._running: set[asyncio.Task[None]] = set()
        self._results: dict[Scenario, Future[None]] = {
            body: asyncio.run_coroutine_threadsafe(self._run(body), self._loop) for body in chosen
        }

    def result(self, body: Scenario) -> None:
        """Wait for a scenario; its failure is the test's."""
        self._results[body].result()

    def stoppable(self) -> OwnBroker:
        """The broker of those that stop it; it runs when it is handed out."""
        if self._own is None:
            folder = self._folder / "own-kafka"
            folder.mkdir()
            self._own = self._stack.enter_context(broker_or_skip(folder))
        elif not self._own._node.alive():
            self._own.start()
        return self._own

    def close(self) -> None:
        for result in self._results.values():
            result.cancel()
        asyncio.run_coroutine_threadsafe(self._wait_for_the_rest(), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._stack.close()

    async def _wait_for_the_rest(self) -> None:
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _run(self, body: Scenario) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._running.add(task)
        stops = hasattr(body, "stops_the_broker")
        async with self._stopping if stops else self._places:
            name = body.__name__.removeprefix("test_")
            folder = self._folder / name[:60]
            folder.mkdir()
            began = self._loop.time()
            async with AsyncExitStack() as stack:
                scene = Scene(name, folder, self, stack)
                try:
                    await body(scene)
                    assert not scene.broken, "; ".join(scene.broken)
                finally:
                    scene.say(f"{self._loop.time() - began:.0f} s")
                    self.figures[name] = scene.lines

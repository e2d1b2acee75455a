"""Connections: how many there may be, whose place a new one takes, and how long a client may take."""

import asyncio
import contextlib
import resource
import socket
from collections.abc import AsyncIterator, Callable

import httpx
import pytest

from monitor.web import protocol, server
from monitor.web.app import create_app
from tests.support.waiting import wait_until
from tests.unit.web.views import MadeUpView

HALF = b"GET /-/healthy HTTP/1.1\r\nHost: x\r\n"
WHOLE = HALF + b"\r\n"


@pytest.mark.parametrize(
    ("descriptors", "most"), [(256, 128), (512, 256), (100_000, 256), (resource.RLIM_INFINITY, 256), (1, 1)]
)
def test_connections_leave_half_of_the_descriptors_to_others(
    descriptors: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (descriptors, descriptors))
    assert server.most_connections() == most


class Client:
    """One connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def answer(self) -> bytes:
        return (await self.reader.readuntil(b"\r\n")).strip()

    async def ends(self, seconds: float = 10.0) -> None:
        with contextlib.suppress(ConnectionError):
            async with asyncio.timeout(seconds):
                await self.reader.read()


class Served:
    """A running server and its clients."""

    def __init__(self, running: server.Server, port: int) -> None:
        self.running = running
        self.port = port
        self.clients: list[Client] = []

    async def client(self, sent: bytes) -> Client:
        made = Client(*await asyncio.open_connection("127.0.0.1", self.port, limit=10_000))
        self.clients.append(made)
        made.writer.write(sent)
        return made


@contextlib.asynccontextmanager
async def serving(view: MadeUpView, limit: int = 256) -> AsyncIterator[Served]:
    listener = socket.create_server(("127.0.0.1", 0))
    running = server.Server(create_app(view))
    running.limit = limit
    task = asyncio.create_task(running.serve([listener]))
    served = Served(running, listener.getsockname()[1])
    try:
        yield served
    finally:
        for each in served.clients:
            each.writer.transport.abort()
        running.should_exit = True
        await task


async def test_at_the_limit_the_oldest_that_waits_makes_room() -> None:
    async with serving(MadeUpView(), limit=2) as served:
        oldest, other = await served.client(HALF), await served.client(HALF)
        await asyncio.sleep(2 * server.GRACE_SECONDS)
        newest = await served.client(WHOLE)
        assert await newest.answer() == b"HTTP/1.1 200 OK"
        await oldest.ends()
        other.writer.write(b"\r\n")
        assert await other.answer() == b"HTTP/1.1 200 OK"


class WaitingView(MadeUpView):
    """Answers when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = 0
        self.go_on = asyncio.Event()

    async def render(self, accept: str, pack: Callable[[bytes], bytes] = bytes) -> tuple[bytes, str]:
        self.asked += 1
        await self.go_on.wait()
        return await super().render(accept, pack)


async def test_while_all_are_being_answered_a_new_one_waits_and_takes_the_next_place() -> None:
    view = WaitingView()
    async with serving(view, limit=2) as served:
        # Some ask for more at once than one answer: the rest of it does not keep others out.
        request = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 50
        busy = [await served.client(request) for _ in range(2)]
        await wait_until(lambda: view.asked == 2, 5)
        await asyncio.sleep(2 * server.GRACE_SECONDS)
        newest = await served.client(WHOLE)
        answering = asyncio.create_task(newest.answer())
        await asyncio.sleep(0.3)
        assert not answering.done()
        view.go_on.set()
        assert [await each.answer() for each in busy] == [b"HTTP/1.1 200 OK"] * 2
        assert await asyncio.wait_for(answering, 5) == b"HTTP/1.1 200 OK"
        assert view.asked < 10


@pytest.mark.parametrize(
    "begin",
    [b"", b"GET", WHOLE + b"GET", b"GET /-/healthy HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"],
    ids=["nothing", "half a request", "half of the second request", "half a body"],
)
async def test_a_client_that_never_ends_its_request_is_closed(
    begin: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.5)
    monkeypatch.setattr(server, "SWEEP_SECONDS", 0.1)
    async with serving(MadeUpView()) as served:
        dribbling = await served.client(begin)

        async def dribble() -> None:
            while True:
                await asyncio.sleep(0.05)
                dribbling.writer.write(b"x")

        task = asyncio.create_task(dribble())
        try:
            await dribbling.ends(4)
        finally:
            task.cancel()
        # Somebody who takes their time between two requests is not cut off in the second.
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{served.port}") as well_behaved:
            for _ in range(3):
                assert (await well_behaved.get("/-/healthy")).status_code == 200
                await asyncio.sleep(0.3)


async def test_a_client_that_does_not_read_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "STALL_SECONDS", 0.5)
    monkeypatch.setattr(server, "SWEEP_SECONDS", 0.1)

    class LargeView(MadeUpView):
        async def render(self, _: str, pack: Callable[[bytes], bytes] = bytes) -> tuple[bytes, str]:
            return pack(b"# " + b"x" * 30_000_000 + b"\n"), "text/plain"

    async with serving(LargeView()) as served:
        await served.client(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        await wait_until(lambda: any(p.is_answering for p in served.running._open), 5)
        await wait_until(lambda: not served.running._open, 10)

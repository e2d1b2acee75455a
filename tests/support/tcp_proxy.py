"""A TCP proxy that does to connections what networks do: refuses, cuts, hangs, delays."""

import asyncio
import re
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from tests.support.ports import free_port

CHUNK = 65_536
TIGHT_BYTES = 1024


class Proxy:
    """Passes bytes between clients and one port of this machine, and can be told to do worse.

    A tight one takes hardly more of an answer than it has passed on, so that who answers can know that the
    rest, but for some 7,000 bytes, never arrived. Else the proxy's kernel takes, and acknowledges, all of it
    at once.
    """

    def __init__(self, target_port: int, *, tight: bool = False) -> None:
        self.port = free_port()
        self._tight = tight
        self.latency_seconds = 0.0
        """How much later answers arrive."""
        self.connections = 0
        self._target = target_port
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._cut_after: int | None = None
        self._cut_of = 0
        self._cut = asyncio.Event()
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Accept connections, again after `refuse`."""
        if self._server is None:
            self._server = await asyncio.start_server(self._accepted, "127.0.0.1", self.port)

    async def refuse(self) -> None:
        """Accept no more, and hang up on all."""
        if self._server is not None:
            self._server.close()
            self._server = None
        self.hang_up()

    def hang_up(self) -> None:
        """Cut every connection off, without a goodbye."""
        for writer in list(self._writers):
            writer.transport.abort()

    def hold(self) -> None:
        """Pass nothing on; connections stay open, and new ones are accepted and hang too."""
        self._flowing.clear()

    def flow(self) -> None:
        """Pass on again, also what was held."""
        self._flowing.set()

    async def cut_an_answer_after(self, size_bytes: int, seconds: float = 30.0, *, of: int = 0) -> None:
        """Cut a connection as soon as its answers exceed so many bytes from now on; wait until it is done.

        With `of`, only within an answer over HTTP that is at least as large.
        """
        self._cut_after, self._cut_of, self._cut = size_bytes, of, asyncio.Event()
        async with asyncio.timeout(seconds):
            await self._cut.wait()

    async def close(self) -> None:
        await self.refuse()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._server is None:
            # It was accepted just before the proxy was closed, and nobody else knows of it.
            writer.transport.abort()
            return
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        self._writers.add(writer)
        there: asyncio.StreamWriter | None = None
        try:
            await self._flowing.wait()
            back, there = await self._connect()
            self._writers.add(there)
            ways = [
                asyncio.ensure_future(self._pass(reader, there)),
                asyncio.ensure_future(self._answer(back, there, writer)),
            ]
            try:
                await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for way in ways:
                    way.cancel()
                await asyncio.gather(*ways, return_exceptions=True)
        except (OSError, asyncio.CancelledError):
            pass
        finally:
            for end in (writer, there):
                if end is not None:
                    self._writers.discard(end)
                    with suppress(Exception):
                        end.close()
            self._tasks.discard(task)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if not self._tight:
            return await asyncio.open_connection("127.0.0.1", self._target)
        there = socket.socket()
        there.setblocking(False)
        there.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, TIGHT_BYTES)
        try:
            await asyncio.get_running_loop().sock_connect(there, ("127.0.0.1", self._target))
        except BaseException:
            there.close()
            raise
        return await asyncio.open_connection(sock=there, limit=TIGHT_BYTES)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(CHUNK):
                await self._flowing.wait()
                writer.write(data)
                await writer.drain()

    async def _read(self, reader: asyncio.StreamReader, back: asyncio.StreamWriter) -> bytes:
        if not self._tight:
            return await reader.read(CHUNK)
        # Each window of so few bytes would else wait 40 ms for its acknowledgement.
        back.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
        return await reader.read(TIGHT_BYTES)

    async def _answer(
        self, reader: asyncio.StreamReader, back: asyncio.StreamWriter, writer: asyncio.StreamWriter
    ) -> None:
        loop = asyncio.get_running_loop()
        queue: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(1 if self._tight else 0)

        async def fetch() -> None:
            with suppress(OSError):
                while data := await self._read(reader, back):
                    await queue.put((loop.time() + self.latency_seconds, data))
            await queue.put((loop.time() + self.latency_seconds, b""))

        fetching = asyncio.ensure_future(fetch())
        passed, large = 0, False
        cut = self._cut
        try:
            with suppress(OSError):
                while True:
                    due, data = await queue.get()
                    await asyncio.sleep(max(0.0, due - loop.time()))
                    await self._flowing.wait()
                    if not data:
                        return
                    if self._cut is not cut:
                        passed, large, cut = 0, False, self._cut
                    if self._cut_of and data.startswith(b"HTTP/"):
                        length = re.search(rb"(?i)\r\ncontent-length: (\d+)", data)
                        passed, large = 0, bool(length) and int(length[1]) >= self._cut_of
                    due = self._cut_after is not None and passed + len(data) > self._cut_after
                    if due and (large or not self._cut_of):
                        writer.write(data[: (self._cut_after or 0) - passed])
                        await writer.drain()
                        self._cut_after = None
                        self._cut.set()
                        return
                    passed += len(data)
                    writer.write(data)
                    await writer.drain()
        finally:
            fetching.cancel()
            await asyncio.gather(fetching, return_exceptions=True)


@asynccontextmanager
async def tcp_proxy(target_port: int, *, tight: bool = False) -> AsyncIterator[Proxy]:
    """Run a proxy to a port until the block ends."""
    proxy = Proxy(target_port, tight=tight)
    await proxy.start()
    try:
        yield proxy
    finally:
        await proxy.close()

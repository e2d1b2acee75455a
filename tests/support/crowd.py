"""Strangers on the HTTP port: connections that never send a whole request, and clients that hammer.

As a program it hammers: `python -m tests.support.crowd PORT CONNECTIONS SECONDS PATH [HEADER...]`.
"""

import asyncio
import contextlib
import os
import socket
import sys
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

HALF = b"GET /metrics HTTP/1.1\r\nHost: monitor\r\nX-Slow: "
TICKS = os.sysconf("SC_CLK_TCK")


@contextmanager
def half_open(port: int, count: int) -> Iterator[list[socket.socket]]:
    """Connections that have sent a part of a request each, and keep silent."""
    opened: list[socket.socket] = []
    try:
        for _ in range(count):
            client = socket.socket()
            opened.append(client)
            client.setblocking(False)
            client.connect_ex(("127.0.0.1", port))
        deadline = time.monotonic() + 10
        for client in opened:
            # Some are not accepted before others were closed.
            client.settimeout(max(0.01, deadline - time.monotonic()))
            with contextlib.suppress(OSError):
                client.sendall(HALF)
        yield opened
    finally:
        for client in opened:
            client.close()


def is_closed(client: socket.socket) -> bool:
    """Whether the other side has ended a connection."""
    client.setblocking(False)
    try:
        return client.recv(1) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def processor_seconds(pid: int) -> float:
    """What a process has used of the processor."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


@asynccontextmanager
async def hammering(
    port: int,
    path: str = "/metrics",
    headers: Sequence[str] = (),
    *,
    connections: int = 64,
    seconds: float = 60,
) -> AsyncIterator[asyncio.subprocess.Process]:
    """A process whose connections each ask again as soon as they have an answer, until the block ends.

    It is nice, so that on a small machine the requests slow the daemon down, and not whoever makes them.
    """
    arguments = (str(port), str(connections), str(seconds), path, *headers)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.support.crowd", *arguments),
        stdout=asyncio.subprocess.PIPE,
        preexec_fn=lambda: os.nice(10),
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _hammer(port: int, connections: int, seconds: float, request: bytes) -> int:
    """Ask over and over; how many answers came."""
    deadline, answers = time.monotonic() + seconds, 0

    async def client() -> None:
        nonlocal answers
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                try:
                    while time.monotonic() < deadline:
                        writer.write(request)
                        head = await reader.readuntil(b"\r\n\r\n")
                        await reader.readexactly(
                            int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                        )
                        answers += 1
                finally:
                    writer.close()
            await asyncio.sleep(0.01)

    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds + 1):
            await asyncio.gather(*(client() for _ in range(connections)))
    return answers


if __name__ == "__main__":
    _port, _connections, _seconds, _path, *_headers = sys.argv[1:]
    _lines = [f"GET {_path} HTTP/1.1", "Host: monitor", *_headers, "", ""]
    print(asyncio.run(_hammer(int(_port), int(_connections), float(_seconds), "\r\n".join(_lines).encode())))

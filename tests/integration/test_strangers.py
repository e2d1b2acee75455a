"""What strangers on the HTTP port can do to a daemon with few descriptors: little, and nothing to others."""

import asyncio
import contextlib
import resource
import socket
import time
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.support.crowd import half_open, hammering, is_closed, processor_seconds
from tests.support.daemon import COMMAND, Daemon
from tests.support.ports import free_port
from tests.support.waiting import wait_until

DESCRIPTORS = 256
SCRAPE = {"X-Prometheus-Scrape-Timeout-Seconds": "10"}
LOG_BYTES = 10_000
SOON_SECONDS = 6.0
"""For an answer, on a machine that others use too; before, there was none."""


@pytest.fixture
async def demo(tmp_path: Path) -> AsyncIterator[Daemon]:
    """The demo, with 256 descriptors."""
    port, log = free_port(), tmp_path / "demo.log"
    with log.open("wb") as errors:
        process = await asyncio.create_subprocess_exec(
            *(*COMMAND, "demo", "--listen", f"127.0.0.1:{port}"),
            stdout=asyncio.subprocess.DEVNULL,
            stderr=errors,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS)),
        )
    running = Daemon(process, f"http://127.0.0.1:{port}", log)
    try:
        await wait_until(lambda: running.answers("/-/healthy"), 30)
        yield running
        assert await running.stop() == 0
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def port_of(daemon: Daemon) -> int:
    return int(daemon.url.rpartition(":")[2])


def descriptors(daemon: Daemon) -> int:
    return len(list(Path(f"/proc/{daemon.process.pid}/fd").iterdir()))


async def slowest_answer(daemon: Daemon, seconds: float) -> float:
    """Ask for health and scrape, each on a connection of its own, for so long; how long the slowest took."""
    slowest, end = 0.0, time.monotonic() + seconds
    while time.monotonic() < end:
        for path, headers in (("/-/healthy", {}), ("/-/ready", {}), ("/metrics", SCRAPE), ("/metrics", {})):
            began = time.monotonic()
            async with httpx.AsyncClient(base_url=daemon.url, timeout=10, verify=False) as client:
                assert (await client.get(path, headers=headers)).status_code == 200
            slowest = max(slowest, time.monotonic() - began)
        await asyncio.sleep(0.2)
    return slowest


async def test_half_open_requests_keep_nobody_out_and_are_closed(demo: Daemon) -> None:
    pid = demo.process.pid
    with half_open(port_of(demo), 400) as strangers:
        used, began = processor_seconds(pid), time.monotonic()
        assert await slowest_answer(demo, 8) < SOON_SECONDS
        share = (processor_seconds(pid) - used) / (time.monotonic() - began)
        assert share < 0.5, f"it used {share:.0%} of a core"
        assert descriptors(demo) < DESCRIPTORS
        await wait_until(lambda: all(map(is_closed, strangers)), 20)
    assert demo.log.stat().st_size < LOG_BYTES
    assert demo.log.read_text().count("128 connections are open") == 1


async def test_half_open_requests_that_come_again_and_again_keep_nobody_out(demo: Daemon) -> None:
    async def come_again() -> None:
        while True:
            with half_open(port_of(demo), 100):
                await asyncio.sleep(0.5)

    with half_open(port_of(demo), 300):
        coming = asyncio.create_task(come_again())
        try:
            assert await slowest_answer(demo, 8) < SOON_SECONDS
        finally:
            coming.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await coming
    assert demo.log.stat().st_size < LOG_BYTES


async def test_without_a_free_descriptor_accepting_pauses_and_goes_on(demo: Daemon) -> None:
    pid = demo.process.pid
    few = descriptors(demo) + 20
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (few, DESCRIPTORS))
    with half_open(port_of(demo), 100):
        used, began = processor_seconds(pid), time.monotonic()
        await wait_until(lambda: "cannot accept a connection" in demo.log.read_text(), 10)
        assert await slowest_answer(demo, 5) < SOON_SECONDS
        share = (processor_seconds(pid) - used) / (time.monotonic() - began)
        assert share < 0.5, f"it used {share:.0%} of a core"
    assert demo.log.stat().st_size < LOG_BYTES


async def test_clients_that_never_read_their_answer_are_closed(demo: Daemon) -> None:
    assert len((await demo.get("/metrics")).content) > 10_000
    before, clients = descriptors(demo), []
    for _ in range(20):
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        client.connect(("127.0.0.1", port_of(demo)))
        # Many on one connection: more than any buffer on the way takes.
        client.sendall(b"GET /metrics HTTP/1.1\r\nHost: monitor\r\n\r\n" * 100)
        clients.append(client)
    try:
        assert await slowest_answer(demo, 5) < SOON_SECONDS
        await wait_until(lambda: descriptors(demo) <= before + 5, 120)
    finally:
        for client in clients:
            client.close()


async def test_what_is_not_http_leaves_no_line_in_the_log_for_each(demo: Daemon) -> None:
    async def send(request: bytes) -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", port_of(demo))
        writer.write(request)
        with contextlib.suppress(OSError):
            await writer.drain()
        writer.close()

    upgrade = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"
    digits = b"9" * 5_000
    version = b"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: text/plain; version=" + digits + b"\r\n\r\n"
    for _ in range(50):
        for request in (b"\x16\x03\x01 not HTTP\r\n\r\n", upgrade, version):
            await send(request)
    assert await slowest_answer(demo, 1) < SOON_SECONDS
    assert demo.log.read_text() == ""


async def test_hammering_leaves_the_processor_to_others(demo: Daemon) -> None:
    for path in ("/metrics", "/", "/api/v1/windows", "/-/healthy", "/nothing"):
        async with hammering(port_of(demo), path):
            await asyncio.sleep(1)
            used, began = processor_seconds(demo.process.pid), time.monotonic()
            assert await slowest_answer(demo, 3) < SOON_SECONDS
            share = (processor_seconds(demo.process.pid) - used) / (time.monotonic() - began)
        assert share < 0.6, f"{path}: it used {share:.0%} of a core"

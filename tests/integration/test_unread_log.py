"""The daemon when nobody reads its log: it goes on, counts the lines it drops, and still ends in time."""

import asyncio
import fcntl
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from tests.support.daemon import COMMAND, Daemon
from tests.support.ports import free_port
from tests.support.waiting import wait_until

DROPPED = "ranking_monitor_log_dropped_total"


@asynccontextmanager
async def demo(stderr: int) -> AsyncIterator[Daemon]:
    """The demo, logging at debug: hundreds of lines a second."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        *COMMAND,
        *("demo", "--listen", f"127.0.0.1:{port}"),
        env={**os.environ, "RANKING_MONITOR__LOG__LEVEL": "debug"},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=stderr,
    )
    running = Daemon(process, f"http://127.0.0.1:{port}", log=None)  # type: ignore[arg-type]
    try:
        await wait_until(lambda: running.answers("/-/healthy"), 30)
        yield running
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def test_a_log_that_nobody_reads_stops_nothing_and_what_is_dropped_is_counted() -> None:
    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    os.set_blocking(reading, False)
    try:
        async with demo(writing) as running:
            os.close(writing)

            async def lines_are_dropped() -> bool:
                return await running.total(DROPPED) > 0

            await wait_until(lines_are_dropped, 90, every=0.5)
            records = await running.total("ranking_monitor_records_total")

            async def records_are_read() -> bool:
                return await running.total("ranking_monitor_records_total") > records

            await wait_until(records_are_read, 30, every=0.2)
            assert await running.answers("/-/healthy")

            written = bytearray()

            def the_log_says_what_was_dropped() -> bool:
                with suppress(BlockingIOError):
                    written.extend(os.read(reading, 1 << 20))
                return b" log lines were dropped, because nobody read the log\n" in written

            await wait_until(the_log_says_what_was_dropped, 60)
            # Nobody reads any more: the end does not wait for the log either.
            started = time.monotonic()
            assert await running.stop(signal.SIGTERM) == 0
            assert time.monotonic() - started < 10
    finally:
        os.close(reading)


async def test_the_last_lines_before_the_end_are_in_the_log(tmp_path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as file:
        async with demo(file.fileno()) as running:
            assert await running.stop() == 0
    assert "stopping on SIGTERM" in log.read_text()
    assert "Traceback" not in log.read_text()

"""The queue before the log: bounded, in order, and honest about what it dropped."""

import io
import logging
import os
import threading
import time

import pytest

from monitor.log_queue import FLUSH_SECONDS, LogQueue, dropped
from tests.support import wait_until


def record(words: str) -> logging.LogRecord:
    return logging.LogRecord("monitor", logging.INFO, "", 0, words, None, None)


@pytest.fixture
def pipe():
    """The two ends of a pipe that holds 4 KiB."""
    import fcntl

    reading, writing = os.pipe()
    fcntl.fcntl(writing, fcntl.F_SETPIPE_SZ, 4096)
    with os.fdopen(reading, "rb", buffering=0) as reader, os.fdopen(writing, "w") as writer:
        yield reader, writer


def fill(queue: LogQueue, lines: int) -> None:
    for number in range(lines):
        queue.handle(record(f"line {number:04} {'.' * 100}"))


def test_lines_are_written_in_their_order():
    stream = io.StringIO()
    queue = LogQueue(stream)
    fill(queue, 100)
    queue.flush()
    assert [line.split()[1] for line in stream.getvalue().splitlines()] == [f"{n:04}" for n in range(100)]
    queue.close()


async def test_a_pipe_that_nobody_reads_stops_nobody_and_its_lines_are_counted(pipe):
    reader, writer = pipe
    queue = LogQueue(writer, max_lines=50)
    started = time.monotonic()
    fill(queue, 1000)
    assert time.monotonic() - started < 5
    # 50 lines are queued; at most 4 KiB are in the pipe, and the thread holds one line.
    assert 1000 - 4096 // 105 - 50 - 2 <= queue.dropped <= 1000 - 50
    started = time.monotonic()
    queue.flush()
    assert FLUSH_SECONDS * 0.9 < time.monotonic() - started < FLUSH_SECONDS + 5

    lines: list[bytes] = []
    reading = threading.Thread(target=lambda: lines.extend(reader), daemon=True)
    reading.start()
    await wait_until(lambda: any(b"dropped" in line for line in lines), 10)
    written = [line for line in lines if line.startswith(b"line")]
    assert len(written) + queue.dropped == 1000
    assert written == sorted(written)
    expected = f"{queue.dropped:,} log lines were dropped, because nobody read the log\n".encode()
    assert lines[-1] == expected
    queue.close()
    queue._thread.join(10)
    writer.close()
    reading.join(10)


def test_a_reader_that_is_gone_is_no_error_and_is_counted(pipe):
    reader, writer = pipe
    queue = LogQueue(writer)
    reader.close()
    queue.handle(record("nobody hears this"))
    queue.flush()
    # The line, and the one that says so.
    assert queue.dropped >= 1
    queue.close()
    queue._thread.join(10)


def test_a_pipe_that_does_not_block_gets_every_line(pipe):
    reader, writer = pipe
    os.set_blocking(writer.fileno(), False)
    queue = LogQueue(writer)
    fill(queue, 200)
    lines = [reader.read(1) + reader.readline() for _ in range(200)]
    assert [line.split()[1] for line in lines] == [f"{n:04}".encode() for n in range(200)]
    queue.close()
    queue._thread.join(10)


def test_a_message_that_cannot_be_formatted_ends_nothing(capsys):
    stream = io.StringIO()
    queue = LogQueue(stream)
    queue.handle(logging.LogRecord("monitor", logging.INFO, "", 0, "%d", ("no number",), None))
    queue.handle(record("next"))
    queue.flush()
    assert stream.getvalue() == "next\n"
    assert "Logging error" in capsys.readouterr().err
    queue.close()


def test_the_process_counts_what_its_handlers_dropped():
    root = logging.getLogger()
    queue = LogQueue(io.StringIO())
    root.addHandler(queue)
    try:
        before = dropped()
        queue.dropped += 3
        assert dropped() == before + 3
    finally:
        root.removeHandler(queue)
        queue.close()


def test_a_closed_queue_is_flushed_at_once():
    queue = LogQueue(io.StringIO())
    queue.close()
    queue._thread.join(10)
    started = time.monotonic()
    queue.flush()
    assert time.monotonic() - started < FLUSH_SECONDS / 2

"""A bounded queue between the program and its log: a pipe that nobody reads must not stop the event loop."""

import logging
import os
import select
import threading
import time
from contextlib import suppress
from queue import SimpleQueue
from typing import IO

MAX_LINES = 4096
MAX_LINE_CHARACTERS = 16_384
FLUSH_SECONDS = 0.5
"""How long an ending process waits for its last lines to be read."""
REMIND_SECONDS = 10.0


class LogQueue(logging.Handler):
    """Formats messages where they are logged and writes them in a thread; what is too much is counted."""

    def __init__(self, stream: IO[str], max_lines: int = MAX_LINES) -> None:
        super().__init__()
        self.dropped = 0
        """Lines that were not written: the queue was full, or the stream broken."""
        self._max_lines = max_lines
        self._stream = stream
        # Not a Queue: its lock is not re-entrant, and signal handlers log.
        self._lines: SimpleQueue[str | threading.Event | None] = SimpleQueue()
        """An event is set when all before it is written; None ends the thread."""
        self._reported, self._reported_at = 0, time.monotonic()
        self._thread = threading.Thread(target=self._write_all, name="log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = self.format(record)
        except Exception:  # noqa: BLE001 - a message that cannot be formatted must not end the program
            self.handleError(record)
            return
        if self._lines.qsize() >= self._max_lines:
            self.dropped += 1
            return
        self._lines.put(line[:MAX_LINE_CHARACTERS])

    def flush(self) -> None:
        """Wait until all is written, but not for ever: perhaps nobody reads it."""
        if self._thread.is_alive():
            self._lines.put(written := threading.Event())
            written.wait(FLUSH_SECONDS)

    def close(self) -> None:
        """End the thread once it has written what is queued."""
        self._lines.put(None)
        super().close()

    def _write_all(self) -> None:
        while (item := self._lines.get()) is not None:
            if isinstance(item, str):
                self._write(item)
            if self.dropped > self._reported and self._should_report():
                self._report()
            if isinstance(item, threading.Event):
                item.set()

    def _should_report(self) -> bool:
        return self._lines.empty() or time.monotonic() - self._reported_at > REMIND_SECONDS

    def _report(self) -> None:
        count, self._reported, self._reported_at = (
            self.dropped - self._reported,
            self.dropped,
            time.monotonic(),
        )
        words = f"{count:,} log line{' was' if count == 1 else 's were'} dropped, because nobody read the log"
        self._write(self.format(logging.LogRecord(__name__, logging.WARNING, "", 0, words, None, None)))

    def _write(self, line: str) -> None:
        try:
            _write_whole(self._stream, line + "\n")
        except (OSError, ValueError):  # the reader is gone, or the stream is closed
            self.dropped += 1


def _write_whole(stream: IO[str], text: str) -> None:
    """Write past Python's buffer: a thread that blocks within it would abort the process at its end."""
    fd = None
    with suppress(OSError, AttributeError):  # a stream without a file, as tests have
        fd = stream.fileno()
    if fd is None:
        stream.write(text)
        return
    left = memoryview(text.encode(errors="backslashreplace"))
    while left:
        try:
            left = left[os.write(fd, left) :]
        except BlockingIOError:
            select.select([], [fd], [])


def dropped() -> int:
    """How many log lines of this process were dropped."""
    return sum(each.dropped for each in logging.getLogger().handlers if isinstance(each, LogQueue))

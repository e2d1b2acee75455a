"""A file of events, one JSON object a line: plain or gzip, or standard input."""

import codecs
import gzip
import io
import sys
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from monitor.events import MAX_RECORD_BYTES
from monitor.sources.base import Poll, SourceError, SourceStatus
from monitor.stream.records import Chunk, Role, Start, TopicPartition

LINES_A_POLL = 5000
BYTES_A_POLL = 16 << 20
READ_BYTES = MAX_RECORD_BYTES + 2
"""Of a line: as much as shows that it is over the size limit."""
GZIP_MAGIC = b"\x1f\x8b"


class Line(NamedTuple):
    """A record of a file: it has no key, and the clock stands for its time of arrival."""

    value: bytes
    offset: int
    key: bytes | None = None
    timestamp: int = 0
    timestamp_type: int | None = None


class JsonlSource:
    """Reads the file once, from its beginning to its end; empty lines are no records."""

    def __init__(
        self,
        path: Path,
        clock: Callable[[], float] = time.time,
        progress: Callable[[int], None] = lambda _: None,
    ) -> None:
        """`path` may be `-` for standard input; `progress` is told how many bytes of the file were read."""
        self.topic = "stdin" if str(path) == "-" else path.name
        self.roles: Mapping[str, Role] = {self.topic: Role.EVENTS}
        self._path = path
        self._clock = clock
        self._progress = progress
        self._offsets = count()
        self._started = False
        self._at_start = True

    async def start(self) -> None:
        try:
            raw = sys.stdin.buffer if str(self._path) == "-" else self._path.open("rb")
        except OSError as error:
            raise SourceError(f'cannot read "{self._path}": {error.strerror}') from None
        self._raw = cast("io.BufferedReader", raw)
        zipped = self._raw.peek(2)[:2] == GZIP_MAGIC
        # Closed by stop(), as a source is.
        self._lines = cast("BinaryIO", gzip.open(self._raw) if zipped else self._raw)  # noqa: SIM115

    async def poll(self) -> Poll:
        assigned: dict[TopicPartition, Start] | None = None
        if not self._started:
            assigned = {(self.topic, 0): Start(0, "", fresh=True, from_beginning=True)}
            self._started = True
        lines = self._read()
        if self._raw.seekable():
            self._progress(self._raw.tell())
        chunks = [Chunk(self.topic, 0, lines)] if lines else []
        return Poll(self._clock(), chunks, assigned, finished=not lines)

    async def commit(self, offsets: Mapping[TopicPartition, tuple[int, str]]) -> bool:  # noqa: ARG002
        """A file is read from its beginning each time."""
        return True

    async def confirm(self) -> bool:
        """A file has one reader."""
        return True

    def status(self) -> SourceStatus:
        return SourceStatus(ready=True)

    async def stop(self) -> None:
        self._lines.close()
        self._raw.close()

    def _read(self) -> Sequence[Line]:
        lines: list[Line] = []
        size = 0
        # For each of millions of lines: names that are looked up once.
        readline, offsets = self._lines.readline, self._offsets
        try:
            while len(lines) < LINES_A_POLL and size < BYTES_A_POLL and (line := readline(READ_BYTES)):
                if len(line) <= MAX_RECORD_BYTES or line.endswith(b"\n"):
                    value = line.strip()
                else:
                    value = line
                    self._skip_line()
                if self._at_start:
                    value, self._at_start = value.removeprefix(codecs.BOM_UTF8), False
                if value:
                    lines.append(Line(value, next(offsets)))
                    size += len(value)
        except (EOFError, OSError, zlib.error) as error:
            raise SourceError(
                f'"{self._path}" is damaged after line {next(self._offsets)}: {error}'
            ) from None
        return lines

    def _skip_line(self) -> None:
        """Read to the end of a line that is over the size limit, and keep nothing of it."""
        while (rest := self._lines.readline(MAX_RECORD_BYTES)) and not rest.endswith(b"\n"):
            pass

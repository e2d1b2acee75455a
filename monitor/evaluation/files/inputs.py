"""Files that people bring: plain or gzip, read in blocks of whole lines, every mistake with its place."""

import gzip
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from monitor.mistakes import Mistake
from monitor.visible import visible

# Small enough for the fields of a block to stay in the processor's cache: twice as fast as 256 KiB.
BLOCK_BYTES = 1 << 16
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
JSON_BLANKS = b" \t\n\r"
"""JSON's white space; a vertical tab or a form feed is none."""
LONGEST_SHOWN = 40
GZIP_MAGIC = b"\x1f\x8b"

Progress = Callable[[int], None]
"""Told how many bytes of the file, as it is on the disk, were read."""


class InputError(Mistake):
    """A file cannot be used; the message is one line that names the place."""

    def __init__(self, message: str) -> None:
        super().__init__(visible(message))


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, compressed or not; what goes wrong while it is read is an InputError.

    What cannot go back to its start, as a pipe, is copied to a temporary file first: parts are read twice.
    """
    try:
        with path.open("rb") as given, _seekable(given) as raw:
            packed = path.suffix == ".gz" or raw.read(len(GZIP_MAGIC)) == GZIP_MAGIC
            raw.seek(0)
            if packed:
                with gzip.GzipFile(fileobj=raw) as file:
                    yield cast("IO[bytes]", file)
            else:
                yield raw
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f'cannot read "{path}": {reason}') from None


@contextmanager
def _seekable(file: IO[bytes]) -> Iterator[IO[bytes]]:
    if file.seekable():
        yield file
        return
    with tempfile.TemporaryFile() as copy:
        shutil.copyfileobj(file, copy)
        copy.seek(0)
        yield copy


def first_byte(file: IO[bytes]) -> bytes:
    """Return the first byte after a byte order mark and JSON's white space, and go back to the start."""
    if file.read(len(BYTE_ORDER_MARK)) != BYTE_ORDER_MARK:
        file.seek(0)
    byte = file.read(1)
    while byte and byte in JSON_BLANKS:
        byte = file.read(1)
    file.seek(0)
    return byte


def blocks(file: IO[bytes], progress: Progress | None = None) -> Iterator[tuple[int, bytes]]:
    r"""Cut a file into blocks of whole lines, each with the number of its first line.

    >>> import io
    >>> list(blocks(io.BytesIO(b"one\ntwo")))
    [(1, b'one\n'), (2, b'two\n')]
    """
    number, rest = 1, [file.read(len(BYTE_ORDER_MARK)).removeprefix(BYTE_ORDER_MARK)]
    while chunk := file.read(BLOCK_BYTES):
        end = chunk.rfind(b"\n") + 1
        if not end:
            rest.append(chunk)
            continue
        block = b"".join((*rest, chunk[:end]))
        yield number, block
        number += block.count(b"\n")
        rest = [chunk[end:]]
        if progress is not None:
            progress(position(file))
    if last := b"".join(rest):
        yield number, last + b"\n"


def lines(file: IO[bytes], progress: Progress | None = None) -> Iterator[tuple[int, bytes]]:
    """Return each line that is not empty, with its number."""
    for first, block in blocks(file, progress):
        for number, line in enumerate(block.split(b"\n"), start=first):
            if line.strip():
                yield number, line


def shown(text: str) -> str:
    """Return what a file holds, cut where it is too long for a message."""
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 1] + "…"


def position(file: IO[bytes]) -> int:
    """Return how much of the file was read, as it is on the disk: compressed, if it is."""
    on_disk: IO[bytes] = getattr(file, "fileobj", None) or file
    return on_disk.tell()

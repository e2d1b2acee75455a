"""TREC files: lines of so many fields with white space between them."""

import math
from collections.abc import Iterator
from operator import ne
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from monitor.evaluation.files.inputs import BYTE_ORDER_MARK, InputError, Progress, blocks, first_byte

MARK = "\0"
"""Stands at the end of each line while the fields are told apart."""
LONGEST_FIRST_LINE = 4096
"""Bytes that are looked at to tell the format: the line of a TREC file is shorter."""
NOT_BETWEEN_FIELDS = "\x1c\x1d\x1e\x1f"
"""ASCII that `str.split` takes for white space, and a TREC file does not."""


class Layout(NamedTuple):
    """What a file is called, and what stands on each of its lines."""

    name: str
    line: str
    number: int
    """Which field, from 0, is a number."""

    @property
    def fields(self) -> int:
        """How many fields a line has."""
        return len(self.line.split())


RUN = Layout("a TREC run", "query Q0 document rank score tag", number=4)
QRELS = Layout("TREC qrels", "query 0 document grade", number=3)


class Lines:
    """Some lines of a file, field by field."""

    def __init__(self, path: Path, first: int, text: str, layout: Layout) -> None:
        self._path, self._first, self._text, self._layout = path, first, text, layout
        self._stride = layout.fields + 1
        # One split for all lines. Where every line has its number of fields, every mark has its place,
        # and there is no other: an empty line brings a mark that could be taken for a missing field.
        tokens = [] if MARK in text else _split(text.replace("\n", f" {MARK} "))
        marks = tokens[layout.fields :: self._stride]
        in_place = len(marks) * self._stride == len(tokens) and marks.count(MARK) == len(marks)
        if not in_place or text.count("\n") != len(marks) or not tokens:
            tokens = list(self._one_by_one())
        self._tokens = tokens

    def column(self, index: int) -> list[str]:
        """Return one field of every line."""
        return self._tokens[index :: self._stride]

    def rows(self) -> Iterator[tuple[str, list[str]]]:
        """Return the fields of each line that is not empty, with its place in words."""
        for number, line in enumerate(self._text.split("\n"), start=self._first):
            if fields := _split(line):
                yield f"{self._path}:{number}: read as {self._layout.name}", fields

    def _one_by_one(self) -> Iterator[str]:
        for where, fields in self.rows():
            if len(fields) != self._layout.fields:
                raise InputError(f"{where}: {len(fields)} fields; a line is `{self._layout.line}`")
            yield from fields
            yield MARK


def read_lines(
    path: Path, file: IO[bytes], layout: Layout, progress: Progress | None = None
) -> Iterator[Lines]:
    """Read a file, many lines at a time; a line with another number of fields is an InputError."""
    for number, block in blocks(file, progress):
        try:
            text = block.decode()
        except UnicodeDecodeError as error:
            line = number + block.count(b"\n", 0, error.start)
            raise InputError(f"{path}:{line}: read as {layout.name}: not UTF-8") from None
        yield Lines(path, number, text, layout)


def is_json(file: IO[bytes], layout: Layout) -> bool:
    r"""Tell JSON from lines of fields, of which the first may begin with a bracket too.

    >>> import io
    >>> is_json(io.BytesIO(b'{"q1": {"d3": 2}}'), QRELS), is_json(io.BytesIO(b"[q1] 0 d3 2\n"), QRELS)
    (True, False)
    """
    if first_byte(file) not in (b"{", b"["):
        return False
    start = b""
    while not start.strip():
        start = file.readline(LONGEST_FIRST_LINE).removeprefix(BYTE_ORDER_MARK)
    file.seek(0)
    fields = start.split()
    if len(fields) != layout.fields or len(fields[0]) == 1 or b'"' in fields[0]:
        return True
    try:
        finite(fields[layout.number].decode())
    except ValueError:
        return True
    return False


def finite(text: str) -> float:
    """Return the number that a field holds; ValueError where it is none, as in `nan`, `inf` and `1_0`."""
    number = float(text)
    if "_" in text or not math.isfinite(number):
        raise ValueError(text)
    return number


def stretches(values: list[str]) -> list[int]:
    """Return where each stretch of equal values begins, and the end.

    >>> stretches(["q1", "q1", "q2"])
    [0, 2, 3]
    """
    if not values:
        return []
    changes = np.fromiter(map(ne, values[1:], values), np.bool_, len(values) - 1)
    return [0, *(np.flatnonzero(changes) + 1).tolist(), len(values)]


def _split(text: str) -> list[str]:
    if text.isascii() and not any(mark in text for mark in NOT_BETWEEN_FIELDS):
        return text.split()
    return [field.decode() for field in text.encode().split()]

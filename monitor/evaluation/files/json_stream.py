"""Large JSON files, member by member: neither the text nor its values are held as a whole."""

import codecs
import json
import re
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import IO, Any, TypeAlias

from monitor.evaluation.files.inputs import BLOCK_BYTES, InputError, Progress, position

Member: TypeAlias = tuple[str | int, Any]
"""Name and value; in a list the number, from 1, is the name."""

CLOSING = {"{": "}", "[": "]"}
"""What an object or a list ends with, by what it begins with."""
LONGEST_WORD = len("-Infinity")
MOST_FIELDS = 50
_blanks = re.compile(r"[ \t\n\r]*").match
_decode = json.JSONDecoder().raw_decode


def members(path: Path, file: IO[bytes], progress: Progress | None = None) -> Iterator[Member]:
    """Return the members of the object or of the list that a file holds.

    >>> import io
    >>> list(members(Path("run.json"), io.BytesIO(b'{"q1": ["d3"], "q2": []}')))
    [('q1', ['d3']), ('q2', [])]
    """
    text = _Text(path, file, progress)
    closing = text.open()
    for number in count(1):
        member = text.take(closing, number)
        if member is None:
            text.expect_end()
            return
        yield member


def holds_records(path: Path, file: IO[bytes]) -> bool:
    """Tell JSON lines, a record with a `query_id` or a `type` each, from one object with a member a query."""
    try:
        for name, value in islice(members(path, file), MOST_FIELDS):
            if name in ("query_id", "type") and not isinstance(value, dict | list):
                return True
    except InputError:
        pass  # told by whoever reads the file
    finally:
        file.seek(0)
    return False


class _Text:
    """What is in memory of a file, and how far it was used."""

    def __init__(self, path: Path, file: IO[bytes], progress: Progress | None) -> None:
        self._path, self._file, self._progress = path, file, progress
        self._utf8 = codecs.getincrementaldecoder("utf-8-sig")()
        self._held, self._used, self._line = "", 0, 1
        self._size = BLOCK_BYTES

    def open(self) -> str:
        """Go into the object or list; what it will end with."""
        while not self._held[_after_blanks(self._held, 0) :] and self._read_on():
            pass
        start = _after_blanks(self._held, 0)
        self._used = start + 1
        opening = self._held[start : self._used]
        if opening not in CLOSING:
            raise self._error('it must begin with "{" or "["', start)
        return CLOSING[opening]

    def take(self, closing: str, number: int) -> Member | None:
        """Return the next member; None at the end of the object or list."""
        while True:
            try:
                member, self._used = _member(self._held, self._used, closing, number)
            except IndexError:
                message, at = "it ends too early", len(self._held)
            except json.JSONDecodeError as error:
                message, at = error.msg, error.pos
            except RecursionError:
                raise self._error("nested too deep", self._used) from None
            except UnicodeEncodeError:
                raise self._error("half of a surrogate pair, which is no character", self._used) from None
            except ValueError:
                raise self._error("a number of too many digits", self._used) from None
            else:
                return member
            goes_on = message.startswith("Unterminated") or at >= len(self._held) - LONGEST_WORD
            if not (goes_on and self._read_on()):
                raise self._error(message, at)

    def expect_end(self) -> None:
        """Refuse what stands behind the object or list."""
        while True:
            at = _after_blanks(self._held, self._used)
            if at < len(self._held):
                raise self._error("there is more behind its end", at)
            self._used = at
            if not self._read_on():
                return

    def _read_on(self) -> bool:
        """Forget what was used and read more, twice as much if nothing was; False at the end of the file."""
        self._line += self._held.count("\n", 0, self._used)
        self._size = BLOCK_BYTES if self._used else 2 * self._size
        self._held, self._used = self._held[self._used :], 0
        chunk = self._file.read(self._size)
        try:
            self._held += self._utf8.decode(chunk, final=not chunk)
        except UnicodeDecodeError:
            raise self._error("not UTF-8", len(self._held)) from None
        if self._progress is not None:
            self._progress(position(self._file))
        return bool(chunk)

    def _error(self, message: str, at: int) -> InputError:
        line = self._line + self._held.count("\n", 0, at)
        return InputError(f"{self._path}:{line}: read as JSON: {message}")


def _member(text: str, at: int, closing: str, number: int) -> tuple[Member | None, int]:
    start = at = _after_blanks(text, at)
    if text[at] == closing:
        return None, at + 1
    if number > 1:
        at = _after(",", text, at)
    name: Any = number
    if closing == "}":
        name, end = _decode(text, at)
        if not isinstance(name, str):
            raise json.JSONDecodeError("Expecting a name in double quotes", text, at)
        at = _after(":", text, end)
    value, at = _decode(text, at)
    if text.find("\\u", start, at) >= 0:
        json.dumps((name, value), ensure_ascii=False).encode()  # UnicodeEncodeError where it is no text
    return (name, value), at


def _after(mark: str, text: str, at: int) -> int:
    at = _after_blanks(text, at)
    if text[at] != mark:
        raise json.JSONDecodeError(f"Expecting '{mark}' delimiter", text, at)
    return _after_blanks(text, at + 1)


def _after_blanks(text: str, at: int) -> int:
    match = _blanks(text, at)
    return match.end() if match else at

"""Relevance judgments from files: TREC qrels, JSON or JSON lines."""

import gzip
import json
import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple, cast


class InputError(Exception):
    """A file cannot be used; the message is one line that names the place."""


class Grade(NamedTuple):
    """One judgment as a file has it."""

    query: str
    key: str
    grade: float | None
    ts: float | str | None = None
    assessor: str | None = None
    target: str | None = None


def read_qrels(path: Path) -> Iterator[Grade]:
    """Read judgments; the content tells the format.

    TREC: `query 0 document grade` on each line. JSON: `{"q1": {"d3": 2, "d1": 0.5}}`, or a list of objects
    with `query_id`, `key` and `grade`, and `ts`, `assessor` and `target` where known, as in judgment events.
    JSON lines: one such object a line. In JSON, a grade of `null` withdraws the judgment.
    """
    try:
        with _open(path) as file:
            begin = file.read(1)
            while begin.isspace():
                begin = file.read(1)
            file.seek(0)
            yield from _json(path, file) if begin in ("{", "[") else _trec(path, file)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f'cannot read "{path}": {reason}') from None


def _open(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return cast("IO[str]", gzip.open(path, "rt", encoding="utf-8-sig"))
    return path.open(encoding="utf-8-sig")


def _trec(path: Path, file: IO[str]) -> Iterator[Grade]:
    for number, line in enumerate(file, start=1):
        fields = line.split()
        if not fields:
            continue
        where = f"{path}:{number}: read as TREC qrels"
        if len(fields) != 4:
            raise InputError(f"{where}: {len(fields)} fields; a line is `query 0 document grade`")
        yield Grade(fields[0], fields[2], _number(fields[3], where))


def _json(path: Path, file: IO[str]) -> Iterator[Grade]:
    first = file.readline()
    try:
        record = json.loads(first)
    except ValueError:
        record = None
    file.seek(0)
    if isinstance(record, dict) and "query_id" in record:
        yield from _json_lines(path, file)
        return
    try:
        whole = json.load(file)
    except ValueError as error:
        raise InputError(f"{path}: read as JSON: {error}") from None
    yield from _json_list(path, whole) if isinstance(whole, list) else _json_mapping(path, whole)


def _json_mapping(path: Path, whole: dict[str, Any]) -> Iterator[Grade]:
    for query, documents in whole.items():
        where = f'{path}: read as a JSON object: query "{query}"'
        if not isinstance(documents, dict):
            raise InputError(f'{where} must map documents to grades, as {{"q1": {{"d3": 2}}}}')
        for key, grade in documents.items():
            yield Grade(query, key, _grade(grade, f'{where}, document "{key}"'))


def _json_list(path: Path, whole: list[Any]) -> Iterator[Grade]:
    for number, record in enumerate(whole, start=1):
        yield _judgment(record, f"{path}: read as a JSON list: item {number}")


def _json_lines(path: Path, file: IO[str]) -> Iterator[Grade]:
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}: read as JSON lines"
        try:
            record = json.loads(line)
        except ValueError as error:
            raise InputError(f"{where}: {error}") from None
        yield _judgment(record, where)


def _judgment(record: Any, where: str) -> Grade:
    if not isinstance(record, dict) or not {"query_id", "key", "grade"} <= record.keys():
        raise InputError(f'{where}: needs "query_id", "key" and "grade"')
    if record.get("type", "judgment") != "judgment":
        raise InputError(f'{where}: type is "{record["type"]}"; only judgments can be loaded')
    return Grade(
        str(record["query_id"]), str(record["key"]), _grade(record["grade"], where),
        record.get("ts"), record.get("assessor"), record.get("target"),
    )  # fmt: skip


def _grade(value: Any, where: str) -> float | None:
    return None if value is None else _number(value, where)


def _number(value: Any, where: str) -> float:
    try:
        grade = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        grade = math.nan
    if not math.isfinite(grade):
        raise InputError(f'{where}: grade "{value}" is not a number')
    return grade

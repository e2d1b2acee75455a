"""Relevance judgments from files: TREC qrels, JSON or JSON lines."""

import math
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

import msgspec

from monitor.evaluation.files import trec
from monitor.evaluation.files.inputs import InputError, Progress, lines, opened, shown
from monitor.evaluation.files.json_stream import holds_records, members

NEEDED = 'needs "query_id", "key" and "grade"'
NUMBERS = frozenset({int, float})

Name = TypeVar("Name")


class Grade(NamedTuple):
    """One judgment as a file has it."""

    query: str
    key: str
    grade: float | None
    ts: float | str | None = None
    assessor: str | None = None
    target: str | None = None


class _Record(msgspec.Struct, gc=False):
    """As much of a judgment event as is needed; here a key may be a number, as in runs."""

    query_id: str | int
    key: str | int
    grade: float | None
    type: str = "judgment"
    ts: float | str | None = None
    assessor: str | None = None
    target: str | None = None


_decode = msgspec.json.Decoder(_Record).decode
_convert = partial(msgspec.convert, type=_Record)


@dataclass(frozen=True, slots=True)
class Qrels:
    """The judgments of a test collection."""

    grades: dict[str, dict[str, float]]
    """Query, key, grade; the queries in the order of the file."""
    targets: dict[str, dict[str, str]]
    """Query, key, target: the identity for de-duplication, only where the file names one."""


def load_qrels(path: Path, progress: Progress | None = None) -> Qrels:
    """Read all judgments of a file, in any of the forms of `read_qrels`.

    Of what one assessor said of a document the last counts (what no assessor's name stands with, is one more
    assessor's); `null` withdraws it. Of several assessors the mean counts. So where TREC qrels, which name no
    assessor, judge a document twice, the last line counts. A query without a judgment that holds is not
    judged.
    """
    with opened(path) as file:
        if trec.is_json(file, trec.QRELS):
            qrels = combined(_json(path, file, progress))
        else:
            qrels = Qrels(_trec_grades(path, file, progress), {})
    if not qrels.grades:
        raise InputError(f"{path}: no judgment in it")
    return qrels


def combined(judgments: Iterable[Grade]) -> Qrels:
    """Make one grade of each document's judgments, as `load_qrels` says."""
    grades: dict[str, dict[str, float]] = {}
    by_assessor: dict[tuple[str, str], dict[str | None, float]] = {}
    targets: dict[str, dict[str, str]] = {}
    same = _Numbers()
    for query, key, grade, _, assessor, target in judgments:
        of_query = grades.setdefault(query, {})
        told = by_assessor.get((query, key))
        if told is None and assessor is not None:
            told = by_assessor[query, key] = {None: of_query[key]} if key in of_query else {}
        if told is not None:
            _set(told, assessor, grade)
        holds = grade if told is None else _mean(told.values()) if told else None
        _set(of_query, key, None if holds is None else same[holds])
        if target is not None:
            targets.setdefault(query, {})[key] = target
    return Qrels(
        {query: of_query for query, of_query in grades.items() if of_query},
        {
            query: {key: target for key, target in named.items() if key in grades[query]}
            for query, named in targets.items()
            if not named.keys().isdisjoint(grades[query])
        },
    )


def read_qrels(path: Path) -> Iterator[Grade]:
    """Read judgments; the content tells the format, and gzip from plain text.

    TREC: `query 0 document grade` on each line. JSON: `{"q1": {"d3": 2, "d1": 0.5}}`, or a list of objects
    with `query_id`, `key` and `grade`, and `ts`, `assessor` and `target` where known, as in judgment events.
    JSON lines: one such object a line. In JSON, a grade of `null` withdraws the judgment.
    """
    with opened(path) as file:
        yield from _json(path, file) if trec.is_json(file, trec.QRELS) else _trec(path, file)


def _trec(path: Path, file: IO[bytes]) -> Iterator[Grade]:
    for lines_read in trec.read_lines(path, file, trec.QRELS):
        for where, (query, _, key, grade) in lines_read.rows():
            yield Grade(query, key, _number(grade, where))


def _trec_grades(path: Path, file: IO[bytes], progress: Progress | None) -> dict[str, dict[str, float]]:
    """Read the same as `_trec`, many lines at a time."""
    grades: dict[str, dict[str, float]] = {}
    for lines_read in trec.read_lines(path, file, trec.QRELS, progress):
        queries, keys = lines_read.column(0), lines_read.column(2)
        try:
            values = list(map(_Numbers().__getitem__, lines_read.column(3)))
        except ValueError:
            for where, fields in lines_read.rows():
                _number(fields[3], where)
            raise
        bounds = trec.stretches(queries)
        for start, end in pairwise(bounds):
            part = dict(zip(keys[start:end], values[start:end], strict=True))
            known = grades.setdefault(queries[start], part)
            if known is not part:
                known |= part
    return grades


def _json(path: Path, file: IO[bytes], progress: Progress | None = None) -> Iterator[Grade]:
    if holds_records(path, file):
        for number, line in lines(file, progress):
            yield _judgment(line, f"{path}:{number}: read as JSON lines", _decode)
        return
    for name, value in members(path, file, progress):
        if isinstance(name, int):
            yield _judgment(value, f"{path}: read as a JSON list: item {name}", _convert)
        else:
            yield from _of_query(name, value, f'{path}: read as a JSON object: query "{name}"')


def _of_query(query: str, documents: Any, where: str) -> Iterator[Grade]:
    if not isinstance(documents, dict):
        raise InputError(f'{where} must map documents to grades, as {{"q1": {{"d3": 2}}}}')
    for key, grade in documents.items():
        if grade is not None and (type(grade) not in NUMBERS or not abs(grade) <= sys.float_info.max):
            raise _no_number(f'{where}, document "{key}"', str(grade))
        yield Grade(query, key, None if grade is None else float(grade))


def _judgment(sent: Any, where: str, read: Callable[[Any], _Record]) -> Grade:
    try:
        record = read(sent)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        missing = str(error).startswith("Object missing required field")
        raise InputError(f"{where}: {NEEDED if missing else error}") from None
    if record.type != "judgment":
        raise InputError(f'{where}: type is "{record.type}"; only judgments can be loaded')
    if record.grade is not None and not math.isfinite(record.grade):
        raise _no_number(where, str(record.grade))
    return Grade(
        str(record.query_id), str(record.key), record.grade, record.ts, record.assessor, record.target
    )


def _set(grades: dict[Name, float], name: Name, grade: float | None) -> None:
    """Set a grade, or take it back."""
    if grade is None:
        grades.pop(name, None)
    else:
        grades[name] = grade


def _mean(grades: Collection[float]) -> float:
    total = sum(grades)
    return total / len(grades) if math.isfinite(total) else sum(grade / len(grades) for grade in grades)


def _number(text: str, where: str) -> float:
    try:
        return trec.finite(text)
    except ValueError:
        raise _no_number(where, text) from None


def _no_number(where: str, sent: str) -> InputError:
    return InputError(f'{where}: grade "{shown(sent)}" is not a number')


class _Numbers(dict[Any, Any]):
    """Numbers by what stands in a file, so that equal grades are one object; ValueError where it is none."""

    def __missing__(self, sent: str | float) -> float:
        number = trec.finite(sent) if isinstance(sent, str) else sent
        self[sent] = number
        return number

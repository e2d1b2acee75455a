"""Runs in JSON: one object with a member a query, or records of one query each."""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, Any

import msgspec

from monitor.evaluation.files.inputs import InputError, Progress, lines, shown
from monitor.evaluation.files.json_stream import holds_records, members
from monitor.evaluation.rankings import Ranking, by_score, once
from monitor.events import NotNegative, Reason, embedding_matrix
from monitor.metrics import Floats32

OTHER_EVENTS = frozenset({"click", "dwell", "outcome", "judgment"})
NUMBERS = frozenset({int, float})


class _Ranked(msgspec.Struct, gc=False):
    key: str | int


class _Record(msgspec.Struct, gc=False):
    """As much of an impression as a run needs; what is missing in other events is optional."""

    type: str = "impression"
    query_id: str | int | None = None
    ranked: list[str | int | _Ranked] | None = None
    latency_seconds: NotNegative | None = None
    embeddings: list[list[float] | bytes] | None = None


_decode = msgspec.json.Decoder(_Record).decode
_convert = partial(msgspec.convert, type=_Record)


def read_json_run(path: Path, file: IO[bytes], progress: Progress | None = None) -> Iterator[Ranking]:
    """Read a run in any of the JSON forms."""
    if holds_records(path, file):
        for number, line in lines(file, progress):
            yield from _record(line, f"{path}:{number}: read as JSON lines", _decode)
        return
    for name, value in members(path, file, progress):
        if isinstance(name, str):
            yield _ranking(name, value, f'{path}: read as a JSON object: query "{name}"')
        else:
            yield from _record(value, f"{path}: read as a JSON list: item {name}", _convert)


def _ranking(query: str, ranked: Any, where: str) -> Ranking:
    if isinstance(ranked, list):
        for rank, key in enumerate(ranked, start=1):
            if not isinstance(key, str):
                raise InputError(f"{where}: rank {rank} is {_shown(key)}; give the document's id as text")
        return Ranking(query, once(ranked))
    if isinstance(ranked, dict):
        for key, score in ranked.items():
            if type(score) not in NUMBERS or not abs(score) <= sys.float_info.max:
                raise InputError(f'{where}, document "{key}": score {_shown(score)} is not a number')
        return Ranking(query, by_score(ranked, ranked.values()))
    raise InputError(f'{where} must have ranked documents, as ["d3", "d1"], or scores, as {{"d3": 1.7}}')


def _record(sent: Any, where: str, read: Callable[[Any], _Record]) -> Iterator[Ranking]:
    """Return the ranking of an impression; nothing for other events."""
    try:
        record = read(sent)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{where}: {error}") from None
    if record.type in OTHER_EVENTS:
        return
    if record.type != "impression":
        raise InputError(f'{where}: type is "{record.type}"; a run has impressions')
    if record.query_id is None or record.ranked is None:
        raise InputError(f'{where}: needs "query_id" and "ranked"')
    keys = [str(ranked.key if isinstance(ranked, _Ranked) else ranked) for ranked in record.ranked]
    first = {key: rank for rank, key in reversed([*enumerate(keys)])}
    vectors = None if record.embeddings is None else _vectors(record.embeddings, len(keys), where)
    if vectors is not None and len(first) < len(keys):
        vectors = vectors[sorted(first.values())]
    yield Ranking(str(record.query_id), once(keys), record.latency_seconds, vectors)


def _vectors(sent: list[list[float] | bytes], count: int, where: str) -> Floats32:
    vectors = embedding_matrix(sent, count)
    if isinstance(vectors, Reason):
        raise InputError(f"{where}: embeddings must be one vector of finite numbers for each ranked key")
    return vectors


def _shown(value: Any) -> str:
    return shown(str(value) if isinstance(value, float) else msgspec.json.encode(value).decode())

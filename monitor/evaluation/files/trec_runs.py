"""TREC runs: scored documents, query by query."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path
from typing import IO, NamedTuple

import msgspec
import numpy as np

from monitor.evaluation.files import trec
from monitor.evaluation.files.inputs import InputError, Progress, shown
from monitor.evaluation.rankings import Ranking, by_score, once
from monitor.metrics import Floats

_decode = msgspec.json.Decoder(list[float]).decode


class Columns(NamedTuple):
    """Some lines of a run, what matters of them."""

    queries: list[str]
    keys: list[str]
    scores: Floats

    def part(self, start: int, end: int) -> "Columns":
        """Return some of the lines."""
        return Columns(self.queries[start:end], self.keys[start:end], self.scores[start:end])


def read_trec_run(path: Path, file: IO[bytes], progress: Progress | None = None) -> Iterator[Ranking]:
    """Read a run; the rank column is ignored.

    A query that comes back after other queries is told again at the end, with all of its lines: the file is
    read a second time for such queries, and they are held in memory.
    """
    told: set[str] = set()
    scattered: dict[str, tuple[list[str], list[float]]] = {}
    for columns in _whole_queries(_columns(path, file, progress)):
        for ranking in _rankings(columns):
            if ranking.query in told:
                scattered[ranking.query] = [], []
            else:
                told.add(ranking.query)
                yield ranking
    if not scattered:
        return
    file.seek(0)
    for queries, keys, scores in _columns(path, file, progress):
        for start, end in pairwise(trec.stretches(queries)):
            if (held := scattered.get(queries[start])) is not None:
                held[0].extend(keys[start:end])
                held[1].extend(scores[start:end].tolist())
    for query, (all_keys, all_scores) in scattered.items():
        yield Ranking(query, by_score(all_keys, all_scores))


def _columns(path: Path, file: IO[bytes], progress: Progress | None) -> Iterator[Columns]:
    for lines in trec.read_lines(path, file, trec.RUN, progress):
        yield Columns(lines.column(0), lines.column(2), _scores(lines))


def _whole_queries(blocks: Iterable[Columns]) -> Iterator[Columns]:
    """Move the lines of each block's last query to the next block, where the query may go on."""
    held: list[Columns] = []
    for block in blocks:
        queries = block.queries
        start = len(queries)
        while start and queries[start - 1] == queries[-1]:
            start -= 1
        if start or (held and queries and queries[0] != held[0].queries[0]):
            yield _joined([*held, block.part(0, start)])
            held = []
        if queries:
            held.append(block.part(start, len(queries)))
    if held:
        yield _joined(held)


def _joined(parts: Sequence[Columns]) -> Columns:
    return Columns(
        list(chain.from_iterable(part.queries for part in parts)),
        list(chain.from_iterable(part.keys for part in parts)),
        np.concatenate([part.scores for part in parts]),
    )


def _rankings(columns: Columns) -> Iterator[Ranking]:
    """Return a ranking for each stretch of lines of one query."""
    queries, all_keys, scores = columns
    bounds = trec.stretches(queries)
    mixed = _not_in_order(scores, bounds)
    for number, (start, end) in enumerate(pairwise(bounds)):
        keys = all_keys[start:end]
        if number in mixed:
            keys = by_score(keys, scores[start:end])
        elif len(set(keys)) < len(keys):
            keys = once(keys)
        yield Ranking(queries[start], keys)


def _not_in_order(scores: Floats, bounds: list[int]) -> set[int]:
    """Return which stretches have a score that is not below the one before, in single precision."""
    with np.errstate(over="ignore"):
        single = scores.astype(np.float32)
    not_below = single[1:] >= single[:-1]
    not_below[np.array(bounds[1:-1], dtype=np.int64) - 1] = False  # another query begins
    return set((np.searchsorted(bounds, np.flatnonzero(not_below), side="right") - 1).tolist())


def _scores(lines: trec.Lines) -> Floats:
    column = lines.column(4)
    try:
        # Five times as fast as `float`, for scores in the form of JSON numbers: nearly all.
        numbers = _decode(f"[{','.join(column)}]")
    except msgspec.MsgspecError:
        numbers = []
    if len(numbers) != len(column):
        numbers = [_score(fields[4], where) for where, fields in lines.rows()]
    return np.array(numbers)


def _score(text: str, where: str) -> float:
    try:
        return trec.finite(text)
    except ValueError:
        raise InputError(f'{where}: score "{shown(text)}" is not a number') from None

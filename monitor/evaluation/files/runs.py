"""Runs: what a system ranked for each query, from TREC, JSON or JSON lines."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from monitor.evaluation.files.inputs import Progress, opened
from monitor.evaluation.files.json_runs import read_json_run
from monitor.evaluation.files.trec import RUN, is_json
from monitor.evaluation.files.trec_runs import read_trec_run
from monitor.evaluation.rankings import Ranking

__all__ = ["Ranking", "read_run", "run_name", "run_names"]

SUFFIXES = frozenset({".gz", ".json", ".jsonl", ".ndjson", ".out", ".res", ".run", ".trec", ".tsv", ".txt"})


def read_run(path: Path, progress: Progress | None = None) -> Iterator[Ranking]:
    """Read a run, query by query; the content tells the format, and gzip from plain text.

    TREC: `query Q0 document rank score tag` on each line, sorted as trec_eval does (by score in single
    precision, of equal ones the higher document id first; the rank is ignored). A query whose lines do not
    stand together comes again at the end, complete: of two rankings of a query the later counts.

    JSON: `{"q1": ["d3", "d1"]}`, the order kept, or `{"q1": {"d3": 1.7, "d1": 0.2}}`, sorted as above.

    JSON lines: one object a line with `query_id` and `ranked`, a list of keys or of objects with a `key`,
    best first, and `latency_seconds` and `embeddings` where known. That is the shape of impression events;
    other events are passed over. Of several lines of a query the last counts.

    A key that stands twice in a ranking counts at its first rank.
    """
    with opened(path) as file:
        read = read_json_run if is_json(file, RUN) else read_trec_run
        yield from read(path, file, progress)


def run_name(path: Path) -> str:
    """Return the file's name without folder and suffixes.

    >>> run_name(Path("runs/bm25.k1.run.gz"))
    'bm25.k1'
    """
    name = Path(path.name)
    while name.suffix in SUFFIXES:
        name = name.with_suffix("")
    return _text(name)


def run_names(paths: Sequence[Path]) -> list[str]:
    """Return a name for each run; where two would be the same, the folder or else the whole path tells them.

    >>> run_names([Path("a/bm25.run"), Path("b/bm25.run"), Path("c/splade.run")])
    ['a/bm25', 'b/bm25', 'splade']
    """
    names = [run_name(path) for path in paths]
    longer = [f"{_text(path.absolute().parent.name)}/{name}" for path, name in zip(paths, names, strict=True)]
    for others in (longer, [_text(path) for path in paths]):
        names = [other if names.count(name) > 1 else name for name, other in zip(names, others, strict=True)]
    return names


def _text(path: Path | str) -> str:
    """Return a name as text that can be printed and encoded; file systems take any bytes."""
    return os.fsencode(path).decode(errors="replace")

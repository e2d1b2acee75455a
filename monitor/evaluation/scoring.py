"""Rankings and judgments become batches, and batches one value a query for each measure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat

import numpy as np

from monitor.evaluation.files.inputs import InputError
from monitor.evaluation.files.qrels import Qrels
from monitor.evaluation.files.runs import Ranking
from monitor.metrics import Batch, Bools, Floats, Floats32, Ints, Measure
from monitor.metrics.batch import best_order, lengths_of, padded

BATCH_RANKINGS = 250
"""Few enough for their keys to stay in the processor's cache."""
BATCH_BYTES = 64 << 20
"""Of embeddings, which are far larger than all the rest of a ranking."""
NO_VECTORS: Floats32 = np.zeros((0, 0), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What a run scored, query by query."""

    name: str
    queries: list[str]
    """The judged queries, in the order of the judgments."""
    scores: dict[str, Floats]
    """By the measure's name as the user wrote it, one value a query; NaN where it is undefined."""
    latency: Floats | None = None
    """Seconds a query, NaN where unknown; `None` if the run carries none."""
    missing: int = 0
    """Judged queries that the run lacks."""
    unjudged: int = 0
    """Queries of the run that nobody judged."""

    def aggregate(self) -> dict[str, float | None]:
        """Return the mean of each measure where it is defined; `None` where it is nowhere."""
        return {name: _mean(values) for name, values in self.scores.items()}


def evaluate_run(
    name: str,
    rankings: Iterable[Ranking],
    qrels: Qrels,
    measures: Mapping[str, Measure],
    *,
    common_queries: bool = False,
) -> Evaluation:
    """Score a run, some rankings at a time.

    A judged query that the run lacks counts as an empty ranking, or is left out with `common_queries`. Of two
    rankings of one query the later counts. A run and judgments that share no query are an InputError.

    >>> from monitor.evaluation.measures import measures_of
    >>> qrels = Qrels({"q1": {"d1": 1.0}, "q2": {"d1": 1.0}}, {})
    >>> evaluate_run("bm25", [Ranking("q1", ["d3", "d1"])], qrels, measures_of("rr,map")).aggregate()
    {'rr': 0.25, 'map': 0.25}
    """
    table = _Table(qrels, measures)
    for some in _batches(rankings):
        table.score(some)
    if not table.seen.any():
        raise InputError(_nothing_shared(name, table.unjudged, qrels))
    kept: Bools = table.seen if common_queries else np.ones_like(table.seen)
    if not common_queries:
        table.fill_missing()
    return Evaluation(
        name,
        [query for query, keep in zip(qrels.grades, kept.tolist(), strict=True) if keep],
        {text: values[kept] for text, values in table.scores.items()},
        None if np.isnan(table.latency).all() else table.latency[kept],
        missing=int(np.count_nonzero(~table.seen)),
        unjudged=len(table.unjudged),
    )


class _Table:
    """A row for each judged query and a column for each measure, filled as rankings come."""

    def __init__(self, qrels: Qrels, measures: Mapping[str, Measure]) -> None:
        self._qrels, self._measures = qrels, measures
        self._row_of = {query: row for row, query in enumerate(qrels.grades)}
        self.scores = {text: np.full(len(self._row_of), np.nan) for text in measures}
        self.latency = np.full(len(self._row_of), np.nan)
        self.seen = np.zeros(len(self._row_of), dtype=np.bool_)
        self.unjudged: dict[str, None] = {}
        self.embeddings = False

    def score(self, rankings: Sequence[Ranking]) -> None:
        """Take rankings of a run in."""
        rows = [self._row_of.get(ranking.query, -1) for ranking in rankings]
        if -1 in rows:
            pairs = list(zip(rankings, rows, strict=True))
            self.unjudged |= {ranking.query: None for ranking, row in pairs if row < 0}
            rankings, rows = [ranking for ranking, row in pairs if row >= 0], [r for r in rows if r >= 0]
        self.fill(rankings, rows)
        self.seen[rows] = True
        self.latency[rows] = _latency(rankings)
        self.embeddings |= any(ranking.embeddings is not None for ranking in rankings)

    def fill_missing(self) -> None:
        """Score the queries that are not in the run as empty rankings."""
        vectors = NO_VECTORS if self.embeddings else None
        queries = list(self._row_of)
        missing = np.flatnonzero(~self.seen).tolist()
        for start in range(0, len(missing), BATCH_RANKINGS):
            rows = missing[start : start + BATCH_RANKINGS]
            self.fill([Ranking(queries[row], [], None, vectors) for row in rows], rows)

    def fill(self, rankings: Sequence[Ranking], rows: list[int]) -> None:
        """Score rankings of judged queries into their rows."""
        batch = judged_rows(rankings, self._qrels, self._measures.values())
        for text, measure in self._measures.items():
            self.scores[text][rows] = measure.score(batch)


def judged_rows(
    rankings: Sequence[Ranking], qrels: Qrels, measures: Iterable[Measure] | None = None
) -> Batch:
    """Put the grades of the judgments on the ranks of the rankings, one row each; all must be judged.

    The batch has what these measures need; without any given, all that is known.

    >>> judged_rows([Ranking("q1", ["d3", "d1"])], Qrels({"q1": {"d1": 2.0, "d2": 1.0}}, {})).grades
    array([[nan,  2.]])
    """
    depth, uses = _wanted(measures)
    lengths = lengths_of([ranking.keys for ranking in rankings])
    shown = lengths if depth is None else np.minimum(lengths, depth)
    known = [qrels.grades[ranking.query] for ranking in rankings]
    grades = chain.from_iterable(
        map(of_query.get, ranking.keys[:depth], repeat(np.nan))
        for of_query, ranking in zip(known, rankings, strict=True)
    )
    judged = chain.from_iterable(of_query.values() for of_query in known)
    ideal, relevant = best_order(judged, lengths_of(known))
    by_target = "targets" in uses
    return Batch(
        lengths=lengths,
        grades=padded(grades, shown, np.nan),
        ideal=ideal,
        relevant=relevant,
        targets=padded(_targets(rankings, qrels, depth), shown, 0.0).astype(np.int64) if by_target else None,
        relevant_targets=_relevant_targets(rankings, qrels) if by_target else None,
        embeddings=[ranking.embeddings for ranking in rankings] if "embeddings" in uses else None,
        latency=_latency(rankings),
    )


def _wanted(measures: Iterable[Measure] | None) -> tuple[int | None, frozenset[str]]:
    """Return how many ranks decide the measures, and which fields they use; `None` is all ranks."""
    if measures is None:
        return None, frozenset({"targets", "embeddings"})
    measures = list(measures)
    depths = [measure.depth for measure in measures]
    uses = frozenset[str]().union(*(measure.metric.uses for measure in measures))
    return None if None in depths else max((depth or 0 for depth in depths), default=0), uses


def _targets(rankings: Sequence[Ranking], qrels: Qrels, depth: int | None) -> Iterator[int]:
    """Return a number for the identity of each ranked document: its target, or else itself."""
    numbers: dict[str, int] = {}
    for ranking in rankings:
        named = qrels.targets.get(ranking.query, {})
        for key in ranking.keys[:depth]:
            yield numbers.setdefault(named.get(key, key), len(numbers))


def _relevant_targets(rankings: Sequence[Ranking], qrels: Qrels) -> Ints:
    counts = []
    for ranking in rankings:
        named = qrels.targets.get(ranking.query)
        relevant = (key for key, grade in qrels.grades[ranking.query].items() if grade > 0)
        counts.append(len({named.get(key, key) for key in relevant}) if named else -1)
    return np.array(counts, dtype=np.int64)


def _latency(rankings: Sequence[Ranking]) -> Floats:
    return np.array([r.latency_seconds for r in rankings], dtype=np.float64)  # None becomes NaN


def _batches(rankings: Iterable[Ranking]) -> Iterator[list[Ranking]]:
    held: list[Ranking] = []
    size_bytes = 0
    for ranking in rankings:
        held.append(ranking)
        if ranking.embeddings is not None:
            size_bytes += ranking.embeddings.nbytes
        if len(held) == BATCH_RANKINGS or size_bytes > BATCH_BYTES:
            yield held
            held, size_bytes = [], 0
    if held:
        yield held


def _mean(values: Floats) -> float | None:
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else None


def _nothing_shared(name: str, unjudged: Iterable[str], qrels: Qrels) -> str:
    query = next(iter(unjudged), None)
    if query is None:
        return f'the run "{name}" has no ranking'
    example = f'the run has "{query}", the judgments have "{next(iter(qrels.grades))}"'
    return f'the run "{name}" and the judgments share no query: {example}'

"""A test collection: documents, queries and judgments, and the runs of the systems that are tried on them."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from monitor.evaluation.bands import band
from monitor.evaluation.comparing.compare import compare
from monitor.evaluation.comparing.comparison import ComparisonReport
from monitor.evaluation.comparing.plots import plot_comparison
from monitor.evaluation.files.qrels import Qrels
from monitor.evaluation.files.runs import Ranking
from monitor.evaluation.lists import Judged, Results, grades_of, keys_of
from monitor.evaluation.measures import measures_of
from monitor.evaluation.scoring import Evaluation, evaluate_run

REPORTED = {
    "MAP": "map", "P@5": "precision@5", "P@10": "precision@10",
    "NDCG@5": "ndcg@5", "NDCG@10": "ndcg@10", "MRR": "mrr",
}  # fmt: skip


class TestCollection:
    """Documents, queries, judgments, and what named systems ranked.

    `documents` and `queries` are ids, or dicts by id with whatever you keep there; `judgments` have, for each
    query, a grade by document or the relevant documents; a run has the ranked documents of each query, best
    first. Ids must fit together: a judgment or a run that names a document or a query which is not there is
    a ValueError. Queries without judgments may be there; they are counted and not evaluated.

    >>> collection = TestCollection(
    ...     documents={"d1": "tea", "d2": "coffee", "d3": "green tea"},
    ...     queries={"q1": "tea", "q2": "coffee"},
    ...     judgments={"q1": {"d1": 2, "d3": 1}, "q2": {"d2"}},
    ... )
    >>> collection.add_run("first", {"q1": ["d1", "d2", "d3"], "q2": ["d2"]})
    >>> collection.add_run("second", {"q1": ["d2", "d1"]})
    >>> print(collection.report())
    3 documents, 2 queries (2 judged), 3 judgments (3 relevant)
    <BLANKLINE>
    system     MAP     P@5    P@10  NDCG@5  NDCG@10     MRR  queries  missing  in words
    first   0.9167  0.3000  0.1500  0.9751   0.9751  1.0000        2        0  excellent
    second  0.1250  0.1000  0.0500  0.2398   0.2398  0.2500        2        1  poor
    """

    __test__: ClassVar[bool] = False  # pytest would take the name for tests

    def __init__(
        self,
        *,
        documents: Mapping[str, object] | Collection[str],
        queries: Mapping[str, object] | Collection[str],
        judgments: Mapping[str, Judged[str]],
        runs: Mapping[str, Mapping[str, Results[str]]] | None = None,
    ) -> None:
        self.documents = _by_id(documents)
        self.queries = _by_id(queries)
        self.judgments: dict[str, dict[str, float]] = {
            query: grades_of(judged) for query, judged in judgments.items()
        }
        self.runs: dict[str, dict[str, list[str]]] = {}
        if not self.judgments:
            raise ValueError("the collection has no judgments; without them nothing can be evaluated")
        self._check("the judgments", self.judgments)
        for name, rankings in (runs or {}).items():
            self.add_run(name, rankings)

    def add_run(self, name: str, rankings: Mapping[str, Results[str]]) -> None:
        """Add what a system ranked for each query, in place of any run of the same name."""
        run = {query: keys_of(results) for query, results in rankings.items()}
        self._check(f'the run "{name}"', run)
        self.runs[name] = run

    def evaluate(self, metrics: str = ",".join(REPORTED.values())) -> dict[str, Evaluation]:
        """Return what each system scored, query by query; a judged query that its run lacks counts 0.

        `metrics` are names as the command `evaluate` takes them, separated by commas.
        """
        measures, qrels = measures_of(metrics), Qrels(self.judgments, {})
        return {
            name: evaluate_run(name, [Ranking(query, keys) for query, keys in run.items()], qrels, measures)
            for name, run in self.runs.items()
        }

    def compare(
        self,
        metric: str = "ndcg@10",
        *,
        baseline: str | None = None,
        test: str = "paired_t",
        confidence: float = 0.95,
        seed: int = 0,
    ) -> ComparisonReport:
        """Compare all systems with the baseline, the first one unless it is named, by one metric.

        What cannot be compared is a ValueError.
        """
        if len(self.runs) < 2:
            raise ValueError(
                f"a comparison needs two systems or more, and there is {len(self.runs)}; add runs"
            )
        names = [*measures_of(metric)]
        if len(names) > 1:
            raise ValueError(f'a comparison is by one metric, and "{metric}" names {len(names)}')
        found = [*self.evaluate(metric).values()]
        return compare(found, names[0], baseline=baseline, test=test, confidence=confidence, seed=seed)

    def plot(
        self,
        path: Path | str,
        metric: str = "ndcg@10",
        *,
        baseline: str | None = None,
        test: str = "paired_t",
        confidence: float = 0.95,
        seed: int = 0,
    ) -> None:
        """Draw the comparison into a .png, .svg or .pdf file: means, differences and every query."""
        found = self.compare(metric, baseline=baseline, test=test, confidence=confidence, seed=seed)
        plot_comparison(Path(path), found)

    def report(self) -> str:
        """Return the counts of the collection and a table of the usual metrics of each system.

        A dash stands for a metric without a value; the last column tells NDCG@10 in words.
        """
        heads = ("system", *REPORTED, "queries", "missing", "in words")
        rows = [_row(found) for found in self.evaluate().values()]
        return "\n".join(
            [self._counts(), "", *(_laid_out([heads, *rows]) if rows else ["no runs; add one with add_run"])]
        )

    def _counts(self) -> str:
        grades = [grade for judged in self.judgments.values() for grade in judged.values()]
        queries = f"{len(self.queries):,} queries ({len(self.judgments):,} judged)"
        judgments = f"{len(grades):,} judgments ({sum(grade > 0 for grade in grades):,} relevant)"
        return f"{len(self.documents):,} documents, {queries}, {judgments}"

    def _check(self, where: str, rows: Mapping[str, Collection[str]]) -> None:
        for query, keys in rows.items():
            if query not in self.queries:
                raise ValueError(f"{where}: query {query!r} is not in the collection")
            for key in keys:
                if key not in self.documents:
                    raise ValueError(f"{where}: document {key!r} of query {query!r} is not in the collection")


def _by_id(things: Mapping[str, object] | Collection[str]) -> dict[str, object]:
    return dict(things) if isinstance(things, Mapping) else dict.fromkeys(things)


def _row(found: Evaluation) -> tuple[str, ...]:
    means = found.aggregate()
    scores = [means[name] for name in REPORTED.values()]
    shown = ["–" if score is None else f"{score:.4f}" for score in scores]
    words = band("ndcg@10", means["ndcg@10"]) or "–"
    return found.name, *shown, f"{len(found.queries):,}", f"{found.missing:,}", words


def _laid_out(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table: words to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    last = len(widths) - 1
    return [
        "  ".join(
            cell.ljust(width) if column in (0, last) else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]

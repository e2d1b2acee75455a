"""The mean recall-precision curve of a run, kept while its rankings pass by to be scored."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from monitor.evaluation.files.qrels import Qrels
from monitor.evaluation.files.runs import Ranking
from monitor.evaluation.scoring import judged_rows
from monitor.metrics import Floats
from monitor.metrics.binary import RECALL_LEVELS, interpolated_precision

BATCH = 2000


class MeanCurve:
    """Wrap the rankings in `watch` on their way to `evaluate_run`, then ask for the mean over its queries."""

    def __init__(self, qrels: Qrels) -> None:
        self._qrels = qrels
        self._row_of = {query: row for row, query in enumerate(qrels.grades)}
        # A query that the run lacks keeps its zeros.
        self._levels = np.zeros((len(self._row_of), len(RECALL_LEVELS)), dtype=np.float32)

    def watch(self, rankings: Iterable[Ranking]) -> Iterator[Ranking]:
        """Pass the rankings on."""
        rest = iter(rankings)
        while some := list(islice(rest, BATCH)):
            judged = [ranking for ranking in some if ranking.query in self._row_of]
            if judged:
                rows = [self._row_of[ranking.query] for ranking in judged]
                self._levels[rows] = interpolated_precision(judged_rows(judged, self._qrels))
            yield from some

    def over(self, queries: Sequence[str]) -> Floats:
        """Return the mean of the interpolated precision at each of the 11 levels, over these queries."""
        rows = [self._row_of[query] for query in queries]
        mean: Floats = self._levels[rows].mean(axis=0, dtype=np.float64)
        return mean

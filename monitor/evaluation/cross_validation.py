"""Query-level cross-validation: a system is tried only on queries that it has not learnt from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeAlias

import numpy as np

from monitor.evaluation.functions import mean_average_precision
from monitor.evaluation.lists import Judged, Key, Query


class Retriever(Protocol):
    """A trained system: it ranks documents for a query, best first."""

    def retrieve(self, query: Any, /) -> Sequence[Any]: ...


System: TypeAlias = Callable[[list[Query], dict[Query, Judged[Key]]], Retriever]
"""Trains a system on some queries and their judgments."""


@dataclass(frozen=True, slots=True)
class Fold(Generic[Query]):
    """One part: the queries that were held out, and the MAP over them."""

    queries: list[Query]
    map: float


@dataclass(frozen=True, slots=True)
class CrossValidation(Generic[Query]):
    """What came of all parts."""

    mean_map: float
    """Mean of the folds' MAPs."""
    deviation: float
    """Standard deviation of the folds' MAPs (of a sample: divided by their number - 1)."""
    folds: list[Fold[Query]]


def cross_validate(
    system: System[Query, Key],
    queries: Sequence[Query],
    judgments: Mapping[Query, Judged[Key]],
    *,
    folds: int = 5,
    seed: int = 0,
    k: int | None = None,
) -> CrossValidation[Query]:
    """Train and try a system on each part of the queries in turn.

    The queries are shuffled by the seed and dealt into `folds` parts whose sizes differ by one at most. For
    each part, `system(train_queries, judgments)` is called with the queries of all other parts and the
    judgments of those alone, so that nothing of the held-out queries leaks; what it returns must have
    `retrieve(query)`, which gets each held-out query as it stands in `queries` and returns ranked keys. `k`
    cuts the average precision. A query without judgments, or given twice, is a ValueError.

    >>> class Popular:
    ...     def __init__(self, train_queries, judgments):
    ...         seen = [key for query in train_queries for key in judgments[query]]
    ...         self.ranked = sorted(set(seen), key=lambda key: (-seen.count(key), key))
    ...     def retrieve(self, query):
    ...         return self.ranked
    >>> judged = {"q1": {"a"}, "q2": {"a", "b"}, "q3": {"b"}, "q4": {"a"}}
    >>> found = cross_validate(Popular, list(judged), judged, folds=2, seed=1)
    >>> found.mean_map, [fold.queries for fold in found.folds]
    (0.875, [['q1', 'q3'], ['q2', 'q4']])
    """
    _check(queries, judgments, folds)
    order = np.random.default_rng(seed).permutation(len(queries))
    parts = [[queries[place] for place in sorted(order[number::folds].tolist())] for number in range(folds)]
    found = [_try(system, held_out, queries, judgments, k) for held_out in parts]
    maps = np.array([fold.map for fold in found])
    return CrossValidation(float(maps.mean()), float(maps.std(ddof=1)), found)


def _try(
    system: System[Query, Key],
    held_out: list[Query],
    queries: Sequence[Query],
    judgments: Mapping[Query, Judged[Key]],
    k: int | None,
) -> Fold[Query]:
    hidden = set(held_out)
    train = [query for query in queries if query not in hidden]
    trained = system(train, {query: judgments[query] for query in train})
    rankings = [trained.retrieve(query) for query in held_out]
    return Fold(held_out, mean_average_precision(rankings, [judgments[query] for query in held_out], k))


def _check(queries: Sequence[Query], judgments: Mapping[Query, Judged[Key]], folds: int) -> None:
    if not 2 <= folds <= len(queries):
        raise ValueError(f"folds must be from 2 to the number of queries ({len(queries)}), not {folds}")
    if len(set(queries)) < len(queries):
        twice = next(query for query in queries if list(queries).count(query) > 1)
        raise ValueError(f"query {twice!r} is given twice; it would be in two parts")
    for query in queries:
        if query not in judgments:
            raise ValueError(f"query {query!r} has no judgments; leave it out, or judge it")

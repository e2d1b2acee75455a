"""Metrics of one ranking or of many, for callers with lists and dicts: the registry's kernels, no others.

What holds for all of them:

- `results` are keys, best first, or items with a key such as `{"key": "d3", "score": 0.7}`. The order is the
  ranking; scores are not looked at. A key that stands twice counts at its first rank.
- `relevant_docs` are the keys of the relevant documents (each of grade 1), or a grade by key, where a grade
  above 0 is relevant. What is in neither counts as not relevant.
- `k` cuts the list; a `k` beyond its end adds nothing, and `None` reads all of it. Precision divides by `k`.
- Empty results, or no relevant document, give 0.0, as trec_eval has it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from monitor.evaluation.lists import (
    Judged,
    Key,
    Query,
    Results,
    batch_of,
    batch_of_one,
    cut_off,
    cut_offs,
    grades_of,
    keys_of,
    measure,
    vectors_of,
)
from monitor.metrics import METRICS, Batch, Floats, Measure

Embeddings: TypeAlias = Mapping[Key, Sequence[float]] | Mapping[Key, NDArray[Any]]
AllResults: TypeAlias = Sequence[Results[Key]] | Mapping[Query, Results[Key]]
AllJudged: TypeAlias = Sequence[Judged[Key]] | Mapping[Query, Judged[Key]]

K_VALUES = (1, 5, 10, 20, 100)


def mean_reciprocal_rank(results: Results[Key], relevant_docs: Judged[Key], k: int | None = None) -> float:
    """Return 1 / rank of the first relevant document within the first k; 0 if there is none.

    It is the part of one query; `evaluate_batch` gives the mean over several.

    >>> mean_reciprocal_rank(["d7", "d2", "d3"], {"d3"}, 10)
    0.3333333333333333
    """
    return _of_one("mrr", results, relevant_docs, k)


def recall_at_k(results: Results[Key], relevant_docs: Judged[Key], k: int | None = None) -> float:
    """Return the share of the relevant documents that the first k ranks hold.

    >>> recall_at_k(["d1", "d7", "d3"], {"d1", "d2", "d3", "d4"}, 2)
    0.25
    """
    return _of_one("recall", results, relevant_docs, k)


def precision_at_k(results: Results[Key], relevant_docs: Judged[Key], k: int | None = None) -> float:
    """Return the share of the first k ranks that hold a relevant document.

    It divides by k also where fewer were retrieved; without a k, by how many were.

    >>> precision_at_k(["d1", "d7", "d3"], {"d1", "d3"}, 5)
    0.4
    """
    return _of_one("precision", results, relevant_docs, k)


def ndcg_at_k(results: Results[Key], relevant_docs: Judged[Key], k: int | None = None) -> float:
    """Return the discounted gain of the first k ranks over that of the best order of all judged documents.

    The gain is the grade, the discount log2(rank + 1).

    >>> round(ndcg_at_k(["a", "b", "c", "d", "e"], {"b", "d"}, 5), 3)
    0.651
    >>> ndcg_at_k(["a", "b", "c"], {"a": 1.0, "b": 0.5, "c": 0.0}, 2)
    1.0
    """
    return _of_one("ndcg", results, relevant_docs, k)


def average_precision(results: Results[Key], relevant_docs: Judged[Key], k: int | None = None) -> float:
    """Return the mean, over all relevant documents, of the precision at the rank of each within the first k.

    >>> round(average_precision(["d1", "d7", "d3"], {"d1", "d2", "d3"}, 10), 3)
    0.556
    """
    return _of_one("ap", results, relevant_docs, k)


def mean_average_precision(
    all_results: AllResults[Key, Query], all_relevant_docs: AllJudged[Key, Query], k: int | None = None
) -> float:
    """Return the mean of the average precision over several queries; they are matched as in `evaluate_batch`.

    >>> mean_average_precision([["a", "b"], ["a", "b"]], [{"a"}, {"b"}], 10)
    0.75
    """
    return _mean(measure("ap", k), _aligned(all_results, all_relevant_docs))


def intra_list_diversity(results: Results[Key], embeddings_dict: Embeddings[Key]) -> float | None:
    """Return how different the documents are: the mean of 1 - cosine over all pairs, clamped to [0, 1].

    Documents without an embedding are left out: nothing can be said of their pairs. With fewer than two left
    the diversity is undefined, and `None`, not a number that would pull a mean.

    >>> intra_list_diversity(["a", "b"], {"a": [1, 0], "b": [0, 1]})
    1.0
    >>> intra_list_diversity(["a"], {"a": [1, 0]}) is None
    True
    """
    keys = [key for key in keys_of(results) if key in embeddings_dict]
    if len(keys) < 2:
        return None
    vectors: NDArray[Any] = vectors_of(keys, embeddings_dict)
    return _only(measure("ild", None), Batch(lengths=np.array([len(keys)]), embeddings=[vectors]))


def alpha_ndcg(
    results: Results[Key],
    relevant_docs: Judged[Key],
    embeddings_dict: Embeddings[Key],
    k: int | None = None,
    alpha: float = 0.5,
) -> float:
    """Return NDCG in which a document gains less, the more it resembles one ranked above it.

    The gain is grade * (alpha + (1 - alpha) * novelty), where novelty is 1 - the highest cosine to those
    above; it is divided by that of the best order of the relevant documents, found exactly for up to 8 of
    them and greedily above, where the score is clamped to 1. With alpha = 1 it is plain NDCG. A document
    without an embedding counts as unlike all others.

    >>> vectors = {"a": [1, 0], "b": [1, 0], "c": [0, 1]}
    >>> alpha_ndcg(["a", "c", "b"], {"a", "b", "c"}, vectors, 3, 0.5)
    1.0
    >>> round(alpha_ndcg(["a", "b", "c"], {"a", "b", "c"}, vectors, 3, 0.5), 3)
    0.965
    """
    if not 0.0 <= alpha <= 1.0:
        raise ValueError(f"alpha must be a number at least 0 and at most 1, not {alpha!r}")
    ranked, judged = keys_of(results), grades_of(relevant_docs)
    wanted = [key for key, grade in judged.items() if grade > 0]
    cut = max(len(ranked), len(wanted), 1)
    if k is not None:
        cut = min(cut, cut_off(k))
    # The kernel takes the embeddings for the best order from the whole list: relevant documents that were not
    # ranked stand below the cut-off, where they count for nothing else.
    known = set(ranked)
    gap = [object() for _ in range(cut - len(ranked))]
    keys = [*ranked, *gap, *(key for key in wanted if key not in known)]
    vectors: NDArray[Any] = vectors_of(keys, embeddings_dict)
    batch = replace(batch_of_one(keys, judged), embeddings=[vectors])
    return _only(Measure(METRICS["alpha_ndcg"], cut, (("alpha", float(alpha)),)), batch)


def evaluate_retrieval(
    results: Results[Key], relevant_docs: Judged[Key], k_values: Iterable[int] = K_VALUES
) -> dict[str, float]:
    """Return the usual metrics of one ranking: MRR, recall, precision and NDCG at each k, and AP.

    MRR and AP are cut at the largest k.

    >>> scores = evaluate_retrieval(["d1", "d7", "d3"], {"d1": 2, "d2": 1}, (1, 3))
    >>> {name: round(score, 3) for name, score in scores.items()}
    {'MRR@3': 1.0, 'Recall@1': 0.5, 'Recall@3': 0.5, 'Precision@1': 1.0, 'Precision@3': 0.333, \
'NDCG@1': 1.0, 'NDCG@3': 0.76, 'AP': 0.5}
    """
    batch = batch_of_one(keys_of(results), grades_of(relevant_docs))
    return {name: _only(each, batch) for name, each in _measures(k_values, "AP").items()}


def evaluate_batch(
    all_results: AllResults[Key, Query],
    all_relevant_docs: AllJudged[Key, Query],
    k_values: Iterable[int] = K_VALUES,
) -> dict[str, float]:
    """Return the means of the usual metrics over many queries, with MAP cut at the largest k in place of AP.

    Two lists are matched by their order and must be of one length. Two dicts are matched by query: one that
    is judged and not in the results counts 0, one that nobody judged is left out, as in the command
    `evaluate`. No query at all, or none in common, is a ValueError.

    >>> scores = evaluate_batch([["a"], ["x", "y", "a"], ["x"]], [{"a"}, {"a"}, {"a"}], [1, 10])
    >>> round(scores["MRR@10"], 3), round(scores["MAP@10"], 3)
    (0.444, 0.444)
    """
    chosen = _measures(k_values, "MAP")
    batch = _aligned(all_results, all_relevant_docs)
    return {name: _mean(each, batch) for name, each in chosen.items()}


def _measures(k_values: Iterable[int], average: str) -> dict[str, Measure]:
    """Return the usual metrics by the names that callers get."""
    ks = cut_offs(k_values)
    last = max(ks)
    at_each_k = {"Recall": "recall", "Precision": "precision", "NDCG": "ndcg"}
    return {
        f"MRR@{last}": measure("mrr", last),
        **{f"{shown}@{k}": measure(name, k) for shown, name in at_each_k.items() for k in ks},
        ("AP" if average == "AP" else f"MAP@{last}"): measure("ap", last),
    }


def _aligned(all_results: AllResults[Key, Query], all_relevant_docs: AllJudged[Key, Query]) -> Batch:
    if isinstance(all_results, Mapping) and isinstance(all_relevant_docs, Mapping):
        if not all_relevant_docs.keys() & all_results.keys():
            raise ValueError("the results and the judgments share no query; give both under the same ids")
        rankings = [keys_of(all_results.get(query, [])) for query in all_relevant_docs]
        judgments = [grades_of(judged) for judged in all_relevant_docs.values()]
        return batch_of(rankings, judgments)
    if isinstance(all_results, Mapping) or isinstance(all_relevant_docs, Mapping):
        raise TypeError("give the results and the judgments both as lists or both as dicts by query")
    if len(all_results) != len(all_relevant_docs):
        counted = f"{len(all_results)} rankings and judgments of {len(all_relevant_docs)} queries"
        raise ValueError(f"{counted}; lists are matched by their order: give one entry a query in both")
    if not len(all_results):
        raise ValueError("there is no query to evaluate; give at least one ranking with its judgments")
    return batch_of([*map(keys_of, all_results)], [*map(grades_of, all_relevant_docs)])


def _of_one(name: str, results: Results[Key], relevant_docs: Judged[Key], k: int | None) -> float:
    return _only(measure(name, k), batch_of_one(keys_of(results), grades_of(relevant_docs)))


def _only(chosen: Measure, batch: Batch) -> float:
    scores: Floats = chosen.score(batch)
    return float(scores[0])


def _mean(chosen: Measure, batch: Batch) -> float:
    return float(chosen.score(batch).mean())

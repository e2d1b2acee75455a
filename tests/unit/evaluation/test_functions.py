"""Metrics of lists and dicts: worked values, every edge, and the registry behind them."""

import inspect
import math

import numpy as np
import pytest

from monitor.evaluation import (
    alpha_ndcg,
    average_precision,
    evaluate_batch,
    evaluate_retrieval,
    intra_list_diversity,
    mean_average_precision,
    mean_reciprocal_rank,
    ndcg_at_k,
    precision_at_k,
    recall_at_k,
)
from monitor.metrics import judged_batch, parse

OF_ONE = {
    mean_reciprocal_rank: "mrr",
    recall_at_k: "recall",
    precision_at_k: "precision",
    ndcg_at_k: "ndcg",
    average_precision: "ap",
}
K_VALUES = (1, 5, 10, 20, 100)
of_one = pytest.mark.parametrize("function", OF_ONE, ids=OF_ONE.values())


def with_cosines(ab, ac, bc):
    """Three unit vectors with these cosines."""
    return dict(zip("abc", np.linalg.cholesky([[1, ab, ac], [ab, 1, bc], [ac, bc, 1]]), strict=True))


def test_relevance_0_1_0_1_0_with_two_relevant_has_an_ndcg_of_0_651():
    assert ndcg_at_k(list("abcde"), {"b", "d"}, 5) == pytest.approx(0.651, abs=5e-4)


def test_relevant_at_ranks_1_and_3_of_3_known_has_an_average_precision_of_0_556():
    assert average_precision(["a", "x", "b"], {"a", "b", "c"}, 10) == pytest.approx(0.556, abs=5e-4)


@pytest.mark.parametrize("k", [1, 2, 3, 10])
def test_grades_in_ideal_order_have_an_ndcg_of_1_at_every_k(k):
    assert ndcg_at_k(["a", "b", "c"], {"c": 0.0, "a": 1.0, "b": 0.5}, k) == 1.0


def test_reciprocal_ranks_of_1_a_third_and_0_have_a_mean_of_0_444():
    rankings = [["a"], ["x", "y", "a"], ["x"]]
    alone = [mean_reciprocal_rank(keys, {"a"}, 10) for keys in rankings]
    assert alone == pytest.approx([1, 1 / 3, 0])
    assert evaluate_batch(rankings, [{"a"}] * 3, [10])["MRR@10"] == pytest.approx(0.444, abs=5e-4)


def test_pair_similarities_of_9_3_and_4_tenths_have_a_diversity_of_0_467():
    assert intra_list_diversity(list("abc"), with_cosines(0.9, 0.3, 0.4)) == pytest.approx(0.467, abs=5e-4)


@of_one
@pytest.mark.parametrize("k", [1, 3, 10, None])
def test_a_function_is_the_metric_of_the_registry(function, k):
    random = np.random.default_rng(1)
    for _ in range(50):
        judged = dict(zip(map(int, random.permutation(20)[:8]), random.integers(-1, 4, 8) / 2, strict=True))
        keys = random.permutation(20)[: random.integers(0, 12)].tolist()
        batch = judged_batch([[judged.get(key) for key in keys]], [list(judged.values())])
        expected = parse(OF_ONE[function] + (f"@{k}" if k else "")).score(batch)[0]
        assert function(keys, judged, k) == expected


@of_one
@pytest.mark.parametrize(
    ("results", "relevant"),
    [([], {"a"}), (["a"], set()), ([], {}), (["a"], {"a": 0}), (["a"], {"a": -1})],
    ids=["no results", "no relevant", "neither", "grade 0", "a negative grade"],
)
def test_nothing_found_or_nothing_to_find_is_0(function, results, relevant):
    score = function(results, relevant, 10)
    assert score == 0.0
    assert type(score) is float


@of_one
def test_relevant_keys_count_as_grade_1(function):
    results = ["x", "a", "b"]
    for relevant in ({"a", "b", "c"}, ["a", "b", "c"], ("a", "b", "c", "a"), frozenset("abc")):
        assert function(results, relevant, 3) == function(results, dict.fromkeys("abc", 1), 3)


@of_one
def test_a_key_that_stands_twice_counts_at_its_first_rank_and_ranks_close_up(function):
    assert function(["x", "a", "x", "a", "b"], {"a": 2, "b": 1}, 3) == function(
        ["x", "a", "b"], {"a": 2, "b": 1}, 3
    )


@of_one
def test_items_with_a_key_are_ranked_as_they_stand_whatever_their_scores(function):
    items = [{"key": "x", "score": 0.1}, {"key": "a", "score": 0.9}, {"key": "b"}]
    assert function(items, {"a": 2, "b": 1}, 3) == function(["x", "a", "b"], {"a": 2, "b": 1}, 3)


@of_one
@pytest.mark.parametrize("make", [tuple, iter, lambda items: (item for item in items)])
def test_items_and_keys_may_come_from_what_is_read_only_once(function, make):
    items, judged = [{"key": "a"}, {"key": "x"}, {"key": "b"}], {"a": 2, "b": 1}
    expected = function(["a", "x", "b"], judged, 3)
    assert function(make(items), judged, 3) == expected
    assert function(make(["a", "x", "b"]), judged, 3) == expected


@of_one
def test_a_k_beyond_the_list_adds_nothing_but_to_what_precision_divides_by(function):
    at_3, at_30 = (function(["a", "x", "b"], {"a", "b"}, k) for k in (3, 30))
    assert at_30 == pytest.approx(at_3 / 10 if function is precision_at_k else at_3)


@of_one
@pytest.mark.parametrize("k", [0, -1, 2.5, True, "3"])
def test_a_k_that_is_no_cut_off_is_refused(function, k):
    with pytest.raises(ValueError, match="k must be a whole number, 1 or more, not"):
        function(["a"], {"a"}, k)


@of_one
@pytest.mark.parametrize("results", ["abc", {"a", "b"}, {"a": 0.5}])
def test_what_has_no_order_is_no_ranking(function, results):
    with pytest.raises(TypeError, match="results must be a list of keys, best first, not a"):
        function(results, {"a"}, 3)


@of_one
def test_a_text_is_no_list_of_relevant_documents(function):
    with pytest.raises(TypeError, match="not one text"):
        function(["a"], "abc", 3)


@of_one
@pytest.mark.parametrize("grade", [math.nan, math.inf, None, "2", [1], 10**400])
def test_a_grade_that_is_no_number_is_named(function, grade):
    with pytest.raises(ValueError, match="the grade of 'a' must be a finite number, not"):
        function(["a"], {"a": grade}, 3)


@of_one
def test_an_item_without_a_key_is_named(function):
    with pytest.raises(ValueError, match=r"rank 2 of the results is \{'score': 1\}"):
        function([{"key": "a"}, {"score": 1}], {"a"}, 3)


def test_the_metrics_of_one_ranking_have_the_names_that_callers_know():
    names = ["MRR@100", *(f"{name}@{k}" for name in ("Recall", "Precision", "NDCG") for k in K_VALUES), "AP"]
    scores = evaluate_retrieval(["a", "x"], {"a"})
    assert list(scores) == names
    assert {type(score) for score in scores.values()} == {float}
    assert list(evaluate_batch([["a", "x"]], [{"a"}])) == [*names[:-1], "MAP@100"]
    defaults = inspect.signature(evaluate_batch).parameters["k_values"].default
    assert defaults == inspect.signature(evaluate_retrieval).parameters["k_values"].default == K_VALUES


def test_the_metrics_of_one_ranking_are_those_of_the_functions():
    results, judged = ["x", "a", "y", "b"], {"a": 2, "b": 1, "c": 1}
    scores = evaluate_retrieval(results, judged, [3, 1])
    assert scores == {
        "MRR@3": mean_reciprocal_rank(results, judged, 3),
        "Recall@3": recall_at_k(results, judged, 3),
        "Recall@1": recall_at_k(results, judged, 1),
        "Precision@3": precision_at_k(results, judged, 3),
        "Precision@1": precision_at_k(results, judged, 1),
        "NDCG@3": ndcg_at_k(results, judged, 3),
        "NDCG@1": ndcg_at_k(results, judged, 1),
        "AP": average_precision(results, judged, 3),
    }


def test_a_batch_has_the_means_of_its_rankings():
    random = np.random.default_rng(2)
    rankings = [random.permutation(30)[: random.integers(0, 25)].tolist() for _ in range(40)]
    judged = [dict.fromkeys(random.permutation(30)[:5].tolist(), 2.0) for _ in range(40)]
    means = evaluate_batch(rankings, judged)
    alone = [evaluate_retrieval(*pair) for pair in zip(rankings, judged, strict=True)]
    for name, mean in means.items():
        assert mean == pytest.approx(np.mean([scores[name.replace("MAP@100", "AP")] for scores in alone]))
        assert type(mean) is float
    assert mean_average_precision(rankings, judged, 100) == means["MAP@100"]


def test_a_batch_refuses_what_one_ranking_refuses():
    with pytest.raises(ValueError, match="the grade of 'b' must be a finite number, not nan"):
        evaluate_batch([["a"], ["b"]], [{"a": 1}, {"a": 1, "b": math.nan}])


def test_grades_may_be_numbers_of_numpy():
    judged = {"a": np.float32(2), "b": np.int64(1), "c": np.bool_(True)}
    assert ndcg_at_k(["c", "a"], judged, 5) == ndcg_at_k(["c", "a"], {"a": 2, "b": 1, "c": 1}, 5)
    assert evaluate_batch([["c", "a"]], [judged]) == evaluate_batch(
        [["c", "a"]], [{"a": 2, "b": 1, "c": True}]
    )


def test_by_query_a_judged_one_that_is_missing_counts_0_and_one_nobody_judged_is_left_out():
    results = {"q1": ["a"], "unjudged": ["a"]}
    judged = {"missing": {"a"}, "q1": {"a": 2}}
    assert evaluate_batch(results, judged, [1])["Recall@1"] == 0.5
    assert mean_average_precision(results, judged) == 0.5


@pytest.mark.parametrize("function", [evaluate_batch, mean_average_precision])
@pytest.mark.parametrize(
    ("results", "judged", "error", "message"),
    [
        ([], [], ValueError, "there is no query to evaluate"),
        ({}, {}, ValueError, "share no query"),
        ({"q1": ["a"]}, {"q2": {"a"}}, ValueError, "share no query"),
        ([["a"]], [{"a"}, {"b"}], ValueError, "1 rankings and judgments of 2 queries"),
        ({"q1": ["a"]}, [{"a"}], TypeError, "both as lists or both as dicts"),
        ([["a"]], {"q1": {"a"}}, TypeError, "both as lists or both as dicts"),
    ],
    ids=["no lists", "no dicts", "other queries", "lengths", "dict and list", "list and dict"],
)
def test_queries_that_do_not_match_are_refused(function, results, judged, error, message):
    with pytest.raises(error, match=message):
        function(results, judged)


def test_no_k_at_all_is_refused():
    with pytest.raises(ValueError, match="k_values is empty"):
        evaluate_retrieval(["a"], {"a"}, ())


def test_diversity_leaves_out_documents_without_an_embedding():
    vectors = with_cosines(0.9, 0.3, 0.4)
    found = intra_list_diversity(["a", "unknown", "b", "c", "a"], vectors)
    assert found == pytest.approx(1 - 1.6 / 3, abs=1e-12)
    assert type(found) is float


@pytest.mark.parametrize("results", [[], ["a"], ["a", "a"], ["a", "unknown"]])
def test_diversity_of_fewer_than_two_documents_is_undefined(results):
    assert intra_list_diversity(results, {"a": [1.0, 0.0]}) is None


@pytest.mark.parametrize(("other", "expected"), [([-1, 0], 1.0), ([2, 0], 0.0), ([0, 0], 1.0)])
def test_diversity_is_clamped(other, expected):
    assert intra_list_diversity(["a", "b"], {"a": [1, 0], "b": other}) == expected


@pytest.mark.parametrize("size", [1e200, 1e-200, 5e-324, 1.7e308])
def test_diversity_does_not_depend_on_how_long_the_vectors_are(size):
    same, across = [size, 0.0], [0.0, size]
    assert intra_list_diversity(["a", "b"], {"a": same, "b": same}) == 0.0
    assert intra_list_diversity(["a", "b"], {"a": same, "b": [1.0, 0.0]}) == 0.0
    assert intra_list_diversity(["a", "b"], {"a": same, "b": across}) == 1.0
    assert alpha_ndcg(["a", "b"], {"a", "b"}, {"a": same, "b": same}, 2, 0.0) == 1.0


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ([1.0], "embeddings must be vectors of one length, not of 1 and 2"),
        ([[1.0, 2.0]], "not of 1 x 2 and 2"),
        (1.0, "not of a single number and 2"),
        ([math.nan, 1.0], "the embedding of 'b' has a number that is not finite"),
    ],
)
def test_embeddings_that_do_not_fit_are_refused(other, message):
    for found in (
        lambda vectors: intra_list_diversity(["a", "b"], vectors),
        lambda vectors: alpha_ndcg(["a", "b"], {"a"}, vectors),
    ):
        with pytest.raises(ValueError, match=message):
            found({"a": [1.0, 0.0], "b": other})


def best_alpha_dcg(judged, vectors, k, alpha):
    """The highest sum over all orders, by trying each."""
    from itertools import permutations

    wanted = [key for key, grade in judged.items() if grade > 0]
    return max(alpha_dcg(list(order), judged, vectors, k, alpha) for order in permutations(wanted))


def alpha_dcg(keys, judged, vectors, k, alpha):
    total = 0.0
    for rank, key in enumerate(keys[:k], start=1):
        cosines = [cosine(vectors.get(key), vectors.get(above)) for above in keys[: rank - 1]]
        novelty = 1 - max([0.0, *cosines])
        total += max(judged.get(key, 0), 0) * (alpha + (1 - alpha) * novelty) / math.log2(rank + 1)
    return total


def cosine(one, other):
    if one is None or other is None:
        return 0.0
    return float(np.dot(one, other) / np.linalg.norm(one) / np.linalg.norm(other))


@pytest.mark.parametrize("k", [1, 3, 10, None])
@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_alpha_ndcg_is_the_sum_over_the_best_of_any_order_of_all_relevant_documents(k, alpha):
    random = np.random.default_rng(3)
    for _ in range(10):
        keys = random.permutation(12)[: random.integers(1, 9)].tolist()
        judged = {key: float(random.integers(0, 4)) for key in random.permutation(12)[:5].tolist()}
        judged[99] = 1.0
        vectors = {key: random.normal(size=3) for key in range(11)}
        depth = k or 12
        best = best_alpha_dcg(judged, vectors, depth, alpha)
        expected = alpha_dcg(keys, judged, vectors, depth, alpha) / best
        assert alpha_ndcg(keys, judged, vectors, k, alpha) == pytest.approx(expected)


@pytest.mark.parametrize("k", [1, 2, 5, 1_000_000_000, None])
def test_with_alpha_1_alpha_ndcg_is_ndcg(k):
    vectors = with_cosines(0.9, 0.3, 0.4)
    results, judged = ["x", "b", "a"], {"a": 2, "b": 1, "c": 3}
    assert alpha_ndcg(results, judged, vectors, k, 1.0) == pytest.approx(ndcg_at_k(results, judged, k))


def test_a_relevant_document_that_was_not_found_stands_in_the_best_order_with_its_own_embedding():
    alike, unlike = {"a": [1, 0], "b": [1, 0]}, {"a": [1, 0], "b": [0, 1]}
    assert alpha_ndcg(["a"], {"a", "b"}, alike, 2, 0.0) == 1.0
    assert alpha_ndcg(["a"], {"a", "b"}, unlike, 2, 0.0) == pytest.approx(1 / (1 + 1 / math.log2(3)))


def test_a_document_without_an_embedding_resembles_nothing():
    assert alpha_ndcg(["a", "b"], {"a", "b"}, {}, 2, 0.0) == 1.0


@pytest.mark.parametrize(("results", "relevant"), [([], {"a"}), (["a"], set()), ([], [])])
def test_alpha_ndcg_of_nothing_is_0(results, relevant):
    assert alpha_ndcg(results, relevant, {"a": [1.0]}, 10, 0.5) == 0.0


@pytest.mark.parametrize("alpha", [-0.1, 1.1, math.nan])
def test_an_alpha_beyond_its_range_is_refused(alpha):
    with pytest.raises(ValueError, match="alpha must be a number at least 0 and at most 1, not"):
        alpha_ndcg(["a"], {"a"}, {}, 10, alpha)

"""Confusion matrix, curves, bands and synthetic data."""

import math

import numpy as np
import pytest

from monitor.evaluation import (
    RECALL_LEVELS,
    band,
    confusion_matrix,
    create_synthetic_evaluation_data,
    interpolated_precision,
    ndcg_at_k,
    precision_at_k,
    precision_curve,
    recall_at_k,
    recall_precision_curve,
)
from monitor.metrics import MetricError, judged_batch, parse


def test_a_confusion_matrix_by_hand():
    found = confusion_matrix(["a", "b", "c", "a"], {"a", "c", "d"}, 20)
    assert (found.tp, found.fp, found.fn, found.tn) == (2, 1, 1, 16)
    assert (found.precision, found.recall, found.f1) == pytest.approx((2 / 3, 2 / 3, 2 / 3))
    assert found.accuracy == 0.9


def test_a_confusion_matrix_agrees_with_scikit_learn():
    from sklearn.metrics import confusion_matrix as reference
    from sklearn.metrics import precision_recall_fscore_support

    random = np.random.default_rng(5)
    for _ in range(20):
        truth, guess = random.random(50) < 0.3, random.random(50) < 0.4
        found = confusion_matrix(np.flatnonzero(guess).tolist(), np.flatnonzero(truth).tolist(), 50)
        assert [found.tn, found.fp, found.fn, found.tp] == reference(truth, guess).ravel().tolist()
        expected = precision_recall_fscore_support(truth, guess, average="binary", zero_division=0)[:3]
        assert (found.precision, found.recall, found.f1) == pytest.approx(expected)


def test_a_grade_above_0_is_relevant():
    found = confusion_matrix({"a"}, {"a": 2, "b": 0, "c": -1}, 5)
    assert (found.tp, found.fp, found.fn, found.tn) == (1, 0, 0, 4)


@pytest.mark.parametrize(("retrieved", "relevant"), [([], []), ([], ["a"]), (["a"], [])])
def test_ratios_of_nothing_are_0(retrieved, relevant):
    found = confusion_matrix(retrieved, relevant, 3)
    assert (found.precision, found.recall, found.f1) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("size", [-1, 0, 2])
def test_a_collection_smaller_than_its_documents_is_refused(size):
    with pytest.raises(ValueError, match=f"a collection of {size} is too small: 3 documents are"):
        confusion_matrix(["a", "b"], ["b", "c"], size)


@pytest.mark.parametrize("size", [math.nan, math.inf, 10.5, 10.0, "10", None])
def test_a_collection_has_a_whole_number_of_documents(size):
    with pytest.raises(ValueError, match="collection_size must be a whole number of documents, not"):
        confusion_matrix(["a"], ["b"], size)
    assert confusion_matrix(["a"], ["b"], np.int64(10)) == confusion_matrix(["a"], ["b"], 10)


def test_an_empty_collection_is_refused():
    with pytest.raises(ValueError, match="a collection of 0 is too small"):
        confusion_matrix([], [], 0)


def test_the_precision_curve_is_precision_at_each_k():
    keys, relevant = list("axbyc"), {"a", "b", "c", "z"}
    expected = [precision_at_k(keys, relevant, k) for k in range(1, 6)]
    assert precision_curve([key in relevant for key in keys]) == pytest.approx(expected)
    assert precision_curve([2, 0, 0.5, -1, 1]) == pytest.approx(expected)
    assert precision_curve([]).shape == (0,)


def test_hits_of_several_rankings_are_refused():
    with pytest.raises(ValueError, match="one number a rank, not 2-dimensional"):
        precision_curve([[1, 0], [0, 1]])


def test_the_recall_precision_curve_is_both_at_each_k():
    keys, judged = list("axbyc"), {"a": 1, "b": 2, "c": 1, "z": 3, "x": 0}
    found = recall_precision_curve(keys, judged)
    assert found.recall == pytest.approx([recall_at_k(keys, judged, k) for k in range(1, 6)])
    assert found.precision == pytest.approx([precision_at_k(keys, judged, k) for k in range(1, 6)])


def test_the_recall_precision_curve_of_nothing():
    assert recall_precision_curve([], {"a"}).recall.shape == (0,)
    assert recall_precision_curve(["a"], set()).recall == [0.0]


def test_the_eleven_points_by_hand():
    batch = judged_batch([[1, 0, 0, 1], [0], []], [[1, 1], [1], [1]])
    found = interpolated_precision(batch)
    assert found.shape == (3, len(RECALL_LEVELS))
    assert found[0] == pytest.approx([1.0] * 6 + [0.5] * 5)
    assert not found[1:].any()
    assert parse("iprec11").score(batch) == pytest.approx(found.mean(axis=1))


def test_the_eleven_points_agree_with_trec_eval():
    import pytrec_eval

    random = np.random.default_rng(6)
    grades = [random.integers(0, 2, 30).tolist() for _ in range(10)]
    qrel = {str(q): {f"d{r}": grade for r, grade in enumerate(row)} for q, row in enumerate(grades)}
    run = {query: {key: -float(key[1:]) for key in judged} for query, judged in qrel.items()}
    reference = pytrec_eval.RelevanceEvaluator(qrel, {"iprec_at_recall"}).evaluate(run)
    for row, found in enumerate(interpolated_precision(judged_batch(grades))):
        expected = [reference[str(row)][f"iprec_at_recall_{level:.2f}"] for level in RECALL_LEVELS]
        assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ("ndcg@10", [(1, "excellent"), (0.9, "excellent"), (0.89, "very good"), (0.7, "very good"),
                     (0.69, "good"), (0.5, "good"), (0.49, "fair"), (0.3, "fair"), (0.29, "poor"),
                     (0, "poor")]),
        ("recall@10", [(1, "excellent"), (0.8, "excellent"), (0.79, "good"), (0.6, "good"), (0.59, "fair"),
                       (0.4, "fair"), (0.39, "low"), (0, "low")]),
        ("ild", [(1, "high"), (0.8, "high"), (0.79, "medium"), (0.6, "medium"), (0.59, "low"), (0.4, "low"),
                 (0.39, "very low"), (0, "very low")]),
    ],
)  # fmt: skip
def test_a_score_has_its_word(measure, words):
    assert [(value, band(measure, value)) for value, _ in words] == words


@pytest.mark.parametrize(
    "measure", ["ndcg@5", "ndcg", "ndcg(gain=exponential)@10", "recall@5", "map", "ctr@10"]
)
def test_a_measure_without_bands_has_no_word(measure):
    assert band(measure, 0.9) is None


def test_bands_know_the_measure_however_it_is_written():
    assert band(" ndcg( gain=linear )@10", 0.9) == "excellent"
    assert band(parse("ndcg@10"), 0.9) == "excellent"
    assert band("ild@10", 0.9) == "high"


@pytest.mark.parametrize("value", [None, float("nan")])
def test_no_score_has_no_word(value):
    assert band("ndcg@10", value) is None


def test_an_unknown_measure_is_named():
    with pytest.raises(MetricError, match="ndgc@10"):
        band("ndgc@10", 0.5)


def test_synthetic_data_has_what_was_asked_for():
    items, query, judgments = create_synthetic_evaluation_data()
    assert len(items) == len({item["key"] for item in items}) == 100
    assert list(judgments) == [item["key"] for item in items]
    assert sum(grade > 0 for grade in judgments.values()) == 10
    assert all(0.0 <= grade <= 1.0 for grade in judgments.values())
    assert query.shape == items[0]["embedding"].shape == (384,)
    assert query.dtype == items[0]["embedding"].dtype == np.float32


def test_synthetic_scores_are_the_cosines_with_the_query():
    items, query, _ = create_synthetic_evaluation_data(embedding_dim=16, seed=7)
    vectors = np.array([item["embedding"] for item in items])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-6)
    assert vectors @ query == pytest.approx([item["score"] for item in items], abs=1e-6)


def test_synthetic_relevant_items_lie_near_the_query_and_not_in_the_order_of_items():
    for seed in range(20):
        items, _, judgments = create_synthetic_evaluation_data(seed=seed)
        relevant = [item["score"] for item in items if judgments[item["key"]] > 0]
        others = [item["score"] for item in items if judgments[item["key"]] == 0]
        assert np.mean(relevant) > np.mean(others) + 0.4
        by_score = sorted(items, key=lambda item: item["score"], reverse=True)
        assert ndcg_at_k(items, judgments, 10) < 0.6 < ndcg_at_k(by_score, judgments, 10) < 1.0


def test_one_seed_gives_one_synthetic_data_set():
    (first, query, judged), (again, same, graded) = (create_synthetic_evaluation_data(seed=8) for _ in "ab")
    assert [item["score"] for item in first] == [item["score"] for item in again]
    assert query.tolist() == same.tolist()
    assert judged == graded
    assert create_synthetic_evaluation_data(seed=9)[1].tolist() != query.tolist()
    assert create_synthetic_evaluation_data()[1].tolist() != create_synthetic_evaluation_data()[1].tolist()


@pytest.mark.parametrize(("items", "relevant"), [(0, 0), (1, 0), (1, 1), (5, 5), (5, 4)])
def test_synthetic_data_may_be_small(items, relevant):
    found, _, judgments = create_synthetic_evaluation_data(items, 2, relevant, seed=1)
    assert len(found) == items
    assert sum(grade > 0 for grade in judgments.values()) == relevant


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"num_relevant": 101}, r"num_relevant must be from 0 to num_items \(100\), not 101"),
        ({"num_relevant": -1}, "not -1"),
        ({"embedding_dim": 1}, "embedding_dim must be 2 or more, not 1"),
    ],
)
def test_synthetic_data_that_cannot_be_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        create_synthetic_evaluation_data(**wrong)

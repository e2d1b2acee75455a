"""Values worked out by hand, as they stand in textbooks and in the documentation."""

import numpy as np
import pytest

from monitor.metrics import Batch, judged_batch, parse

WORKED = {
    "ndcg of relevance 0 1 0 1 0": ("ndcg@5", [[0, 1, 0, 1, 0]], [[1, 1]], [0.651]),
    "ap of relevant ranks 1 and 3 of 3 known": ("ap", [[1, 0, 1]], [[1, 1, 1]], [0.556]),
    "reciprocal ranks 1, 1/3 and none": ("mrr", [[1, 0], [0, 0, 1], [0, 0]], None, [1, 0.333, 0]),
    "precision divides by k": ("precision@10", [[1, 1, 0]], None, [0.2]),
    "precision without k divides by the length": ("precision", [[1, 1, 0], []], None, [0.667, 0]),
    "recall counts what was not retrieved": ("recall@10", [[1, 0]], [[1, 1, 1, 1, 0]], [0.25]),
    "recall sees only the first k": ("recall@1", [[0, 1]], None, [0]),
    "ap@k divides by all relevant, not by k": ("ap@1", [[1, 1]], None, [0.5]),
    "a negative grade is not relevant": ("ndcg@2", [[-1, 1]], None, [0.631]),
    "an unjudged document takes a rank": ("mrr", [[None, 1]], None, [0.5]),
    "condensed takes it out": ("mrr(unjudged=condensed)", [[None, 1]], None, [1.0]),
    "no relevant judgment": ("ndcg@5", [[0, 0]], None, [0.0]),
    "no relevant judgment, skipped": ("ndcg(undefined=skip)@5", [[0, 0], [0, 1]], None, [np.nan, 0.631]),
    "judged divides by the shorter of list and k": (
        "judged@4",
        [[0, None], [1, 0, 1, None, 1]],
        None,
        [0.5, 0.75],
    ),
    "exponential gain": ("dcg(gain=exponential)@2", [[3, 2]], None, [7 + 3 / np.log2(3)]),
    "err of a perfect first document": ("err(max_grade=4)@10", [[4]], None, [15 / 16]),
    "a grade above the scale counts as its top": ("err(max_grade=2)", [[9]], None, [0.75]),
    "rbp adds p to the power of the rank above": ("rbp(p=0.5)@2", [[0, 1, 1]], None, [0.25]),
}


@pytest.mark.parametrize(("spec", "rankings", "judged", "expected"), WORKED.values(), ids=list(WORKED))
def test_a_worked_value(spec, rankings, judged, expected):
    scores = parse(spec).score(judged_batch(rankings, judged))
    np.testing.assert_allclose(scores, expected, atol=0.0005)


@pytest.mark.parametrize("k", ["", "@1", "@2", "@3", "@10"])
def test_fractional_grades_in_ideal_order_have_an_ndcg_of_1_at_every_k(k):
    assert parse(f"ndcg{k}").score(judged_batch([[1.0, 0.5, 0.0]])) == pytest.approx(1.0)


def test_the_mean_reciprocal_rank_of_1_a_third_and_0_is_0_444():
    scores = parse("mrr").score(judged_batch([[1], [0, 0, 1], [0]]))
    assert scores.mean() == pytest.approx(0.444, abs=0.0005)


def test_pair_similarities_of_09_03_and_04_have_a_diversity_of_0_467():
    similarities = np.array([[1.0, 0.9, 0.3], [0.9, 1.0, 0.4], [0.3, 0.4, 1.0]])
    vectors = np.linalg.cholesky(similarities).astype(np.float32)
    batch = Batch(lengths=np.array([3]), embeddings=[vectors])
    assert parse("ild").score(batch) == pytest.approx(0.467, abs=0.0005)


def test_the_length_of_embeddings_does_not_matter():
    vectors = np.array([[3.0, 0.0], [1e-20, 1e-20]], dtype=np.float32)
    assert parse("ild").score(Batch(lengths=np.array([2]), embeddings=[vectors])) == pytest.approx(
        1 - np.sqrt(0.5)
    )


def test_opposite_documents_are_clamped_to_a_diversity_of_1():
    vectors = np.array([[1.0, 0.0], [-1.0, 0.0]], dtype=np.float32)
    assert parse("ild").score(Batch(lengths=np.array([2]), embeddings=[vectors])) == 1.0


@pytest.mark.parametrize("relevant", [3, 8, 9, 20])
def test_alpha_1_is_plain_ndcg(relevant):
    rng = np.random.default_rng(relevant)
    grades = rng.permutation([*rng.uniform(0.5, 3, relevant), *[0.0] * 5]).tolist()
    unranked = rng.uniform(0.5, 3, 2).tolist()
    vectors = rng.normal(size=(len(grades), 4)).astype(np.float32)
    batch = judged_batch([grades], [grades + unranked], embeddings=[vectors])
    for k in ("", "@1", "@5", "@10"):
        assert parse(f"alpha_ndcg(alpha=1){k}").score(batch) == pytest.approx(parse(f"ndcg{k}").score(batch))


def test_a_near_duplicate_above_costs_alpha_ndcg_what_it_does_not_cost_ndcg():
    alike = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32)
    mixed = np.array([[1, 0], [0, 1], [1, 0]], dtype=np.float32)
    batch = judged_batch([[1, 1, 1], [1, 1, 1]], embeddings=[alike, mixed])
    assert parse("ndcg").score(batch).tolist() == [1.0, 1.0]
    assert parse("alpha_ndcg").score(batch) == pytest.approx(
        [(1 + 0.5 / np.log2(3) + 0.5) / (1 + 1 / np.log2(3) + 0.25), 1]
    )


@pytest.mark.parametrize(("relevant", "best"), [(8, 1 + 1 / np.log2(3)), (9, None)])
def test_the_best_order_is_exact_up_to_8_relevant_documents_and_greedy_above(relevant, best):
    between_both_others = [1, 1]
    vectors = np.array([between_both_others, [1, 0], [0, 1], *[[0, 0]] * (relevant - 3)], dtype=np.float32)
    grades = [1.1, 1, 1, *[0.01] * (relevant - 3)]
    reached = 1.1 + (1 - np.sqrt(0.5)) / np.log2(3)
    score = parse("alpha_ndcg(alpha=0)@2").score(judged_batch([grades], embeddings=[vectors]))
    assert score == pytest.approx(reached / (best or reached))


def test_a_label_that_was_there_before_the_impression_has_no_delay():
    delays = np.array([-10.0, 0.0, 5.0, np.nan])
    scores = parse("label_delay").score(Batch(lengths=np.zeros(4, dtype=np.int64), label_delay=delays))
    np.testing.assert_array_equal(scores, [0.0, 0.0, 5.0, np.nan])

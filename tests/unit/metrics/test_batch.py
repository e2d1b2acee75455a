"""Building batches, and taking unjudged documents out of them."""

import numpy as np

from monitor.evaluation.files.qrels import Qrels
from monitor.evaluation.lists import batch_of, batch_of_one
from monitor.evaluation.rankings import Ranking
from monitor.evaluation.scoring import judged_rows
from monitor.metrics import judged_batch


def test_rankings_of_different_lengths_are_padded():
    batch = judged_batch([[1, None], [], [0, 2, 1]], [[3, 1], [1], []])
    np.testing.assert_array_equal(batch.grades, [[1, np.nan, np.nan], [np.nan] * 3, [0, 2, 1]])
    np.testing.assert_array_equal(batch.ideal, [[3, 1], [1, 0], [0, 0]])
    np.testing.assert_array_equal(batch.lengths, [2, 0, 3])
    np.testing.assert_array_equal(batch.relevant, [2, 1, 0])
    assert len(batch) == 3


def test_no_rankings_make_an_empty_batch():
    batch = judged_batch([])
    assert len(batch) == 0
    assert batch.grades.shape == batch.ideal.shape == (0, 0)


def test_every_way_to_build_a_batch_counts_a_negative_grade_as_0():
    keys, judged = ["b", "x", "c"], {"a": -2.0, "b": 1.0, "c": -1.0, "d": 3.0}
    batches = (
        judged_batch([[1.0, None, -1.0]], [[*judged.values()]]),
        judged_rows([Ranking("q", keys)], Qrels({"q": judged}, {})),
        batch_of([keys], [judged]),
        batch_of_one(keys, judged),
    )
    for batch in batches:
        np.testing.assert_array_equal(batch.ideal, [[3, 1, 0, 0]])
        np.testing.assert_array_equal(batch.relevant, [2])
        np.testing.assert_array_equal(batch.grades, [[1, np.nan, -1]])
        np.testing.assert_array_equal(batch.lengths, [3])


def test_condensing_closes_up_ranks_and_all_that_hangs_on_them():
    vectors = np.arange(6, dtype=np.float32).reshape(3, 2)
    batch = judged_batch(
        [[None, 2, 1], [None]],
        targets=[[7, 8, 9], [5]],
        relevant_targets=[2, 0],
        embeddings=[vectors, None],
    ).condensed()
    np.testing.assert_array_equal(batch.grades, [[2, 1, np.nan], [np.nan] * 3])
    np.testing.assert_array_equal(batch.lengths, [2, 0])
    np.testing.assert_array_equal(batch.targets[0, :2], [8, 9])
    np.testing.assert_array_equal(batch.embeddings[0], vectors[1:])
    assert batch.embeddings[1] is None


def test_condensing_leaves_what_was_judged_alone():
    batch = judged_batch([[2, 0, 1]])
    np.testing.assert_array_equal(batch.condensed().grades, batch.grades)

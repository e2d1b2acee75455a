"""Building batches, and taking unjudged documents out of them."""

import numpy as np

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

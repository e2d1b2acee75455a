"""Cross-validation by query: what a system may see, how parts are dealt, and what comes of them."""

import pytest

from monitor.evaluation import cross_validate, mean_average_precision

QUERIES = [f"q{number}" for number in range(11)]
JUDGED = {query: {f"d{number % 3}"} for number, query in enumerate(QUERIES)}


class Recorder:
    """Ranks the same documents for every query, and remembers what it saw."""

    def __init__(self):
        self.trained = []
        self.asked = []

    def __call__(self, train_queries, judgments):
        self.trained.append((train_queries, judgments))
        self.asked.append([])
        return self

    def retrieve(self, query):
        self.asked[-1].append(query)
        return ["d0", "d1", "d2"]


def test_every_query_is_held_out_once_and_never_seen_in_training():
    system = Recorder()
    found = cross_validate(system, QUERIES, JUDGED, folds=4, seed=1)
    assert sorted(query for fold in found.folds for query in fold.queries) == sorted(QUERIES)
    assert sorted(len(fold.queries) for fold in found.folds) == [2, 3, 3, 3]
    for fold, (train, judgments), asked in zip(found.folds, system.trained, system.asked, strict=True):
        assert asked == fold.queries
        assert train == [query for query in QUERIES if query not in fold.queries]
        assert judgments == {query: JUDGED[query] for query in train}


def test_the_folds_have_their_map_and_the_whole_its_mean_and_deviation():
    found = cross_validate(Recorder(), QUERIES, JUDGED, folds=4)
    ranked = ["d0", "d1", "d2"]
    maps = [
        mean_average_precision([ranked] * len(fold.queries), [JUDGED[query] for query in fold.queries])
        for fold in found.folds
    ]
    assert [fold.map for fold in found.folds] == maps
    mean = sum(maps) / 4
    assert found.mean_map == pytest.approx(mean)
    assert found.deviation == pytest.approx((sum((each - mean) ** 2 for each in maps) / 3) ** 0.5)
    assert found.deviation > 0


def test_one_seed_deals_one_way():
    first, again, other = (
        [fold.queries for fold in cross_validate(Recorder(), QUERIES, JUDGED, seed=seed).folds]
        for seed in (1, 1, 2)
    )
    assert first == again != other


def test_k_cuts_the_average_precision():
    found = cross_validate(Recorder(), QUERIES, {query: {"d1"} for query in QUERIES}, k=1)
    assert found.mean_map == 0.0


def test_queries_may_be_anything_hashable():
    judged = {number: {number % 2: 2.0} for number in range(4)}
    assert cross_validate(Recorder(), range(4), judged, folds=4).mean_map == 0.0


@pytest.mark.parametrize("folds", [-1, 0, 1, 12])
def test_a_number_of_folds_that_cannot_be_is_refused(folds):
    with pytest.raises(
        ValueError, match=rf"folds must be from 2 to the number of queries \(11\), not {folds}"
    ):
        cross_validate(Recorder(), QUERIES, JUDGED, folds=folds)


def test_a_query_without_judgments_is_named():
    with pytest.raises(ValueError, match="query 'unjudged' has no judgments"):
        cross_validate(Recorder(), [*QUERIES, "unjudged"], JUDGED)


def test_a_query_that_stands_twice_is_named():
    with pytest.raises(ValueError, match="query 'q3' is given twice"):
        cross_validate(Recorder(), [*QUERIES, "q3"], JUDGED)

"""A test collection: what fits together, what systems score, and the report."""

import numpy as np
import pytest

from monitor.evaluation import (
    InputError,
    TestCollection,
    average_precision,
    mean_reciprocal_rank,
    ndcg_at_k,
    precision_at_k,
)

DOCUMENTS = {f"d{number}": f"text {number}" for number in range(20)}
QUERIES = {f"q{number}": f"words {number}" for number in range(9)}
JUDGED = {f"q{number}": {f"d{number}": 2, f"d{number + 1}": 1, "d19": 0} for number in range(8)}


def shuffled(seed, queries=QUERIES):
    random = np.random.default_rng(seed)
    return {query: random.permutation(list(DOCUMENTS)).tolist() for query in queries}


@pytest.fixture
def collection():
    return TestCollection(
        documents=DOCUMENTS,
        queries=QUERIES,
        judgments=JUDGED,
        runs={
            "random": shuffled(1),
            "perfect": {query: list(judged) for query, judged in JUDGED.items()},
            "lacking": shuffled(2, ["q1", "q2"]),
        },
    )


def test_the_report_has_the_usual_metrics_and_the_counts():
    collection = TestCollection(
        documents={"d1": "tea", "d2": "coffee", "d3": "green tea"},
        queries=["q1", "q2", "q3"],
        judgments={"q1": {"d1": 2, "d3": 1, "d2": 0}, "q2": {"d2"}},
        runs={"a system": {"q1": ["d1", "d2", "d3"], "q2": ["d2"]}, "b": {"q1": ["d2", "d1"]}},
    )
    assert (
        collection.report()
        == """\
3 documents, 3 queries (2 judged), 4 judgments (3 relevant)

system       MAP     P@5    P@10  NDCG@5  NDCG@10     MRR  queries  missing  in words
a system  0.9167  0.3000  0.1500  0.9751   0.9751  1.0000        2        0  excellent
b         0.1250  0.1000  0.0500  0.2398   0.2398  0.2500        2        1  poor"""
    )


def test_the_report_of_a_collection_without_runs_has_the_counts():
    empty = TestCollection(documents=DOCUMENTS, queries=QUERIES, judgments=JUDGED)
    assert empty.report() == (
        "20 documents, 9 queries (8 judged), 24 judgments (16 relevant)\n\nno runs; add one with add_run"
    )


@pytest.mark.parametrize(
    ("metric", "function", "k"),
    [
        ("map", average_precision, None),
        ("precision@5", precision_at_k, 5),
        ("ndcg@10", ndcg_at_k, 10),
        ("mrr", mean_reciprocal_rank, None),
    ],
)
def test_scores_are_those_of_the_functions(collection, metric, function, k):
    found = collection.evaluate()["random"]
    assert found.queries == list(JUDGED)
    expected = [function(collection.runs["random"][query], JUDGED[query], k) for query in JUDGED]
    assert found.scores[metric] == pytest.approx(expected)


def test_a_judged_query_that_a_run_lacks_counts_0_and_is_counted(collection):
    found = collection.evaluate("recall@20")["lacking"]
    assert found.missing == 6
    assert found.aggregate() == {"recall@20": pytest.approx(2 / 8)}


def test_systems_are_compared_with_the_one_that_is_named(collection):
    report = collection.compare("map", baseline="random", test="permutation", seed=3)
    assert report.baseline == "random"
    assert report.measure == "map"
    better = next(each for each in report.comparisons if each.system == "perfect")
    assert better.result.difference > 0.5
    assert better.wins == 8


def test_a_comparison_needs_two_systems():
    alone = TestCollection(documents=DOCUMENTS, queries=QUERIES, judgments=JUDGED, runs={"a": shuffled(1)})
    with pytest.raises(ValueError, match="a comparison needs two systems or more, and there is 1; add runs"):
        alone.compare()


def test_a_comparison_is_by_one_metric(collection):
    with pytest.raises(ValueError, match='a comparison is by one metric, and "map,mrr" names 2'):
        collection.compare("map,mrr")


@pytest.mark.parametrize("wrong", [{"test": "t"}, {"baseline": "nobody"}, {"confidence": 95}])
def test_a_comparison_that_cannot_be_is_a_value_error(collection, wrong):
    with pytest.raises(ValueError, match=f"{next(iter(wrong.values()))}"):
        collection.compare(**wrong)


def test_a_plot_is_a_picture(collection, tmp_path):
    collection.plot(tmp_path / "plot.png", "ndcg@5", baseline="random")
    assert (tmp_path / "plot.png").read_bytes().startswith(b"\x89PNG")
    collection.plot(str(tmp_path / "plot.svg"))
    assert "<svg" in (tmp_path / "plot.svg").read_text()


def test_a_run_takes_the_place_of_one_with_the_same_name(collection):
    collection.add_run("random", {"q1": ["d1", "d1", "d2"]})
    assert collection.runs["random"] == {"q1": ["d1", "d2"]}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"judgments": {}}, "the collection has no judgments"),
        ({"judgments": {"q99": {"d1"}}}, "the judgments: query 'q99' is not in the collection"),
        ({"judgments": {"q1": {"d99"}}}, "the judgments: document 'd99' of query 'q1' is not"),
        ({"runs": {"a": {"q99": ["d1"]}}}, "the run \"a\": query 'q99' is not in the collection"),
        ({"runs": {"a": {"q1": ["d1", "d99"]}}}, "the run \"a\": document 'd99' of query 'q1' is not"),
    ],
    ids=["no judgments", "judged query", "judged document", "run's query", "run's document"],
)
def test_what_does_not_fit_is_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        TestCollection(**{"documents": DOCUMENTS, "queries": QUERIES, "judgments": JUDGED, **wrong})


def test_a_run_that_is_refused_is_not_added(collection):
    with pytest.raises(ValueError, match="not in the collection"):
        collection.add_run("new", {"q1": ["d99"]})
    assert "new" not in collection.runs


def test_a_run_of_queries_that_nobody_judged_cannot_be_evaluated():
    collection = TestCollection(
        documents=DOCUMENTS, queries=QUERIES, judgments={"q1": {"d1"}}, runs={"a": {"q2": ["d1"]}}
    )
    with pytest.raises(InputError, match="share no query"):
        collection.evaluate()

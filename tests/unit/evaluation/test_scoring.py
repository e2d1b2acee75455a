"""Runs against judgments: one value a query, what is missing or undefined, and what memory it takes."""

import math
import subprocess
import sys

import numpy as np
import pytest

from monitor.evaluation import scoring
from monitor.evaluation.files.inputs import InputError
from monitor.evaluation.files.qrels import Qrels
from monitor.evaluation.files.runs import Ranking
from monitor.evaluation.measures import measures_of
from monitor.evaluation.scoring import Evaluation, evaluate_run, judged_rows
from monitor.metrics import METRICS, MetricError, Need, judged_batch

QRELS = Qrels(
    {"q1": {"d1": 2.0, "d2": 1.0, "d3": 0.0}, "q2": {"d1": 1.0}, "q3": {"d1": 0.0, "d2": -1.0}},
    {"q1": {"d1": "A", "d2": "A"}},
)
RUN = [Ranking("q3", ["d1"]), Ranking("q1", ["d9", "d2", "d1"]), Ranking("qx", ["d1"])]


def evaluated(rankings=RUN, metrics="ndcg@10,map", qrels=QRELS, **options):
    return evaluate_run("run", rankings, qrels, measures_of(metrics), **options)


def near(*values):
    return pytest.approx(values, nan_ok=True)


@pytest.fixture(params=[1, 2, 1000])
def _in_batches(request, monkeypatch):
    monkeypatch.setattr(scoring, "BATCH_RANKINGS", request.param)


@pytest.mark.usefixtures("_in_batches")
def test_queries_stand_in_the_order_of_the_judgments_and_a_missing_one_is_0():
    found = evaluated()
    dcg, ideal = 1 / math.log2(3) + 2 / 2, 2 + 1 / math.log2(3)
    assert found.queries == ["q1", "q2", "q3"]
    assert found.scores["ndcg@10"] == near(dcg / ideal, 0, 0)
    assert found.scores["map"] == near((1 / 2 + 2 / 3) / 2, 0, 0)
    assert (found.missing, found.unjudged, found.latency) == (1, 1, None)


@pytest.mark.usefixtures("_in_batches")
def test_common_queries_leave_out_what_the_run_lacks():
    found = evaluated(common_queries=True)
    assert found.queries == ["q1", "q3"]
    assert found.scores["map"] == near((1 / 2 + 2 / 3) / 2, 0)
    assert (found.missing, found.unjudged) == (1, 1)


@pytest.mark.usefixtures("_in_batches")
def test_of_two_rankings_of_a_query_the_later_counts():
    twice = [Ranking("q2", ["d9"]), Ranking("qx", []), Ranking("q2", ["d1"]), Ranking("qx", [])]
    found = evaluated(twice, "mrr")
    assert found.scores["mrr"] == near(0, 1, 0)
    assert (found.missing, found.unjudged) == (2, 1)


def test_an_aggregate_is_the_mean_of_what_is_defined_and_never_nan():
    found = Evaluation("run", ["q1", "q2"], {"a": np.array([0.5, math.nan]), "b": np.array([math.nan] * 2)})
    assert found.aggregate() == {"a": 0.5, "b": None}


def test_an_empty_ranking_is_not_a_missing_query():
    found = evaluated([Ranking("q1", [])], "results")
    assert (found.missing, found.scores["results"].tolist()) == (2, [0, 0, 0])


def test_latency_is_told_where_it_is_known():
    found = evaluated([Ranking("q1", ["d1"], 0.25), Ranking("q2", ["d1"])], "latency")
    assert found.latency is not None
    assert found.latency == near(0.25, math.nan, math.nan)
    assert found.scores["latency"] == near(0.25, math.nan, math.nan)


def test_a_run_that_shares_no_query_with_the_judgments_is_refused():
    with pytest.raises(InputError) as error:
        evaluated([Ranking("301", ["d1"]), Ranking("302", ["d1"])])
    expected = 'the run "run" and the judgments share no query: the run has "301", the judgments have "q1"'
    assert str(error.value) == expected


def test_a_run_without_a_ranking_is_refused():
    with pytest.raises(InputError, match=r'^the run "run" has no ranking$'):
        evaluated([])


def test_documents_of_one_target_count_once():
    found = evaluated(metrics="dedup_recall@10,diversity_count@10")
    assert found.scores["dedup_recall@10"] == near(1, math.nan, math.nan)
    assert found.scores["diversity_count@10"] == near(2, math.nan, math.nan)


def test_a_query_that_a_run_with_embeddings_lacks_is_an_empty_ranking_too():
    vectors = np.array([[1, 0], [0, 1]], dtype=np.float32)
    found = evaluated([Ranking("q1", ["d1", "d2"], None, vectors)], "alpha_ndcg@10,ild@10")
    assert found.scores["alpha_ndcg@10"] == near(1, 0, 0)
    assert found.scores["ild@10"] == near(1, math.nan, math.nan)


def test_without_embeddings_their_metrics_are_undefined():
    assert evaluated(metrics="alpha_ndcg@10,ild@10").aggregate() == {"alpha_ndcg@10": None, "ild@10": None}


def test_rankings_with_large_embeddings_are_scored_fewer_at_a_time(monkeypatch):
    sizes = []
    monkeypatch.setattr(scoring, "BATCH_BYTES", 100)
    monkeypatch.setattr(
        scoring, "judged_rows", lambda rows, *rest: sizes.append(len(rows)) or judged_rows(rows, *rest)
    )
    vectors = np.ones((1, 20), dtype=np.float32)
    evaluated([Ranking("q2", ["d1"], None, vectors)] * 6, "ild@10", common_queries=True)
    assert sizes == [2, 2, 2]


def test_the_rows_are_those_that_the_kernels_are_tested_with():
    found = judged_rows(RUN[:2], QRELS)
    expected = judged_batch([[0], [None, 1, 2]], [[0, -1], [2, 1, 0]])
    for field in ("lengths", "grades", "ideal", "relevant"):
        np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))
    assert found.relevant_targets is not None
    assert found.relevant_targets.tolist() == [-1, 1]


@pytest.mark.parametrize(
    "name", ["ndcg@2", "ap@2", "judged@2", "ndcg(ideal=retrieved)@1", "precision", "map"]
)
def test_only_ranks_that_no_measure_reads_are_left_out(name):
    (measure,) = measures_of(name).values()
    some, all_ = judged_rows(RUN[:2], QRELS, [measure]), judged_rows(RUN[:2], QRELS)
    np.testing.assert_array_equal(measure.score(some), measure.score(all_))


def test_measures_keep_the_names_that_the_user_wrote():
    found = measures_of(" map , rr@5,ndcg(ideal=retrieved, gain=exponential)@10,,map")
    assert [*found] == ["map", "rr@5", "ndcg(ideal=retrieved, gain=exponential)@10"]
    assert [measure.name for measure in found.values()] == [
        "ap", "mrr@5", "ndcg(gain=exponential,ideal=retrieved)@10",
    ]  # fmt: skip


def test_all_stands_for_every_metric_of_judgments():
    found = measures_of("all,ndcg@3", max_grade=2, targets=True, embeddings=True)
    judged = {name for name, metric in METRICS.items() if metric.need is Need.JUDGMENTS} - {"label_delay"}
    assert {measure.metric.name for measure in found.values()} == judged | {"ild"}
    assert {measure.k for measure in found.values() if measure.metric.takes_k} == {10, 3}
    assert "err(max_grade=2)@10" in found


def test_all_leaves_out_what_there_is_nothing_for():
    found = {measure.metric.name for measure in measures_of("all", max_grade=0, targets=False).values()}
    assert found.isdisjoint({"err", "dedup_recall", "diversity_count", "alpha_ndcg", "ild"})


@pytest.mark.parametrize("text", ["", " , "])
def test_no_metric_at_all_is_a_mistake(text):
    with pytest.raises(MetricError, match=r"^no metric is named"):
        measures_of(text)


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_is_computed_or_refused_with_a_reason(name):
    metric = METRICS[name]
    text = name + ("(max_grade=2)" if name == "err" else "") + ("@10" if metric.takes_k else "")
    if metric.need is Need.CLICKS or name == "label_delay":
        with pytest.raises(MetricError, match=r"'ranking-monitor replay' computes it"):
            measures_of(text)
    else:
        assert len(evaluated(metrics=text).scores[text]) == 3


MEMORY = """
import re, resource, sys
from pathlib import Path
from monitor.evaluation.files.qrels import load_qrels
from monitor.evaluation.files.runs import read_run
from monitor.evaluation.measures import measures_of
from monitor.evaluation.scoring import evaluate_run

qrels, run = map(Path, sys.argv[1:])
found = evaluate_run("run", read_run(run), load_qrels(qrels), measures_of("ndcg@10,map"))
assert found.missing == 0
status = Path("/proc/self/status")
# What getrusage() says on Linux counts in the process that started this one, however large that is.
peak = int(re.search(r"VmHWM:\\s+(\\d+)", status.read_text())[1]) if status.exists() else 0
print((peak or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * 1024)
"""


def peak_bytes(folder, queries):
    """Peak memory of a process that evaluates so many queries of depth 100, ten judged each."""
    run, qrels = folder / f"{queries}.run", folder / f"{queries}.qrels"
    ranks = "".join(f"QUERY Q0 D{rank * 7919:07d} {rank} {100 - rank}.5 tag\n" for rank in range(100))
    judged = "".join(f"QUERY 0 D{rank * 7919:07d} 1\n" for rank in range(0, 100, 10))
    for path, text in ((run, ranks), (qrels, judged)):
        with path.open("w") as file:
            file.writelines(text.replace("QUERY", f"q{number:07d}") for number in range(queries))
    ended = subprocess.run(
        [sys.executable, "-c", MEMORY, qrels, run], capture_output=True, text=True, timeout=120, check=True
    )
    return int(ended.stdout)


def test_a_million_queries_of_depth_100_fit_in_2_gigabytes(tmp_path):
    few, many = 1000, 11_000
    small, large = peak_bytes(tmp_path, few), peak_bytes(tmp_path, many)
    for_each_query = (large - small) / (many - few)
    assert small + 1_000_000 * for_each_query < 2e9

"""The same TREC files through the command and through the readers of pytrec_eval, ir_measures and ranx."""

import json
import random

import ir_measures
import numpy as np
import pytest
import pytrec_eval

from tests.oracle.libraries_calls import load_ranx
from tests.oracle.libraries_topics import EDGES, Topic, random_topics
from tests.unit.cli.command import Command

MEASURES = {
    "ndcg@10": ("ndcg_cut_10", "nDCG@10"),
    "ndcg": ("ndcg", "nDCG"),
    "map": ("map", "AP"),
    "ap@5": ("map_cut_5", "AP@5"),
    "rr": ("recip_rank", "RR"),
    "precision@5": ("P_5", "P@5"),
    "recall@20": ("recall_20", "R@20"),
    "success@1": ("success_1", "Success@1"),
    "r_precision": ("Rprec", "Rprec"),
}
"""Measure here, of trec_eval, of ir_measures."""


@pytest.fixture
def command(monkeypatch, capsys):
    return Command(monkeypatch, capsys)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A run and judgments: ties, lines in no order, queries that one of the two lacks."""
    folder = tmp_path_factory.mktemp("trec")
    rng = random.Random(5)
    topics = {f"edge{i}": topic for i, topic in enumerate(EDGES.values())}
    topics |= {f"q{q}": topic for q, topic in random_topics(21, 80, [-1, 0, 0, 1, 2, 3]).items()}
    topics |= {f"missing{i}": Topic({}, {"d1": 1, "d2": 0}) for i in range(3)}
    topics |= {f"unjudged{i}": Topic({"d1": 2.0, "d2": 1.0}, {}) for i in range(3)}
    run = [
        f"{q} Q0 {key} {rng.randint(1, 9)} {score!r} test"
        for q, topic in topics.items()
        for key, score in topic.scores.items()
    ]
    qrels = [f"{q} 0 {key} {grade}" for q, topic in topics.items() for key, grade in topic.grades.items()]
    rng.shuffle(run)
    rng.shuffle(qrels)
    (folder / "a.run").write_text("\n".join(run) + "\n", encoding="utf-8")
    (folder / "a.qrels").write_text("\n".join(qrels) + "\n", encoding="utf-8")
    return folder / "a.run", folder / "a.qrels"


def evaluate(command: Command, run, qrels, *options: str) -> dict:
    finished = command(
        "evaluate",
        "--run",
        run,
        "--qrels",
        qrels,
        "--metrics",
        ",".join(MEASURES),
        "--format",
        "json",
        "--per-query",
        *options,
    )
    assert finished.code == 0, finished.err
    return json.loads(finished.out)["runs"]["a"]


def test_the_command_agrees_with_ir_measures_on_the_same_files(files, command):
    run, qrels = files
    found = evaluate(command, run, qrels)
    names = {eval(theirs, vars(ir_measures)): ours for ours, (_, theirs) in MEASURES.items()}
    expected = ir_measures.calc(
        [*names], ir_measures.read_trec_qrels(str(qrels)), ir_measures.read_trec_run(str(run))
    )
    for metric in expected.per_query:
        assert found["per_query"][metric.query_id][names[metric.measure]] == pytest.approx(metric.value)
    assert set(found["per_query"]) == {metric.query_id for metric in expected.per_query}
    assert found["aggregate"] == pytest.approx({names[m]: value for m, value in expected.aggregated.items()})


def test_the_command_agrees_with_pytrec_eval_with_and_without_the_missing_queries(files, command):
    run, qrels = files
    with run.open(encoding="utf-8") as scores, qrels.open(encoding="utf-8") as grades:
        judged = pytrec_eval.parse_qrel(grades)
        evaluator = pytrec_eval.RelevanceEvaluator(judged, {theirs for theirs, _ in MEASURES.values()})
        expected = evaluator.evaluate(pytrec_eval.parse_run(scores))
    everything = evaluate(command, run, qrels)
    common = evaluate(command, run, qrels, "--common-queries")
    assert set(common["per_query"]) == set(expected) < set(everything["per_query"]) == set(judged)
    assert everything["queries"] == len(judged)
    assert common["queries"] == len(expected)
    for ours, (theirs, _) in MEASURES.items():
        values = {q: scores[theirs] for q, scores in expected.items()}
        for q in judged:
            assert everything["per_query"][q][ours] == pytest.approx(values.get(q, 0.0))
        assert common["aggregate"][ours] == pytest.approx(np.mean([*values.values()]))
        # What `trec_eval -c` gives.
        assert everything["aggregate"][ours] == pytest.approx(sum(values.values()) / len(judged))


def test_a_run_in_json_scores_as_it_does_in_a_trec_file(files, command, tmp_path):
    run, qrels = files
    with run.open(encoding="utf-8") as scores, qrels.open(encoding="utf-8") as grades:
        as_json = {"run": pytrec_eval.parse_run(scores), "qrels": pytrec_eval.parse_qrel(grades)}
    (tmp_path / "a.json").write_text(json.dumps(as_json["run"]), encoding="utf-8")
    (tmp_path / "qrels.json").write_text(json.dumps(as_json["qrels"]), encoding="utf-8")
    found = evaluate(command, tmp_path / "a.json", tmp_path / "qrels.json")
    assert found == evaluate(command, run, qrels)


def test_the_command_agrees_with_ranx_on_files_without_ties(tmp_path, command):
    topics = random_topics(22, 60, [0, 1, 2], ties=False)
    run, qrels = tmp_path / "a.trec", tmp_path / "qrels.trec"
    run.write_text(
        "".join(
            f"{q} Q0 {key} 0 {score} test\n" for q, t in topics.items() for key, score in t.scores.items()
        )
    )
    qrels.write_text(
        "".join(f"{q} 0 {key} {grade}\n" for q, t in topics.items() for key, grade in t.grades.items())
    )
    ranx = load_ranx()
    names = {"ndcg@10": "ndcg@10", "map": "map", "rr": "mrr", "precision@5": "precision@5"}
    expected = ranx.evaluate(
        ranx.Qrels.from_file(str(qrels), kind="trec"),
        ranx.Run.from_file(str(run), kind="trec"),
        [*names.values()],
    )
    found = evaluate(command, run, qrels)["aggregate"]
    assert {ours: found[ours] for ours in names} == pytest.approx(
        {ours: float(expected[theirs]) for ours, theirs in names.items()}
    )

"""Runs from files: TREC, JSON and JSON lines, in the order of trec_eval, with the place of every mistake."""

import gzip
import json
import os
import random
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval

from monitor.evaluation.files import inputs
from monitor.evaluation.files.inputs import InputError
from monitor.evaluation.files.qrels import Qrels
from monitor.evaluation.files.runs import Ranking, read_run, run_name, run_names
from monitor.evaluation.measures import measures_of
from monitor.evaluation.scoring import evaluate_run

TREC = "q1 Q0 d3 1 1.7 tag\nq1 Q0 d1 2 0.2 tag\nq2 Q0 d1 1 5 tag\n"
LISTS = json.dumps({"q1": ["d3", "d1"], "q2": ["d1"]})
SCORES = json.dumps({"q1": {"d1": 0.2, "d3": 1.7}, "q2": {"d1": 5}})
LINES = """\
{"query_id": "q1", "ranked": ["d3", "d1"]}
{"query_id": "q2", "ranked": [{"key": "d1", "score": 5}]}
"""
RECORDS = f"[{LINES.strip().replace(chr(10), ',')}]"
FORMS = pytest.mark.parametrize(
    "content", [TREC, LISTS, SCORES, LINES, RECORDS], ids=["TREC", "lists", "scores", "JSON lines", "a list"]
)
EXPECTED = [Ranking("q1", ["d3", "d1"]), Ranking("q2", ["d1"])]


def refused(path):
    with pytest.raises(InputError) as error:
        list(read_run(path))
    return str(error.value).replace(str(path), "FILE")


def trec(query, *scored):
    return "".join(f"{query} Q0 {key} 0 {score} tag\n" for key, score in scored)


@FORMS
def test_the_content_tells_the_format(file, content):
    assert list(read_run(file(content))) == EXPECTED


@FORMS
def test_every_format_may_be_compressed_whatever_its_name(file, content):
    assert list(read_run(file(gzip.compress(content.encode())))) == EXPECTED


@FORMS
@pytest.mark.parametrize("size", [1, 20, 45])
def test_where_a_block_ends_does_not_matter(file, content, size, monkeypatch):
    monkeypatch.setattr(inputs, "BLOCK_BYTES", size)
    assert list(read_run(file(content))) == EXPECTED


@pytest.mark.parametrize("content", ["", "\n \n", "{}", "[]"])
def test_a_file_without_rankings_has_none(file, content):
    assert list(read_run(file(content))) == []


@pytest.mark.parametrize(
    ("scored", "keys"),
    [
        ([("d1", 1), ("d2", 2), ("d3", 1.5)], ["d2", "d3", "d1"]),
        ([("d1", 1), ("d3", 1), ("d2", 1)], ["d3", "d2", "d1"]),
        ([("d10", 1), ("d9", 1)], ["d9", "d10"]),
        ([("d1", 1.0), ("d2", 0.99999999)], ["d2", "d1"]),  # the same in single precision
        ([("d1", 1e300), ("d2", 1e200), ("d0", 3)], ["d2", "d1", "d0"]),
        ([("d1", "-1e-3"), ("d2", "+.5"), ("d3", "1.")], ["d3", "d2", "d1"]),
        ([("Z", 1), ("a", 1), ("é", 1), ("日", 1)], ["日", "é", "a", "Z"]),
    ],
)
def test_scores_are_sorted_as_trec_eval_does(file, scored, keys):
    assert list(read_run(file(trec("q1", *scored)))) == [Ranking("q1", keys)]
    as_json = json.dumps({"q1": {key: float(score) for key, score in scored}})
    assert list(read_run(file(as_json))) == [Ranking("q1", keys)]


def test_random_runs_score_as_in_pytrec_eval(file):
    rng = random.Random(3)
    run, grades = {}, {}
    for number in range(300):
        pool = [f"d{i}" for i in range(30)]
        scored = rng.sample(pool, rng.randint(1, 30))
        run[f"q{number}"] = {key: rng.choice([0, 0.5, 1, 1.00000001, rng.random()]) for key in scored}
        grades[f"q{number}"] = {key: rng.choice([0, 1, 2]) for key in rng.sample(pool, 9)}
    content = "".join(trec(query, *scored.items()) for query, scored in run.items())
    expected = pytrec_eval.RelevanceEvaluator(grades, {"ndcg_cut.10", "map"}).evaluate(run)
    qrels = Qrels({query: dict(judged) for query, judged in grades.items()}, {})
    for text in (content, json.dumps(run)):
        found = evaluate_run("run", read_run(file(text)), qrels, measures_of("ndcg@10,map"))
        for name, theirs in (("ndcg@10", "ndcg_cut_10"), ("map", "map")):
            wanted = [expected[query][theirs] for query in found.queries]
            np.testing.assert_allclose(found.scores[name], wanted, atol=1e-12)


@pytest.mark.parametrize(
    "content",
    [
        trec("q1", ("d1", 3), ("d2", 2), ("d1", 1)),
        trec("q1", ("d1", 1), ("d2", 2), ("d1", 3)),
        '{"q1": ["d1", "d2", "d1"]}',
        '{"query_id": "q1", "ranked": ["d1", "d2", {"key": "d1"}]}',
    ],
)
def test_a_key_that_comes_twice_counts_at_its_first_rank(file, content):
    assert list(read_run(file(content))) == [Ranking("q1", ["d1", "d2"])]


def test_a_query_whose_lines_do_not_stand_together_comes_again_complete(file):
    found = list(read_run(file(trec("q1", ("d1", 2)) + trec("q2", ("d5", 1)) + trec("q1", ("d2", 3)))))
    assert found == [Ranking("q1", ["d1"]), Ranking("q2", ["d5"]), Ranking("q1", ["d2", "d1"])]


@pytest.mark.parametrize("size", [1, 60, 1 << 16])
def test_a_run_sorted_by_rank_is_the_same_as_one_sorted_by_query(file, size, monkeypatch):
    monkeypatch.setattr(inputs, "BLOCK_BYTES", size)
    lines = [trec(f"q{query}", (f"d{rank}", 9 - rank)) for query in range(5) for rank in range(4)]
    by_rank = [lines[query * 4 + rank] for rank in range(4) for query in range(5)]
    packed = gzip.compress("".join(by_rank).encode())
    found = {ranking.query: ranking.keys for ranking in read_run(file(packed))}
    assert found == {f"q{query}": ["d0", "d1", "d2", "d3"] for query in range(5)}


def test_impressions_carry_latency_and_embeddings(file):
    line = {
        "type": "impression",
        "impression_id": "i1",
        "ts": 1.0,
        "query_id": "q1",
        "ranked": ["d1", {"key": "d2", "score": None}, "d1"],
        "latency_seconds": 0.25,
        "embeddings": [[1, 0], "AACAPwAAAEA=", [5, 5]],
    }
    (found,) = read_run(file(json.dumps(line)))
    assert found[:3] == ("q1", ["d1", "d2"], 0.25)
    assert found.embeddings is not None
    assert found.embeddings.tolist() == [[1, 0], [1, 2]]


def test_a_key_that_comes_twice_keeps_the_embedding_of_its_first_rank(file):
    line = {
        "query_id": "q1",
        "ranked": ["d1", "d2", "d1", "d3", "d2"],
        "embeddings": [[1], [2], [3], [4], [5]],
    }
    (found,) = read_run(file(json.dumps(line)))
    assert found.keys == ["d1", "d2", "d3"]
    assert found.embeddings is not None
    assert found.embeddings.tolist() == [[1], [2], [4]]


def test_other_events_are_passed_over(file):
    events = [
        {"type": "click", "impression_id": "i1", "ts": 1, "key": "d1"},
        {"type": "judgment", "query_id": "q1", "key": "d1", "ts": 1, "grade": 1},
        {"type": "impression", "query_id": 7, "ranked": [3, 4]},
    ]
    path = file("\n".join(map(json.dumps, events)))
    assert list(read_run(path)) == [Ranking("7", ["3", "4"])]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            TREC + "q1 Q0 d3 2\n",
            "FILE:4: read as a TREC run: 4 fields; a line is `query Q0 document rank score tag`",
        ),
        (TREC + trec("q9", ("d1", "high")), 'FILE:4: read as a TREC run: score "high" is not a number'),
        ("\n" + trec("q9", ("d1", "nan")), 'FILE:2: read as a TREC run: score "nan" is not a number'),
        (trec("q9", ("d1", "-inf")), 'FILE:1: read as a TREC run: score "-inf" is not a number'),
        (trec("q9", ("d1", "1_0")), 'FILE:1: read as a TREC run: score "1_0" is not a number'),
        (trec("q9", ("d1", "1,5")), 'FILE:1: read as a TREC run: score "1,5" is not a number'),
        (trec("q9", ("d1", "1e999")), 'FILE:1: read as a TREC run: score "1e999" is not a number'),
        (b"q1 Q0 d\xff 1 1 t", "FILE:1: read as a TREC run: not UTF-8"),
        ('{"q1": ["d1"]', "FILE:1: read as JSON: it ends too early"),
        (
            '{"q1": 5}',
            (
                'FILE: read as a JSON object: query "q1" must have ranked documents, '
                'as ["d3", "d1"], or scores, as {"d3": 1.7}'
            ),
        ),
        (
            '{"q1": ["d1", null]}',
            'FILE: read as a JSON object: query "q1": rank 2 is null; give the document\'s id as text',
        ),
        *(
            (
                f'{{"q1": {{"d1": {sent}}}}}',
                f'FILE: read as a JSON object: query "q1", document "d1": score {shown} is not a number',
            )
            for sent, shown in [
                ("NaN", "nan"),
                ("true", "true"),
                ('"1"', '"1"'),
                ("1e999", "inf"),
                ("1" + "0" * 400, "1" + "0" * 38 + "…"),
                ("[]", "[]"),
            ]
        ),
        (LINES + '{"query_id": "q1"}', 'FILE:3: read as JSON lines: needs "query_id" and "ranked"'),
        (LINES + "oh", "FILE:3: read as JSON lines: JSON is malformed: invalid character (byte 0)"),
        (
            LINES + '{"query_id": "q1", "ranked": 5}',
            "FILE:3: read as JSON lines: Expected `array | null`, got `int` - at `$.ranked`",
        ),
        (LINES + '{"type": "view"}', 'FILE:3: read as JSON lines: type is "view"; a run has impressions'),
        *(
            (
                f'{{"query_id": "q1", "ranked": ["d1", "d2"], "embeddings": {sent}}}',
                (
                    "FILE:1: read as JSON lines: embeddings must be one vector of finite numbers"
                    " for each ranked key"
                ),
            )
            for sent in ("[[1]]", "[[1], [1, 2]]", "[[1], [1e39]]")
        ),
        (
            '[{"query_id": "q1", "ranked": ["d1"], "embeddings": [[NaN]]}]',
            (
                "FILE: read as a JSON list: item 1: embeddings must be one vector of finite numbers"
                " for each ranked key"
            ),
        ),
        ("[5]", "FILE: read as a JSON list: item 1: Expected `object`, got `int`"),
    ],
)
def test_a_mistake_gets_one_line_that_names_its_place(file, content, message):
    assert refused(file(content)) == message


def test_a_mistake_far_down_is_named_by_its_line(file):
    content = "".join(f"q{i // 20} Q0 d{i} {i} {-i} tag\n" for i in range(20_000))
    assert refused(file(content + "q1 Q0 d1 1 x tag\n")).startswith("FILE:20001: ")


def test_a_missing_file_cannot_be_read(tmp_path):
    assert refused(tmp_path / "none.run") == 'cannot read "FILE": No such file or directory'


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("runs/bm25.run", "bm25"),
        ("bm25.v1.2.txt.gz", "bm25.v1.2"),
        ("input.bm25", "input.bm25"),
        (".run", ".run"),
    ],
)
def test_a_run_is_named_after_its_file(path, name):
    assert run_name(Path(path)) == name


def test_runs_of_one_name_are_told_apart():
    paths = ["a/x.run", "b/x.run", "y.run", "c/z.run", "c/z.txt"]
    names = ["a/x", "b/x", "y", "c/z.run", "c/z.txt"]
    assert run_names([Path(path) for path in paths]) == names


@pytest.mark.parametrize("size", [1, 30, 100])
def test_a_query_of_many_blocks_is_one_ranking(file, size, monkeypatch):
    monkeypatch.setattr(inputs, "BLOCK_BYTES", size)
    content = trec("q1", ("d0", 9)) + trec("q2", *((f"d{i}", -i) for i in range(50))) + trec("q3", ("d0", 9))
    found = list(read_run(file(content)))
    assert [ranking.query for ranking in found] == ["q1", "q2", "q3"]
    assert found[1].keys == [f"d{i}" for i in range(50)]


@pytest.mark.parametrize("query", ["[q1]", "{q1}", "[1]"])
def test_a_query_whose_name_begins_with_a_bracket_is_not_json(file, query):
    assert list(read_run(file(trec(query, ("d3", 2), ("d1", 1))))) == [Ranking(query, ["d3", "d1"])]


def test_a_file_name_of_any_bytes_becomes_text():
    path = Path(os.fsdecode(b"runs\xff/bm25\xff.run"))
    assert run_names([path, path]) == ["runs\ufffd/bm25\ufffd.run"] * 2

"""evaluate: runs against judgments, as a table, JSON or CSV, and one line for every mistake."""

import csv
import gzip
import io
import json
import os
import threading

import pytest
from rich.cells import cell_len

from tests.unit.cli.command import in_ascii

TREC_RUN = "q1 Q0 d3 1 1.7 tag\nq1 Q0 d1 2 0.2 tag\nq3 Q0 d1 1 1 tag\nq4 Q0 d1 1 1 tag\n"
JSON_RUN = json.dumps({"q1": ["d1", "d3"], "q2": {"d9": 2, "d1": 1}})
QRELS = json.dumps({"q1": {"d3": 2, "d1": 0}, "q2": {"d1": 1}})
IMPRESSIONS = """\
{"query_id": "q1", "ranked": ["d3", "d1"], "latency_seconds": 0.25, "embeddings": [[1, 0], [0, 1]]}
{"type": "click", "impression_id": "i1", "ts": 1, "key": "d1"}
"""
JUDGMENTS = """\
{"query_id": "q1", "key": "d3", "grade": 2, "target": "A"}
{"query_id": "q1", "key": "d1", "grade": 1, "target": "A"}
"""


@pytest.fixture
def file(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def evaluate(command, file):
    """Call the command with two runs and their judgments."""
    runs = ["--run", file("bm25.run", TREC_RUN), "--run", file("dense.json", JSON_RUN)]
    qrels = ["--qrels", file("qrels.json", QRELS)]
    return lambda *options: command("evaluate", *runs, *qrels, *options)


@pytest.fixture
def impressions(command, file):
    """Call the command with impressions and judgments with targets."""
    files = ["--run", file("log.jsonl", IMPRESSIONS), "--qrels", file("judgments.jsonl", JUDGMENTS)]
    return lambda *options: command("evaluate", *files, *options)


def cells(shown):
    return [line.split() for line in shown.splitlines() if line.strip()]


def test_the_table_has_a_row_for_each_metric_and_a_column_for_each_run(evaluate):
    shown = evaluate("--metrics", "ndcg@10,map,rr")
    assert shown.code == 0
    assert cells(shown.out)[0] == ["metric", "bm25", "dense"]
    assert cells(shown.out)[2:] == [
        ["ndcg@10", "0.5000", "0.6309"],
        ["map", "0.5000", "0.5000"],
        ["rr", "0.5000", "0.5000"],
        ["queries", "2", "2"],
    ]


def test_what_a_run_lacks_and_what_nobody_judged_is_told(evaluate):
    assert evaluate().err.splitlines() == [
        "bm25: 1 query is judged but not in the run, counted as empty rankings",
        "bm25: 2 queries are in the run but not judged, ignored",
    ]


def test_common_queries_leave_out_what_a_run_lacks(evaluate):
    shown = evaluate("--metrics", "map", "--common-queries")
    assert cells(shown.out)[2:] == [["map", "1.0000", "0.5000"], ["queries", "1", "2"]]
    assert shown.err.splitlines()[0] == "bm25: 1 query is judged but not in the run, left out"


def test_the_table_of_queries_stands_above_that_of_means(evaluate):
    found = cells(evaluate("--metrics", "map", "--per-query").out)
    assert found[0] == ["run", "query", "map"]
    assert found[2:6] == [
        ["bm25", "q1", "1.0000"],
        ["bm25", "q2", "0.0000"],
        ["dense", "q1", "0.5000"],
        ["dense", "q2", "0.5000"],
    ]
    assert ["map", "0.5000", "0.5000"] in found


@pytest.mark.parametrize("options", [[], ["--per-query"]])
def test_json_has_means_and_queries(evaluate, options):
    shown = evaluate("--format", "json", "--metrics", "map,rr@1", *options)
    assert json.loads(shown.out) == {
        "runs": {
            "bm25": {
                "aggregate": {"map": 0.5, "rr@1": 0.5},
                "per_query": {"q1": {"map": 1.0, "rr@1": 1.0}, "q2": {"map": 0.0, "rr@1": 0.0}},
                "queries": 2,
            },
            "dense": {
                "aggregate": {"map": 0.5, "rr@1": 0.0},
                "per_query": {"q1": {"map": 0.5, "rr@1": 0.0}, "q2": {"map": 0.5, "rr@1": 0.0}},
                "queries": 2,
            },
        }
    }


def test_csv_has_a_row_for_each_run(evaluate):
    shown = evaluate("--format", "csv", "--metrics", "map,ndcg(ideal=all,gain=linear)@1")
    assert list(csv.reader(io.StringIO(shown.out))) == [
        ["run", "queries", "map", "ndcg(ideal=all,gain=linear)@1"],
        ["bm25", "2", "0.5", "0.5"],
        ["dense", "2", "0.5", "0.0"],
    ]


def test_csv_has_a_row_for_each_query_if_asked(evaluate):
    shown = evaluate("--format", "csv", "--metrics", "map,rr", "--per-query")
    assert shown.out.splitlines() == [
        "run,query,map,rr",
        "bm25,q1,1.0,1.0",
        "bm25,q2,0.0,0.0",
        "dense,q1,0.5,0.5",
        "dense,q2,0.5,0.5",
    ]


def test_what_is_undefined_is_null_empty_or_a_dash(command, file):
    qrels = file("qrels.jsonl", JUDGMENTS + '{"query_id": "q2", "key": "d3", "grade": 1}\n')
    call = ["evaluate", "--run", file("log.json", JSON_RUN), "--qrels", qrels, "--metrics", "dedup_recall@5"]
    found = json.loads(command(*call, "--format", "json").out)["runs"]["log"]
    assert found["per_query"] == {"q1": {"dedup_recall@5": 1.0}, "q2": {"dedup_recall@5": None}}
    assert found["aggregate"] == {"dedup_recall@5": 1.0}
    assert "log,q2,\n" in command(*call, "--format", "csv", "--per-query").out
    assert ["log", "q2", "-"] in cells(command(*call, "--per-query").out)


def test_all_metrics_are_those_that_the_files_have_the_makings_of(evaluate, impressions):
    few = json.loads(evaluate("--metrics", "all", "--format", "json").out)["runs"]["bm25"]["aggregate"]
    assert {"ndcg@10", "ap@10", "iprec11", "err(max_grade=2)@10"} <= few.keys()
    assert few.keys().isdisjoint({"dedup_recall@10", "alpha_ndcg@10", "label_delay", "ctr@10"})
    more = json.loads(impressions("--metrics", "all", "--format", "json").out)["runs"]["log"]["aggregate"]
    assert more.keys() - few.keys() == {
        "dedup_recall@10", "diversity_count@10", "alpha_ndcg@10", "ild@10",
    }  # fmt: skip
    assert None not in more.values()


def impression(query, embedded):
    vectors = {"embeddings": [[1, 0], [0, 1]]} if embedded else {}
    return json.dumps({"query_id": query, "ranked": ["d1", "d3"], **vectors}) + "\n"


EMBEDDED = {"ild@10", "alpha_ndcg@10"}


def all_metrics(command, file, *runs):
    """What --metrics all gives for runs of two queries each, with embeddings or without: means, messages."""
    options = []
    for number, (first, second) in enumerate(runs):
        run = file(f"run{number}.jsonl", impression("q1", first) + impression("q2", second))
        options += ["--run", run]
    shown = command(
        "evaluate", *options, "--qrels", file("qrels.json", QRELS), "--metrics", "all", "--format", "json"
    )
    assert shown.code == 0
    return [run["aggregate"] for run in json.loads(shown.out)["runs"].values()], shown.err


def test_all_metrics_have_embeddings_where_any_line_has(command, file):
    (means,), told = all_metrics(command, file, (False, True))
    assert means.keys() >= EMBEDDED
    assert None not in means.values()
    assert told == ""


def test_of_all_metrics_a_run_without_embeddings_has_null_where_another_run_has_values(command, file):
    (without, having), told = all_metrics(command, file, (False, False), (True, True))
    assert {name for name, mean in without.items() if mean is None} == EMBEDDED
    assert None not in having.values()
    assert told == ""


def test_of_all_metrics_those_without_a_value_in_any_run_are_left_out_and_named(command, file):
    means, told = all_metrics(command, file, (False, False), (False, False))
    assert all(EMBEDDED.isdisjoint(each) for each in means)
    assert told == "left out, without a value in any run: ild@10, alpha_ndcg@10\n"


def test_a_metric_that_is_named_beside_all_is_not_left_out(evaluate):
    said = 'metric "ild@10" needs embeddings, and the run "bm25" has none; JSON lines can carry them'
    assert evaluate("--metrics", "all,ild@10") == (2, "", f"ranking-monitor: {said}\n")


def test_impressions_have_embeddings_and_latency(impressions):
    shown = impressions("--metrics", "ild@10,latency,dedup_recall@1", "--format", "csv")
    assert shown.out.splitlines()[1:] == ["log,1,1.0,0.25,1.0"]


def test_runs_of_one_name_are_told_apart_by_their_folder(command, file):
    runs = [
        "--run",
        file("a/bm25.run", TREC_RUN),
        "--run",
        file("b/bm25.run.gz", gzip.compress(TREC_RUN.encode())),
    ]
    shown = command("evaluate", *runs, "--qrels", file("qrels.json", QRELS), "--format", "json")
    assert [*json.loads(shown.out)["runs"]] == ["a/bm25", "b/bm25"]


def test_names_cannot_command_the_terminal(command, file):
    run = file("\x1b[31mred.json", json.dumps({"\x1b[2J[bold]": ["d1"]}))
    qrels = file("qrels.json", json.dumps({"\x1b[2J[bold]": {"d1": 1}}))
    shown = command("evaluate", "--run", run, "--qrels", qrels, "--per-query")
    assert (shown.code, "\x1b" in shown.out) == (0, False)
    assert "[2J[bold]" in shown.out
    assert "[31mred" in shown.out


def test_messages_about_queries_cannot_command_the_terminal(command, file):
    run = file("\x1b[31mred.json", json.dumps({"q1": ["d1"], "q9": ["d1"]}))
    shown = command("evaluate", "--run", run, "--qrels", file("qrels.json", QRELS))
    assert shown.err.count("\N{REPLACEMENT CHARACTER}[31mred: ") == 2


def test_characters_that_take_two_columns_do_not_move_the_table(command, file):
    run = file("run.json", json.dumps({"日本": ["d1"], "plain": ["d1"]}))
    qrels = file("qrels.json", json.dumps({"日本": {"d1": 1}, "plain": {"d1": 1}}))
    shown = command("evaluate", "--run", run, "--qrels", qrels, "--metrics", "map", "--per-query")
    rows = [line for line in shown.out.splitlines() if line.startswith("  run ") and "1.0000" in line]
    assert len(rows) == 2
    assert {cell_len(row) for row in rows} == {len("  run   query   0.0000")}


@pytest.mark.parametrize(
    "options", [["--per-query"], ["--format", "csv", "--per-query"], ["--format", "json"]]
)
def test_what_standard_output_cannot_encode_is_escaped(file, options):
    run = file("é.json", json.dumps({"日本": ["d1"]}))
    qrels = file("qrels.json", json.dumps({"日本": {"d1": 1}}))
    ended = in_ascii("evaluate", "--run", run, "--qrels", qrels, *options)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert rb"\u65e5\u672c" in ended.stdout
    if "json" in options:
        assert json.loads(ended.stdout)["runs"]["é"]["per_query"].keys() == {"日本"}


@pytest.mark.parametrize("kind", ["table", "json", "csv"])
def test_a_file_name_that_is_not_utf_8_is_shown_all_the_same(file, command, kind):
    run = file(os.fsdecode(b"bm25\xff.json"), JSON_RUN)
    shown = command("evaluate", "--run", run, "--qrels", file("qrels.json", QRELS), "--format", kind)
    assert (shown.code, shown.err) == (0, "")


@pytest.mark.parametrize("form", ["TREC", "JSON lines"])
def test_a_run_may_come_through_a_pipe(command, file, tmp_path, form):
    os.mkfifo(tmp_path / "pipe")
    content = TREC_RUN if form == "TREC" else IMPRESSIONS
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(content,))
    writer.start()
    shown = command("evaluate", "--run", tmp_path / "pipe", "--qrels", file("qrels.json", QRELS))
    writer.join()
    assert shown.code == 0
    assert (
        shown.out
        == command("evaluate", "--run", file("same/pipe", content), "--qrels", tmp_path / "qrels.json").out
    )


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        (
            "ndgc@10",
            'unknown metric "ndgc@10"; did you mean "ndcg@10"? run \'ranking-monitor metrics\' for the list',
        ),
        ("map@0", 'metric "map@0": k must be a whole number, 1 or more, not "0"'),
        (
            "ctr@10",
            (
                'metric "ctr@10" needs clicks, which are not in a run;'
                " 'ranking-monitor replay' computes it from a file of events"
            ),
        ),
        (
            "ild@10",
            'metric "ild@10" needs embeddings, and the run "bm25" has none; JSON lines can carry them',
        ),
        (
            "latency",
            (
                'metric "latency" needs latencies, and the run "bm25" has none;'
                " JSON lines can carry `latency_seconds`"
            ),
        ),
        ("dedup_recall@5", 'metric "dedup_recall@5" needs judgments with a `target`, and none has one'),
        ("", 'no metric is named; write them with commas between, say "ndcg@10,map"'),
    ],
)
def test_a_metric_that_cannot_be_computed_is_one_line(evaluate, metrics, message):
    assert evaluate("--metrics", metrics) == (2, "", f"ranking-monitor: {message}\n")


def test_a_mistake_in_a_metric_shows_before_files_are_read(command, tmp_path):
    none = tmp_path / "none"
    ended = command("evaluate", "--run", none, "--qrels", none, "--metrics", "nodcg")
    assert ended.err.startswith('ranking-monitor: unknown metric "nodcg"')


def test_a_malformed_line_is_named(command, file):
    run = file("bm25.run", TREC_RUN + "q5 Q0 d1 1\n")
    qrels = file("qrels.json", QRELS)
    said = "read as a TREC run: 4 fields; a line is `query Q0 document rank score tag`"
    expected = (2, "", f"ranking-monitor: {run}:5: {said}\n")
    assert command("evaluate", "--run", run, "--qrels", qrels) == expected


def test_a_run_and_judgments_without_a_common_query_are_refused(command, file):
    qrels = file("other.json", '{"301": {"d1": 1}}')
    ended = command("evaluate", "--run", file("bm25.run", TREC_RUN), "--qrels", qrels)
    said = 'the run "bm25" and the judgments share no query: the run has "q1", the judgments have "301"'
    assert ended == (2, "", f"ranking-monitor: {said}\n")


def test_an_empty_run_is_refused(command, file):
    ended = command("evaluate", "--run", file("bm25.run", ""), "--qrels", file("qrels.json", QRELS))
    assert ended == (2, "", 'ranking-monitor: the run "bm25" has no ranking\n')


def test_a_run_that_is_given_twice_is_refused(command, file):
    run = file("bm25.run", TREC_RUN)
    ended = command("evaluate", "--run", run, "--run", run, "--qrels", file("qrels.json", QRELS))
    assert ended == (2, "", f'ranking-monitor: --run: "{run}" is given twice; give each run once\n')

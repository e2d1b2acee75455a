"""compare: what is printed and written for files, and mistakes told in one line."""

import csv
import io
import json
import sys

import pytest

from tests.unit.cli.command import in_ascii

BM25, DENSE = [3, 2, 1, 5, 4, 3, 2, 1], [1, 1, 1, 2, 1, 1, 1, 3]
"""The rank of each query's document of grade 2 in the two runs: their reciprocals are known by heart."""
DIFFERENCE = sum(1 / rank for rank in DENSE) / 8 - sum(1 / rank for rank in BM25) / 8
QRELS = "".join(f"q{query} 0 d{query % 3} 2\nq{query} 0 other 1\n" for query in range(8))


def trec(first_rank_of_relevant):
    """A run of 5 documents a query, with the document of grade 2 at the rank given for the query."""
    lines = []
    for query, rank in enumerate(first_rank_of_relevant):
        keys = [f"x{i}" for i in range(4)]
        keys.insert(rank - 1, f"d{query % 3}")
        lines += [f"q{query} Q0 {key} {i} {10 - i} run\n" for i, key in enumerate(keys, start=1)]
    return "".join(lines)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with judgments and two runs, in which the command is called."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "bm25.run").write_text(trec(BM25))
    (tmp_path / "dense.run").write_text(trec(DENSE))
    return tmp_path


TWO = ("compare", "--run", "bm25.run", "--run", "dense.run", "--qrels", "qrels.txt")


def found(finished, told=""):
    assert (finished.code, finished.err) == (0, told)
    return json.loads(finished.out)


def refused(finished):
    assert (finished.code, finished.out) == (2, "")
    (line,) = finished.err.splitlines()
    return line.removeprefix("ranking-monitor: ")


def test_the_table_has_means_differences_and_a_verdict(command, files):
    ended = command(*TWO, "--metric", "rr")
    lines = [" ".join(line.split()) for line in ended.out.splitlines()]
    assert (ended.code, ended.err) == (0, "")
    assert "rr: means" in lines
    bm25, dense = lines[lines.index("rr: means") + 4 :][:2]
    assert bm25.startswith("bm25 0.5146 [")
    assert bm25.endswith("] 8 0")
    assert dense.startswith("dense 0.8542 [")
    row = next(line for line in lines if line.startswith("dense +"))
    assert row.startswith("dense +0.3396 [")
    assert row.endswith("6 1 1 better, marginal")
    assert "rr: queries that moved most, dense against bm25" in lines
    assert any(line.startswith("q4 0.2500 1.0000 +0.7500") for line in lines)
    assert any(line.startswith("q7 1.0000 0.3333 -0.6667") for line in lines)


def test_json_has_every_number(command, files):
    whole = found(command(*TWO, "--metric", "rr", "--format", "json", "--movers", "1"))
    assert {
        name: whole[name] for name in ("baseline", "test", "confidence", "seed", "comparisons_corrected")
    } == {
        "baseline": "bm25",
        "test": "paired_t",
        "confidence": 0.95,
        "seed": 0,
        "comparisons_corrected": 1,
    }
    (measured,) = whole["metrics"].values()
    assert measured["queries"] == 8
    assert measured["systems"]["dense"]["mean"] == pytest.approx(0.8541667)
    assert measured["systems"]["dense"]["latency_seconds"] is None
    compared = measured["comparisons"]["dense"]
    assert compared["difference"] == pytest.approx(DIFFERENCE)
    assert compared["p"] == compared["p_holm"]
    assert [compared[name] for name in ("wins", "ties", "losses", "queries", "undefined")] == [6, 1, 1, 8, 0]
    assert compared["moved_up"] == [{"query": "q4", "baseline": 0.25, "system": 1.0, "difference": 0.75}]
    assert compared["moved_down"] == [
        {"query": "q7", "baseline": 1.0, "system": 1 / 3, "difference": pytest.approx(-2 / 3)}
    ]


def test_csv_has_a_line_for_each_comparison(command, files):
    ended = command(*TWO, "--metric", "rr,ndcg@10", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(ended.out)))
    assert [(row["metric"], row["baseline"], row["system"]) for row in rows] == [
        ("rr", "bm25", "dense"),
        ("ndcg@10", "bm25", "dense"),
    ]
    assert float(rows[0]["difference"]) == pytest.approx(DIFFERENCE)
    assert float(rows[0]["system_mean"]) - float(rows[0]["baseline_mean"]) == pytest.approx(DIFFERENCE)
    assert float(rows[0]["p"]) < float(rows[0]["p_holm"]) <= 1


def test_metrics_may_come_in_one_option_or_in_several(command, files):
    together = command(*TWO, "--metric", "rr,err(max_grade=2)@5", "--format", "json")
    apart = command(*TWO, "--metric", "rr", "--metric", "err(max_grade=2)@5", "--format", "json")
    assert together.out == apart.out
    assert found(together)["comparisons_corrected"] == 2
    assert list(found(together)["metrics"]) == ["rr", "err(max_grade=2)@5"]


def test_without_a_metric_it_is_ndcg_at_10(command, files):
    assert list(found(command(*TWO, "--format", "json"))["metrics"]) == ["ndcg@10"]


def test_all_metrics_are_those_that_the_files_have_data_for(command, files):
    told = "left out, without a value for two queries in common: ild@10, alpha_ndcg@10\n"
    measured = found(command(*TWO, "--metric", "all", "--format", "json"), told)["metrics"]
    assert {"ndcg@10", "ap@10", "r_precision", "err(max_grade=2)@10"} <= measured.keys()
    assert not {"dedup_recall@10", "ild@10"} & measured.keys()


def test_of_all_metrics_those_without_values_to_compare_are_left_out_and_named(command, files):
    lines = [{"query_id": f"q{i}", "key": f"d{i % 3}", "grade": 1} for i in range(8)]
    lines[0]["target"] = "one"
    (files / "qrels.txt").write_text("".join(json.dumps(line) + "\n" for line in lines))
    ended = command(*TWO, "--metric", "all", "--format", "json")
    assert ended.code == 0
    message = "left out, without a value for two queries in common: "
    assert ended.err.startswith(message)
    left_out = ended.err.removeprefix(message).strip().split(", ")
    assert "dedup_recall@10" in left_out
    assert not json.loads(ended.out)["metrics"].keys() & set(left_out)


def impressions(embeddings_from):
    """A run with embeddings from some query on."""
    lines = [
        {"query_id": f"q{query}", "ranked": [f"d{query % 3}", "other"]}
        | ({"embeddings": [[1, 0], [0, 1]]} if query >= embeddings_from else {})
        for query in range(8)
    ]
    return "".join(json.dumps(line) + "\n" for line in lines)


@pytest.mark.parametrize(
    ("first", "second", "comparable"),
    [(0, 0, True), (3, 5, True), (0, 8, False), (8, 0, False), (8, 8, False), (0, 7, False)],
)
def test_all_metrics_are_compared_that_both_runs_have_values_of(command, files, first, second, comparable):
    (files / "bm25.run").write_text(impressions(first))
    (files / "dense.run").write_text(impressions(second))
    ended = command(*TWO, "--metric", "all", "--format", "json")
    assert ended.code == 0
    assert ("ild@10" in json.loads(ended.out)["metrics"]) is comparable
    assert ("ild@10" in ended.err) is not comparable


def test_a_metric_that_is_named_beside_all_is_not_left_out(command, files):
    ended = command(*TWO, "--metric", "all,ild@10")
    message = 'metric "ild@10" needs embeddings, and the run "bm25" has none; JSON lines can carry them'
    assert refused(ended) == message


@pytest.mark.parametrize(("option", "name"), [("--report", "out.html"), ("--plot", "out.png")])
def test_a_command_that_fails_leaves_no_empty_file(command, files, option, name):
    (files / "bm25.run").write_text("no run\n")
    assert command(*TWO, option, name).code == 2
    assert not (files / name).exists()


def test_the_baseline_can_be_named(command, files):
    whole = found(command(*TWO, "--metric", "rr", "--baseline", "dense", "--format", "json"))
    assert whole["baseline"] == "dense"
    assert whole["metrics"]["rr"]["comparisons"]["bm25"]["difference"] == pytest.approx(-DIFFERENCE)


@pytest.mark.parametrize("test", ["paired_t", "wilcoxon", "bootstrap", "permutation"])
def test_every_test_can_be_asked_for_and_the_seed_repeats_it(command, files, test):
    options = ("--metric", "rr", "--test", test, "--seed", "5", "--confidence", "0.9", "--format", "json")
    first, again = command(*TWO, *options), command(*TWO, *options)
    assert first.out == again.out
    assert found(first)["test"] == test
    assert 0 < found(first)["metrics"]["rr"]["comparisons"]["dense"]["p"] < 0.2


def test_a_query_that_a_run_lacks_counts_0_or_is_left_out_on_demand(command, files):
    (files / "dense.run").write_text(trec(DENSE).partition("q7")[0])
    told = "dense: 1 query is judged but not in the run, "
    asked = (*TWO, "--metric", "rr", "--format", "json")
    with_zero = found(command(*asked), told + "counted as empty rankings\n")["metrics"]["rr"]
    assert (with_zero["queries"], with_zero["systems"]["dense"]["missing"]) == (8, 1)
    assert with_zero["comparisons"]["dense"]["moved_down"][0]["system"] == 0.0
    without = found(command(*asked, "--common-queries"), told + "left out\n")["metrics"]["rr"]
    assert without["queries"] == 7
    assert without["systems"]["dense"]["mean"] == pytest.approx(6.5 / 7)
    assert without["systems"]["bm25"]["left_out"] == 1
    assert without["comparisons"]["dense"]["losses"] == 0


def test_latency_is_compared_where_the_runs_carry_it(command, files):
    for name, seconds in (("fast", 0.010), ("slow", 0.030)):
        lines = [
            {"query_id": f"q{i}", "ranked": ["d0", "d1", "d2"], "latency_seconds": seconds + i / 1000}
            for i in range(8)
        ]
        (files / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    runs = ("compare", "--run", "fast.jsonl", "--run", "slow.jsonl", "--qrels", "qrels.txt")
    measured = found(command(*runs, "--format", "json"))["metrics"]["ndcg@10"]
    assert measured["systems"]["fast"]["latency_seconds"] == pytest.approx(
        {"mean": 0.0135, "p50": 0.0135, "p95": 0.01665, "queries": 8}
    )
    assert measured["comparisons"]["slow"]["latency_difference_seconds"] == pytest.approx(0.02)
    lines = [" ".join(line.split()) for line in command(*runs).out.splitlines()]
    assert "Latency in milliseconds" in lines
    assert "slow 33.5 33.5 36.6 +20.0 8" in lines


def test_the_report_and_the_plot_are_written(command, files):
    ended = command(*TWO, "--report", "out.html", "--plot", "out.png")
    assert (ended.code, ended.err) == (0, "")
    page = (files / "out.html").read_text(encoding="utf-8")
    assert "<h1>dense against bm25</h1>" in page
    assert "plotly.js" in page
    assert "Interpolated precision at 11 levels of recall" in page
    assert "recall@10" in page, "told in words, though not compared"
    assert (files / "out.png").read_bytes().startswith(b"\x89PNG")


def test_runs_of_the_same_file_name_are_told_apart_by_their_folders(command, files):
    for folder, ranks in (("old", [2] * 8), ("new", [1] * 8)):
        (files / folder).mkdir()
        (files / folder / "run.txt").write_text(trec(ranks))
    runs = ("--run", "old/run.txt", "--run", "new/run.txt", "--qrels", "qrels.txt", "--format", "json")
    assert found(command("compare", *runs))["baseline"] == "old/run"


def test_control_characters_of_a_file_do_not_reach_the_terminal(command, files):
    evil = "q\u001b[2Jq"
    (files / "qrels.json").write_text(json.dumps({evil: {"d": 1}, "q1": {"d": 1}}))
    (files / "a.json").write_text(json.dumps({evil: ["d"], "q1": ["d"]}))
    (files / "b.json").write_text(json.dumps({evil: ["x", "d"], "q1": ["d"]}))
    ended = command("compare", "--run", "a.json", "--run", "b.json", "--qrels", "qrels.json")
    assert ended.code == 0
    assert "\u001b[2J" not in ended.out
    assert "q�[2Jq" in ended.out


@pytest.mark.parametrize("kind", ["table", "json", "csv"])
def test_what_standard_output_cannot_encode_is_escaped(files, kind):
    (files / "bm25.run").rename(files / "日本.run")
    runs = ["--run", "日本.run", "--run", "dense.run", "--qrels", "qrels.txt", "--format", kind]
    ended = in_ascii("compare", *runs)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert rb"\u65e5\u672c" in ended.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ["--baseline", "bm52"],
            'no run is named "bm52"; did you mean "bm25"? the runs are "bm25", "dense"',
        ),
        (["--metric", "ndgc@10"], 'unknown metric "ndgc@10"; did you mean "ndcg@10"?'),
        (["--test", "ttest"], 'unknown test "ttest"; the tests are "paired_t", '),
        (["--confidence", "95"], "confidence 95 is not allowed; give a number between 0 and 1, as 0.95"),
        (["--confidence", "nan"], "confidence nan is not allowed"),
        (["--movers", "-1"], "--movers: -1 is not allowed; give 0 or more"),
        (["--seed", "-1"], "--seed: -1 is not allowed; give 0 or more"),
        (["--report", "qrels.txt"], '--report: "qrels.txt" must end in .html'),
        (["--report", "none/out.html"], 'cannot write "none/out.html": No such file or directory'),
        (["--plot", "out.gif"], 'cannot draw "out.gif": the name must end in .png, .svg or .pdf'),
        (["--plot", "none/out.png"], 'cannot write "none/out.png": No such file or directory'),
        (["--format", "xml"], "Invalid value for '--format'"),
    ],
)
def test_mistakes_are_told_in_one_line_before_any_work(command, files, options, message):
    (files / "bm25.run").write_text("not a run that could be read\n")
    assert refused(command(*TWO, *options)).startswith(message)
    assert (files / "qrels.txt").read_text() == QRELS


def test_one_run_is_nothing_to_compare(command, files):
    ended = command("compare", "--run", "bm25.run", "--qrels", "qrels.txt")
    assert refused(ended) == "a comparison needs two runs or more; 1 is given, give another"


def test_one_query_is_too_few(command, files):
    (files / "qrels.txt").write_text("q0 0 d0 1\n")
    assert command(*TWO).err.splitlines()[-1] == (
        'ranking-monitor: ndcg@10: "bm25" and "dense" both have a value for 1 of 1 queries in common;'
        " a comparison needs two"
    )


def test_a_library_that_is_not_installed_is_named(command, files, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly.offline", None)
    message = '--report needs plotly: pip install "ranking-monitor[eval]"'
    assert refused(command(*TWO, "--report", "out.html")) == message
    assert not (files / "out.html").exists()


def test_nothing_that_is_printed_is_nan(command, files):
    (files / "dense.run").write_text(trec(BM25))
    for kind in ("table", "json", "csv"):
        ended = command(*TWO, "--metric", "rr", "--format", kind)
        assert ended.code == 0
        assert "nan" not in ended.out.lower()

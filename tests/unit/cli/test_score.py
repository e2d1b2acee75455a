"""score: passages against golds, printed between rulers and written as JSON."""

import gzip
import json

import pytest

PREDICTIONS = [
    {"query": "who?", "retrieved_passages": ["So Ann wrote it.", "It is long.", "in 1999"]},
    {"query": "why?", "retrieved_passages": ["Nobody knows."]},
]
GOLD = {
    "tests": [
        {
            "query": "who?",
            "snippets": [
                {"file_path": "a.txt", "span": [3, 16], "answer": "Ann wrote it"},
                {"file_path": "a.txt", "span": [20, 27], "answer": "In 1999"},
            ],
        },
        {"query": "where?", "snippets": [{"file_path": "b.txt", "span": [0, 4], "answer": "here"}]},
    ]
}
SHOWN = """\
Evaluation Results:
==================================================
exact_match: 0.0000
span_f1: 0.4286
recall@10: 0.5000
ndcg@10: 0.4599
num_examples: 2
missing_predictions: 1
unmatched_predictions: 1
tests_without_gold: 0
==================================================
"""


@pytest.fixture
def files(tmp_path):
    predictions, gold = tmp_path / "predictions.json", tmp_path / "gold.json"
    predictions.write_text(json.dumps(PREDICTIONS))
    gold.write_text(json.dumps(GOLD))
    return predictions, gold


def test_the_scores_are_printed_between_rulers_with_four_decimals(command, files):
    assert command("score", *files) == (0, SHOWN, "")


def test_the_names_have_the_cut_off_that_was_asked_for(command, files):
    shown = command("score", *files, "--k", 2)
    assert "\nrecall@2: 0.2500\n" in shown.out
    assert "\nndcg@2: 0.3066\n" in shown.out
    assert "@10" not in shown.out


def test_the_same_is_written_as_json(command, files, tmp_path):
    out = tmp_path / "out.json"
    assert command("score", *files, "--output", out) == (0, SHOWN, "")
    scores = json.loads(out.read_text())
    assert scores == {
        "exact_match": 0.0,
        "span_f1": pytest.approx(3 / 7),
        "recall@10": 0.5,
        "ndcg@10": pytest.approx(0.4599, abs=5e-5),
        "num_examples": 2,
        "missing_predictions": 1,
        "unmatched_predictions": 1,
        "tests_without_gold": 0,
    }
    assert isinstance(scores["num_examples"], int)


def test_no_predictions_at_all_score_0_without_a_mistake(command, files):
    files[0].write_text("[]")
    shown = command("score", *files)
    assert (shown.code, shown.err) == (0, "")
    assert "\nndcg@10: 0.0000\nnum_examples: 2\nmissing_predictions: 2\n" in shown.out


def test_files_may_be_compressed(command, files):
    for path in files:
        path.write_bytes(gzip.compress(path.read_bytes()))
    assert command("score", *files).out == SHOWN


@pytest.mark.parametrize("k", [0, -1])
def test_a_cut_off_below_1_is_refused(command, files, k):
    ended = command("score", *files, "--k", k)
    assert ended == (2, "", f"ranking-monitor: --k: {k} is not allowed; give 1 or more\n")


def test_a_malformed_file_is_a_mistake_of_the_user_with_its_place(command, files):
    files[0].write_text('[{"query": "who?"}]')
    ended = command("score", *files)
    place = f"{files[0]}: [0]: object missing required field `retrieved_passages`"
    form = '[{"query": "...", "retrieved_passages": ["...", ...]}, ...]'
    assert ended == (2, "", f"ranking-monitor: {place}; the file is {form}\n")


def test_a_missing_file_is_a_mistake_of_the_user(command, files, tmp_path):
    ended = command("score", files[0], tmp_path / "none.json")
    reason = f'cannot read "{tmp_path / "none.json"}": No such file or directory'
    assert ended == (2, "", f"ranking-monitor: {reason}\n")


def test_a_command_that_fails_leaves_no_empty_file(command, tmp_path):
    output = tmp_path / "scores.json"
    assert command("score", tmp_path / "none", tmp_path / "none", "--output", output).code == 2
    assert not output.exists()


def test_a_command_that_fails_leaves_a_file_as_it_was(command, tmp_path):
    output = tmp_path / "scores.json"
    output.write_text("yesterday")
    assert command("score", tmp_path / "none", tmp_path / "none", "--output", output).code == 2
    assert output.read_text() == "yesterday"


def test_a_link_to_a_file_that_is_not_there_yet_can_be_written(command, files, tmp_path):
    output = tmp_path / "link.json"
    output.symlink_to(tmp_path / "scores.json")
    assert command("score", *files, "--output", output).code == 0
    assert json.loads((tmp_path / "scores.json").read_text())


def test_a_folder_cannot_be_written(command, files, tmp_path):
    ended = command("score", *files, "--output", tmp_path)
    assert ended == (2, "", f'ranking-monitor: cannot write "{tmp_path}": Is a directory\n')


def test_where_nothing_can_be_written_is_told_before_the_work(command, tmp_path):
    path = tmp_path / "no" / "folder"
    ended = command("score", tmp_path / "none.json", tmp_path / "none.json", "--output", path)
    assert ended == (2, "", f'ranking-monitor: cannot write "{path}": No such file or directory\n')

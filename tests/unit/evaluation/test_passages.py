"""Passages against golds: what matches what, what counts once, and what is missing on either side."""

import json
import math
import sys

import pytest

from monitor.evaluation.files.inputs import InputError
from monitor.evaluation.files.passage_files import read_gold, read_predictions
from monitor.evaluation.passages import exact_match, newly_found, score_passages, span_f1, tokens
from monitor.extras import MissingExtra

SECOND = 1 / math.log2(3)


def scored(passages, golds, k=10):
    return score_passages({"q": passages}, {"q": golds}, k)


@pytest.mark.parametrize(
    ("passage", "golds", "expected"),
    [
        ("Ann wrote it.", ["ann WROTE it."], 1),
        ("\n Ann wrote it. ", ["somebody", "Ann wrote it."], 1),
        ("Ann wrote it", ["Ann wrote it."], 0),
        ("Ann  wrote it.", ["Ann wrote it."], 0),
        ("Ann", ["Ann wrote it."], 0),
        ("", [""], 0),
        (" ", ["\n"], 0),
        ("?!", ["?!"], 1),
        ("Ann", [], 0),
    ],
)
def test_an_exact_match_is_the_same_text_but_for_case_and_outer_space(passage, golds, expected):
    assert exact_match(passage, golds) == expected


@pytest.mark.parametrize(
    ("passage", "golds", "expected"),
    [
        ("Ann wrote it", ["it WROTE Ann"], 1),
        ("Ann Ann Ann wrote it", ["Ann wrote it"], 1),
        ("Ann wrote it", ["Ann wrote a book"], 4 / 7),
        ("Ann wrote it", ["nothing alike", "Ann"], 0.5),
        ("Ann wrote it", ["Bob"], 0),
        ("Ann wrote it", [], 0),
        ("", [""], 0),
        ("?!", ["?!"], 0),
    ],
)
def test_span_f1_is_of_the_words_that_are_shared_with_the_best_gold(passage, golds, expected):
    assert span_f1(passage, golds) == pytest.approx(expected)


def test_only_tokens_that_are_alphanumeric_throughout_count():
    assert tokens('Don\'t pay "$5" for 3.5 non-profit dogs. Pay 7%!') == {"do", "pay", "5", "for", "7"}


def test_no_data_has_to_be_downloaded_for_the_tokens(monkeypatch):
    nltk = pytest.importorskip("nltk")
    monkeypatch.setattr(nltk.data, "path", [])
    assert tokens("Ann wrote it.") == {"ann", "wrote", "it"}


@pytest.mark.parametrize(
    ("passages", "golds", "expected"),
    [
        (["so Ann wrote it"], ["ann wrote it"], [1]),
        (["Ann"], ["so Ann wrote it"], [1]),
        (["Ann", "Ann", "so Ann"], ["ann"], [1, 0, 0]),
        (["Bob", "Ann"], ["ann", "bob"], [1, 1]),
        (["Ann and Bob", "Bob"], ["ann", "bob"], [2, 0]),
        (["Ann"], ["ann", " ANN "], [1]),
        (["", " ", "Ann"], ["ann", ""], [0, 0, 1]),
        ([], ["ann"], []),
        (["Ann"], [], [0]),
    ],
)
def test_a_gold_is_found_once_by_the_first_passage_that_holds_it_or_is_held_by_it(passages, golds, expected):
    assert newly_found(passages, golds) == expected


def test_a_gold_found_again_neither_raises_recall_nor_ndcg():
    once, again = scored(["Ann"], ["ann", "bob"]), scored(["Ann", "so Ann", "Ann"], ["ann", "bob"])
    assert (once.recall, once.ndcg) == (again.recall, again.ndcg)


def test_a_later_rank_is_worth_less_to_ndcg_and_as_much_to_recall():
    scores = scored(["nothing", "Ann"], ["ann"])
    assert (scores.recall, scores.ndcg) == pytest.approx((1, SECOND))


def test_passages_below_the_cut_off_count_for_neither_recall_nor_ndcg():
    scores = scored(["nothing", "Ann"], ["ann"], k=1)
    assert (scores.recall, scores.ndcg) == (0, 0)


def test_one_passage_with_every_gold_is_a_perfect_answer_and_no_more():
    scores = scored(["Ann, Bob and Eve"], ["ann", "bob", "eve"])
    assert (scores.recall, scores.ndcg) == (1, 1)


def test_the_worked_example_of_the_docstring_is_so():
    scores = scored(["Nothing", "Ann wrote it", "ANN WROTE IT", "it was 1999"], ["ann", "wrote", "1999"], k=3)
    assert (scores.recall, scores.ndcg) == pytest.approx((2 / 3, 2 * SECOND / (1 + SECOND + 0.5)))
    assert round(scores.ndcg, 3) == 0.592


def test_exact_match_and_span_f1_look_at_the_first_passage_only():
    scores = scored(["Bob", "Ann wrote it"], ["Ann wrote it"])
    assert (scores.exact_match, scores.span_f1, scores.recall) == (0, 0, 1)


def test_a_gold_query_without_a_prediction_scores_0_and_is_counted():
    scores = score_passages({"a": ["Ann"]}, {"a": ["Ann"], "b": ["Bob"]})
    assert (scores.exact_match, scores.span_f1, scores.recall, scores.ndcg) == (0.5, 0.5, 0.5, 0.5)
    assert (scores.num_examples, scores.missing_predictions) == (2, 1)


def test_a_prediction_without_passages_scores_0_and_is_not_missing():
    scores = scored([], ["Ann"])
    assert (scores.exact_match, scores.span_f1, scores.recall, scores.ndcg) == (0, 0, 0, 0)
    assert scores.missing_predictions == 0


def test_a_prediction_without_gold_is_counted_and_changes_nothing_else():
    scores = score_passages({"a": ["Ann"], "c": ["Eve"]}, {"a": ["Ann"]})
    assert (scores.ndcg, scores.num_examples, scores.unmatched_predictions) == (1, 1, 1)


@pytest.mark.parametrize("golds", [[], [""], [" ", "\n"]])
def test_a_query_with_nothing_to_find_scores_0_and_is_counted(golds):
    scores = scored(["Ann", ""], golds)
    assert (scores.exact_match, scores.span_f1, scores.recall, scores.ndcg) == (0, 0, 0, 0)
    assert (scores.num_examples, scores.tests_without_gold) == (1, 1)


def test_an_empty_gold_beside_others_is_never_found():
    scores = scored(["Ann"], ["ann", ""])
    assert scores.recall == 0.5
    assert scores.tests_without_gold == 0


def test_no_golds_at_all_cannot_be_scored():
    with pytest.raises(ValueError, match="no golds"):
        score_passages({"q": ["Ann"]}, {})


def test_without_nltk_the_user_is_told_how_to_get_it(monkeypatch):
    from monitor.evaluation import passages

    passages._tokenizer.cache_clear()
    monkeypatch.setitem(sys.modules, "nltk", None)
    monkeypatch.delitem(sys.modules, "nltk.tokenize", raising=False)
    with pytest.raises(MissingExtra, match=r'score needs nltk: pip install "ranking-monitor\[eval\]"'):
        tokens("Ann")


# Files


@pytest.fixture
def written(tmp_path):
    def write(content):
        path = tmp_path / "file.json"
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return path

    return write


def test_a_passage_is_text_or_an_object_with_its_text(written):
    path = written([{"query": "q", "retrieved_passages": ["one", {"text": "two", "score": 0.5}]}])
    assert read_predictions(path) == {"q": ["one", "two"]}


@pytest.mark.parametrize(
    ("snippet", "text"),
    [
        ({"file_path": "a.txt", "span": [3, 9], "answer": "Ann"}, "Ann"),
        ({"file_path": "a.txt", "span": "the span", "answer": "Ann"}, "Ann"),
        ({"span": "the span", "answer": " "}, "the span"),
        ({"span": "the span", "answer": None}, "the span"),
        ({"span": "the span"}, "the span"),
        ({"span": [3, 9]}, ""),
        ({}, ""),
    ],
)
def test_the_gold_text_is_the_answer_or_else_a_span_that_is_text(written, snippet, text):
    assert read_gold(written({"tests": [{"query": "q", "snippets": [snippet], "tags": ["x"]}]})) == {
        "q": [text]
    }


NOT_JSON = "read as JSON: "
PASSAGES = "[0].retrieved_passages"


@pytest.mark.parametrize(
    ("read", "content", "message"),
    [
        (read_predictions, b'[{"query":\n}]', f"{NOT_JSON}Expecting value: line 2 column 1 (char 11)"),
        (read_predictions, b"\xff", f"{NOT_JSON}'utf-8' codec can't decode byte 0xff in position 0:"),
        (read_predictions, b"", f"{NOT_JSON}Expecting value: line 1 column 1 (char 0)"),
        (read_predictions, b"[" * 100_000, NOT_JSON),
        (read_predictions, {}, "expected `array`, got `object`; the file is [{"),
        (read_predictions, [{"query": "q"}], "[0]: object missing required field `retrieved_passages`; the"),
        (read_predictions, [{"query": 7, "retrieved_passages": []}], "[0].query: expected `str`, got `int`;"),
        (read_predictions, [{"query": "q", "retrieved_passages": ["a", 3]}], f"{PASSAGES}[1]: expected"),
        (read_predictions, [{"query": "q", "retrieved_passages": [{}]}], f"{PASSAGES}[0]: object missing"),
        (read_predictions, [{"query": "q", "retrieved_passages": []}] * 2, '[1].query: "q" stands there tw'),
        (read_gold, [], 'expected `object`, got `array`; the file is {"tests": ['),
        (read_gold, {"tests": []}, "tests is empty; nothing can be scored"),
        (read_gold, {"tests": [{"query": "q", "snippets": [{"answer": 7}]}]}, "tests[0].snippets[0].answer:"),
        (read_gold, {"tests": [{"query": "q", "snippets": []}] * 2}, 'tests[1].query: "q" stands there'),
    ],
)
def test_a_malformed_file_is_told_in_one_line_with_its_place(written, read, content, message):
    path = written(content)
    with pytest.raises(InputError) as caught:
        read(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)

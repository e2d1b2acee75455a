"""Passage scoring against trec_eval and scikit-learn where they have it, and against plain Python."""

import math
import random
from statistics import mean

import pytest
import pytrec_eval
from nltk.tokenize import NLTKWordTokenizer
from sklearn.metrics import f1_score

from monitor.evaluation.passages import newly_found, score_passages, span_f1

WORDS = ["ann", "Ann's", "BOB", "bob", "lease", "rent.", "rent", "3.5", "non-profit", "30", "days,", "§", " "]
CUT_OFFS = (1, 2, 3, 5, 100)


def text(rng, longest):
    return rng.choice(["", " ", "\n"]) + " ".join(rng.choices(WORDS, k=rng.randint(0, longest)))


def make_queries(seed, count):
    """Passages and golds of queries, with empty ones, repeated ones and ones that hold each other."""
    rng = random.Random(seed)
    return [
        ([text(rng, 6) for _ in range(rng.randint(0, 6))], [text(rng, 3) for _ in range(rng.randint(0, 4))])
        for _ in range(count)
    ]


QUERIES = make_queries(seed=1, count=400)


def normal(written):
    return written.strip().lower()


def first_rank(gold, passages):
    """Where a gold is found for the first time; None if nowhere."""
    for rank, passage in enumerate(map(normal, passages), 1):
        if passage and gold and (passage in gold or gold in passage):
            return rank
    return None


def plain_recall(passages, golds, k):
    wanted = {normal(gold) for gold in golds}
    return mean([first_rank(gold, passages[:k]) is not None for gold in wanted]) if wanted else 0


def plain_ndcg(passages, golds, k):
    wanted = {normal(gold) for gold in golds}
    ranks = [first_rank(gold, passages[:k]) for gold in wanted]
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(wanted), k) + 1))
    return min(sum(1 / math.log2(rank + 1) for rank in ranks if rank) / ideal, 1) if wanted else 0


def plain_exact_match(passages, golds):
    return float(bool(passages and normal(passages[0]) and normal(passages[0]) in map(normal, golds)))


def words(written):
    return {token for token in NLTKWordTokenizer().tokenize(written.lower()) if token.isalnum()}


def plain_f1(passages, golds):
    if not passages:
        return 0
    said = words(passages[0])
    shared = [(len(said & words(gold)), len(words(gold))) for gold in golds]
    rates = [(both / len(said), both / wanted) for both, wanted in shared if both]
    return max((2 * precision * recall / (precision + recall) for precision, recall in rates), default=0)


def sklearn_f1(passage, gold):
    """The F1 of a classifier that says of every word whether it stands in the gold."""
    said, true = words(passage), words(gold)
    every = sorted(said | true | {"a word that stands nowhere"})
    return f1_score([word in true for word in every], [word in said for word in every], zero_division=0)


def in_one_file(queries):
    return (
        {f"q{i}": passages for i, (passages, _) in enumerate(queries)},
        {f"q{i}": golds for i, (_, golds) in enumerate(queries)},
    )


@pytest.mark.parametrize("k", CUT_OFFS)
def test_every_query_scores_as_in_plain_python(k):
    seen = set()
    for passages, golds in QUERIES:
        scores = score_passages({"q": passages}, {"q": golds}, k)
        expected = (
            plain_exact_match(passages, golds),
            plain_f1(passages, golds),
            plain_recall(passages, golds, k),
            plain_ndcg(passages, golds, k),
        )
        assert (scores.exact_match, scores.span_f1, scores.recall, scores.ndcg) == pytest.approx(expected)
        assert all(0 <= value <= 1 for value in expected)
        seen.update(enumerate(expected))
    assert all(len({value for i, value in seen if i == column}) >= 2 for column in range(4))


def test_a_file_scores_as_the_mean_of_its_queries():
    scores = score_passages(*in_one_file(QUERIES), k=3)
    assert scores.recall == pytest.approx(mean(plain_recall(*query, 3) for query in QUERIES))
    assert scores.ndcg == pytest.approx(mean(plain_ndcg(*query, 3) for query in QUERIES))
    assert scores.exact_match == pytest.approx(mean(plain_exact_match(*query) for query in QUERIES))


@pytest.mark.parametrize("k", [1, 5, 10])
def test_where_no_passage_brings_two_golds_ndcg_and_recall_are_those_of_trec_eval(k):
    """Passages are the documents; a gold that is not found is a relevant document that was not retrieved."""
    plain = [
        (passages, golds)
        for passages, golds in QUERIES
        if passages and max(newly_found(passages, golds)) == 1
    ]
    assert len(plain) > 50
    qrels, run = {}, {}
    for i, (passages, golds) in enumerate(plain):
        found = newly_found(passages, golds)
        lost = len({normal(gold) for gold in golds}) - sum(found)
        qrels[f"q{i}"] = {f"p{rank}": hit for rank, hit in enumerate(found)} | {
            f"lost{j}": 1 for j in range(lost)
        }
        run[f"q{i}"] = {f"p{rank}": -float(rank) for rank in range(len(found))}
    names = (f"ndcg_cut_{k}", f"recall_{k}")
    expected = pytrec_eval.RelevanceEvaluator(qrels, set(names)).evaluate(run)
    for i, (passages, golds) in enumerate(plain):
        scores = score_passages({"q": passages}, {"q": golds}, k)
        assert (scores.ndcg, scores.recall) == pytest.approx([expected[f"q{i}"][name] for name in names])


def test_span_f1_is_that_of_a_classifier_of_words():
    found = set()
    for passages, golds in make_queries(seed=2, count=40):
        for passage in passages:
            expected = max((sklearn_f1(passage, gold) for gold in golds), default=0)
            assert span_f1(passage, golds) == pytest.approx(expected)
            found.add(expected)
    assert len(found) > 5

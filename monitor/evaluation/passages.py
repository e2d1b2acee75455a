"""Retrieved passages against gold texts: exact match, token F1, and how many golds were found how early."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import Any

from monitor.extras import need
from monitor.metrics import judged_batch, parse


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageScores:
    """Means over the queries that have golds, and what was missing on either side."""

    k: int
    exact_match: float
    span_f1: float
    recall: float
    ndcg: float
    num_examples: int
    """Gold queries: every mean is over all of them."""
    missing_predictions: int
    """Gold queries without a prediction; each scores 0."""
    unmatched_predictions: int
    """Predictions for queries that have no gold; they count in no mean."""
    tests_without_gold: int
    """Gold queries without any text to find; each scores 0."""

    def as_dict(self) -> dict[str, float]:
        """Return the scores under the names that are printed."""
        return {
            "exact_match": self.exact_match,
            "span_f1": self.span_f1,
            f"recall@{self.k}": self.recall,
            f"ndcg@{self.k}": self.ndcg,
            "num_examples": self.num_examples,
            "missing_predictions": self.missing_predictions,
            "unmatched_predictions": self.unmatched_predictions,
            "tests_without_gold": self.tests_without_gold,
        }


def score_passages(
    predictions: Mapping[str, Sequence[str]], golds: Mapping[str, Sequence[str]], k: int = 10
) -> PassageScores:
    """Score the passages retrieved for each query, best first, against the query's gold texts.

    >>> predictions = {"who wrote it?": ["Ann wrote it.", "It is long."], "who read it?": ["Nobody."]}
    >>> golds = {"who wrote it?": ["ann wrote it.", "in 1999"], "when was it read?": ["never"]}
    >>> scores = score_passages(predictions, golds, k=2).as_dict()
    >>> scores["exact_match"], scores["recall@2"], scores["num_examples"]
    (0.5, 0.25, 2)
    >>> scores["missing_predictions"], scores["unmatched_predictions"]
    (1, 1)
    """
    if not golds:
        raise ValueError("there are no golds; nothing can be scored")
    ndcg = parse(f"ndcg@{k}")
    examples = [(predictions.get(query) or [""], list(_distinct(texts))) for query, texts in golds.items()]
    found = [newly_found(passages[:k], texts) for passages, texts in examples]
    # The ideal is one gold a rank. A passage with several golds may do better: the metric's bounds cut that.
    batch = judged_batch(found, [[1.0] * len(texts) for _, texts in examples])
    return PassageScores(
        k=k,
        exact_match=fmean(exact_match(passages[0], texts) for passages, texts in examples),
        span_f1=fmean(span_f1(passages[0], texts) for passages, texts in examples),
        recall=fmean(sum(n) / max(len(texts), 1) for n, (_, texts) in zip(found, examples, strict=True)),
        ndcg=fmean(ndcg.score(batch)),
        num_examples=len(golds),
        missing_predictions=len(golds.keys() - predictions.keys()),
        unmatched_predictions=len(predictions.keys() - golds.keys()),
        tests_without_gold=sum(not any(texts) for _, texts in examples),
    )


def exact_match(passage: str, golds: Iterable[str]) -> float:
    """Return 1 if the passage is one of the golds after lower-casing and stripping, otherwise 0.

    Of a query, the first retrieved passage is asked. Empty text is no match.

    >>> exact_match(" Ann wrote it. ", ["in 1999", "ann wrote it."]), exact_match("Ann", ["ann wrote it."])
    (1.0, 0.0)
    """
    text = _normal(passage)
    return float(bool(text) and text in _distinct(golds))


def span_f1(passage: str, golds: Iterable[str]) -> float:
    """Return the F1 of the tokens that passage and gold share, of the gold for which it is highest.

    Of a query, the first retrieved passage is asked. Tokens are those of NLTK's NLTKWordTokenizer over the
    lower-cased text that are alphanumeric throughout, each counted once however often it stands there; with
    them, precision is the share of the passage's tokens that the gold has, recall the share of the gold's
    that the passage has. What is not alphanumeric throughout is left out on both sides: `non-profit`, `3.5`,
    and a word with the full stop of a sentence in the middle of the text, which this tokenizer does not
    split off. A text without a token scores 0.

    >>> span_f1("Ann wrote it", ["Ann wrote a book", "in 1999"]).__round__(3)  # 2 of 3, and 2 of 4
    0.571
    """
    mine = tokens(passage)
    return max((_f1(mine, tokens(gold)) for gold in golds), default=0.0)


def newly_found(passages: Iterable[str], golds: Iterable[str]) -> list[int]:
    """Return for each passage how many golds it is the first to match.

    Each gold counts once, at the first passage that matches it; golds that are alike after lower-casing and
    stripping are one. The sum of the first k over the number of golds is recall@k. Taken as grades, with an
    ideal of one gold at each rank from the first on, they give nDCG@k: each gold that is found earns
    1 / log2(rank + 1). One passage may match several golds, and then be worth more than the ideal has at its
    rank; the score ends at 1.

    >>> newly_found(["Nothing", "Ann wrote it", "ANN WROTE IT", "it was 1999"], ["ann", "wrote", "1999"])
    [0, 2, 0, 1]

    Recall@3 is 2/3, nDCG@3 is 2 / log2(3) over 1 + 1 / log2(3) + 1 / log2(4), or 0.592.
    """
    left = _distinct(golds)
    counts = []
    for passage in passages:
        matched = [gold for gold in left if matches(passage, gold)]
        for gold in matched:
            del left[gold]
        counts.append(len(matched))
    return counts


def matches(passage: str, gold: str) -> bool:
    """Return whether either contains the other after lower-casing and stripping; empty text never matches.

    >>> matches("So Ann wrote it.", "ann wrote it "), matches("Ann", "Ann wrote it"), matches(" ", "Ann")
    (True, True, False)
    """
    text, wanted = _normal(passage), _normal(gold)
    return bool(text and wanted) and (wanted in text or text in wanted)


def tokens(text: str) -> frozenset[str]:
    """Return the alphanumeric tokens of a text, lower-cased.

    >>> sorted(tokens("The cat, the CAT and 2 non-profit dogs."))
    ['2', 'and', 'cat', 'dogs', 'the']
    """
    return frozenset(token for token in _tokenizer().tokenize(text.lower()) if token.isalnum())


def _f1(passage: frozenset[str], gold: frozenset[str]) -> float:
    return 2 * len(passage & gold) / max(len(passage) + len(gold), 1)


def _normal(text: str) -> str:
    return text.lower().strip()


def _distinct(golds: Iterable[str]) -> dict[str, None]:
    return dict.fromkeys(map(_normal, golds))


@cache
def _tokenizer() -> Any:
    return need("nltk.tokenize", "score").NLTKWordTokenizer()

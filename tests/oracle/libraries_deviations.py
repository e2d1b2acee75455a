"""Where a library gives another number than this project, or none: each case with both."""

import subprocess
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn import metrics as sklearn_metrics

from tests.oracle.libraries_calls import irm, pytrec, ranx, ranx_of_dicts, sklearn, sklearn_binary
from tests.oracle.libraries_topics import Topic, Topics, listed


class Raises(NamedTuple):
    """The library refuses."""

    error: type[BaseException]
    text: str = ""


LEFT_OUT = None
"""The library gives the query no value at all."""


class Deviation(NamedTuple):
    """One query for which the values differ; it is called "1", or what `query` says."""

    why: str
    topic: Topic
    spec: str
    here: float
    call: Callable[[Topics], dict[str, float]]
    there: float | Raises | None
    query: str = "1"


def by_scores(name: str, *, ignore_ties: bool = False):
    """scikit-learn with the scores as they are, ties and all."""
    function = getattr(sklearn_metrics, name)
    options = {"ignore_ties": True} if ignore_ties else {}

    def one(topic: Topic) -> float:
        grades = [topic.grades.get(key, 0) for key in topic.scores]
        return float(function([grades], [list(topic.scores.values())], **options))

    return lambda topics: {q: one(topic) for q, topic in topics.items()}


TIED = Topic({"a": 1.0, "b": 1.0}, {"a": 1})
TIED_AS_FLOAT32 = Topic({"a": 1.00000001, "b": 1.0}, {"a": 1})
SECOND = 1 / np.log2(3)
FIRST_IN_AN_UNSTABLE_SORT = 1 / (1 + np.argsort([-1.0, -1.0]).tolist().index(0))

TIES = [
    Deviation("RR@k of ir_measures takes the lowest name first", TIED, "mrr@10", 0.5, irm("RR@10"), 1.0),
    Deviation("RR without a cut-off does not, being trec_eval's", TIED, "mrr", 0.5, irm("RR"), 0.5),
    Deviation("Judged@k takes the lowest name first too", TIED, "judged@1", 0.0, irm("Judged@1"), 1.0),
    Deviation(
        "ranx leaves ties to a sort that is not stable",
        TIED,
        "mrr",
        0.5,
        ranx("mrr"),
        FIRST_IN_AN_UNSTABLE_SORT,
    ),
    Deviation(
        "scikit-learn averages over the tied orders",
        TIED,
        "ndcg(ideal=retrieved)",
        SECOND,
        by_scores("ndcg_score"),
        (1 + SECOND) / 2,
    ),
    Deviation("RR@k compares doubles", TIED_AS_FLOAT32, "mrr@10", 0.5, irm("RR@10"), 1.0),
    Deviation("ranx compares doubles", TIED_AS_FLOAT32, "mrr", 0.5, ranx("mrr"), 1.0),
    Deviation(
        "gdeval compares doubles",
        TIED_AS_FLOAT32,
        "ndcg(gain=exponential)@10",
        SECOND,
        irm("nDCG(dcg='exp-log2')@10"),
        1.0,
    ),
    Deviation(
        "scikit-learn compares doubles",
        TIED_AS_FLOAT32,
        "ndcg(ideal=retrieved)",
        SECOND,
        by_scores("ndcg_score"),
        1.0,
    ),
]

NEGATIVE_FIRST = Topic(listed("a", "b"), {"a": -1, "b": 1})
HALF = Topic(listed("a", "b"), {"a": 0.5, "b": 2.0})
THREE = Topic({"a": 1.0}, {"a": 3})
FIVE = Topic(listed("a", "b"), {"a": 5, "b": 1})

GRADES = [
    Deviation(
        "trec_eval takes whole grades only",
        HALF,
        "ndcg",
        (0.5 + 2 * SECOND) / (2 + 0.5 * SECOND),
        pytrec("ndcg"),
        Raises(TypeError, "Expected relevance to be integer"),
    ),
    Deviation(
        "gdeval too",
        HALF,
        "err(max_grade=2)@10",
        0.43972086912079617,
        irm("ERR@10"),
        Raises(subprocess.CalledProcessError),
    ),
    Deviation(
        "ranx drops a grade below 1",
        HALF,
        "dcg",
        0.5 + 2 * SECOND,
        ranx_of_dicts("dcg"),
        2 * SECOND,
    ),
    Deviation(
        "scikit-learn lets a negative grade take away",
        NEGATIVE_FIRST,
        "dcg",
        SECOND,
        by_scores("dcg_score"),
        SECOND - 1,
    ),
    Deviation(
        "scikit-learn refuses a negative grade",
        NEGATIVE_FIRST,
        "ndcg",
        SECOND,
        by_scores("ndcg_score"),
        Raises(ValueError, "negative"),
    ),
    Deviation(
        "trec_eval takes a negative grade for unjudged",
        NEGATIVE_FIRST,
        "ap(unjudged=condensed)",
        0.5,
        irm("AP(judged_only=True)"),
        1.0,
    ),
    Deviation("Judged@k takes it for judged", NEGATIVE_FIRST, "judged@1", 1.0, irm("Judged@1"), 1.0),
    Deviation("gdeval's scale ends at 4", THREE, "err(max_grade=3)@10", 7 / 8, irm("ERR@10"), 7 / 16),
    Deviation(
        "gdeval refuses a grade of 5",
        FIVE,
        "err(max_grade=5)@10",
        31 / 32 + 1 / 32 / 32 / 2,
        irm("ERR@10"),
        Raises(subprocess.CalledProcessError),
    ),
    Deviation("ranx weighs RBP by the grade", THREE, "rbp(p=0.8)", 0.2, ranx("rbp.80"), 0.6),
    Deviation("which may exceed 1", FIVE, "rbp(p=0.5)", 0.75, ranx("rbp.5"), 2.75),
]

ABSENT = Topic({}, {"a": 1})
UNJUDGED = Topic(listed("a", "b"), {})
NOT_RELEVANT = Topic(listed("a", "b"), {"a": 0, "b": 0})
HALF_FOUND = Topic(listed("a", "b"), {"a": 1, "x": 1})
ONE = Topic({"a": 1.0}, {"a": 1})

EMPTY = [
    Deviation("trec_eval leaves out a query nobody judged", UNJUDGED, "ap", 0.0, pytrec("map"), LEFT_OUT),
    Deviation("ir_measures counts nothing for it", UNJUDGED, "results", 2.0, irm("NumRet"), 0.0),
    Deviation(
        "ranx cannot read it from a dictionary",
        UNJUDGED,
        "ap",
        0.0,
        ranx_of_dicts("map"),
        Raises(IndexError),
    ),
    Deviation(
        "ranx cannot read an empty ranking either",
        ABSENT,
        "ap",
        0.0,
        ranx_of_dicts("map"),
        Raises(IndexError),
    ),
    Deviation(
        "ir_measures divides an empty ranking by its length",
        ABSENT,
        "judged@10",
        0.0,
        irm("Judged@10", keep_empty=True),
        Raises(ZeroDivisionError),
    ),
    Deviation(
        "scikit-learn needs a document",
        ABSENT,
        "dcg",
        0.0,
        sklearn("dcg_score"),
        Raises(ValueError, "minimum of 1"),
    ),
    Deviation(
        "scikit-learn needs two documents",
        ONE,
        "ndcg",
        1.0,
        sklearn("ndcg_score"),
        Raises(ValueError, "more than 1 document"),
    ),
    Deviation(
        "scikit-learn's ranking precision is 1 without a relevant document",
        NOT_RELEVANT,
        "ap",
        0.0,
        sklearn("label_ranking_average_precision_score"),
        1.0,
    ),
    Deviation(
        "scikit-learn warns where there is nothing to find",
        NOT_RELEVANT,
        "ap",
        0.0,
        sklearn_binary("average_precision_score"),
        Raises(UserWarning, "No positive class"),
    ),
    Deviation(
        "scikit-learn sees the retrieved documents alone",
        HALF_FOUND,
        "ap",
        0.5,
        sklearn_binary("average_precision_score"),
        1.0,
    ),
    Deviation(
        "and takes its ideal from them",
        HALF_FOUND,
        "ndcg",
        1 / (1 + SECOND),
        sklearn("ndcg_score"),
        1.0,
    ),
    Deviation(
        "ir_measures has RBP only with another package",
        ONE,
        "rbp",
        0.2,
        irm("RBP(rel=1)"),
        Raises(ValueError, "cwl_eval"),
    ),
    Deviation(
        "gdeval takes numbers as queries",
        ONE,
        "err(max_grade=4)@10",
        1 / 16,
        irm("ERR@10"),
        Raises(subprocess.CalledProcessError),
        query="q1",
    ),
]

DEVIATIONS = [*TIES, *GRADES, *EMPTY]

NOT_THERE = {
    "pytrec_eval": {
        "dcg": "only normalised",
        "rbp": "",
        "err": "",
        "judged": "",
    },
    "ir_measures": {"dcg": "only normalised", "rbp": "only with cwl_eval"},
    "ranx": {"err": "", "judged": "", "results": ""},
    "scikit-learn": {
        "rbp": "",
        "err": "",
        "judged": "",
        "results": "",
        "r_precision": "",
        "iprec11": "only the curve itself",
    },
}
"""Metrics of the registry that a library lacks."""

NOWHERE = {"alpha_ndcg", "dedup_recall", "diversity_count", "err_given", "label_delay"}
"""Metrics of judgments that no library has in this form; plain references check them."""

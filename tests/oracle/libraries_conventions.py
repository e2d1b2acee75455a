"""Every figure of docs/conventions.md as a call: by table, row and column, in the order of the cell."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pytrec_eval

from tests.oracle.libraries_calls import irm, pytrec, ranx, ranx_of_dicts, sklearn
from tests.oracle.libraries_deviations import (
    FIVE,
    HALF,
    NEGATIVE_FIRST,
    NOT_RELEVANT,
    ONE,
    TIED,
    TIED_AS_FLOAT32,
    by_scores,
)
from tests.oracle.libraries_figures import (
    TWICE,
    capped_ap,
    click_mean,
    dcg_of_2002,
    document_ctr,
    hits,
    mean,
    mrr_here,
    mrr_of_files,
    mrr_of_ir_measures,
    mrr_of_ranx,
    normalised_err,
    not_comparable,
    of,
    of_files,
    ours,
    position_ctr,
    rbp_with_residual,
    relevant,
    relevant_found_ap,
    retrieved_precision,
)
from tests.oracle.libraries_topics import Topic, here, listed

Q1 = Topic(listed("a", "b", "c", "d"), {"a": 1, "c": 3, "d": 0, "e": 2, "f": 1})
Q3 = Topic({}, {"a": 1})
Q4 = Topic(listed("a", "b"), {})
Q6 = Topic(listed(*(f"d{i:02}" for i in range(12))), {"d10": 1})


class Error(NamedTuple):
    """The cell says that the library refuses this call."""

    call: Callable[[], object]


class Either(NamedTuple):
    """The cell says that one cannot know which it will be."""

    call: Callable[[], float]
    figures: set[float]


class LeftOut(NamedTuple):
    """The cell says that the query does not count."""

    call: Callable[[], float]


ONE_QUERY = {
    "NDCG@3: whose ideal list?": {
        "here": [ours("ndcg@3", Q1)],
        "trec_eval": [of(pytrec("ndcg_cut_3"), Q1)],
        "ir_measures": [of(irm("nDCG@3"), Q1)],
        "ranx": [of(ranx("ndcg@3"), Q1)],
        "scikit-learn": [of(sklearn("ndcg_score", k=3), Q1)],
        "the other one, here": [ours("ndcg(ideal=retrieved)@3", Q1)],
    },
    "NDCG@3: which gain?": {
        "here": [ours("ndcg@3", Q1)],
        "trec_eval": [of(pytrec("ndcg_cut_3"), Q1)],
        "ir_measures": [of(irm("nDCG@3"), Q1), of(irm("nDCG(dcg='exp-log2')@3"), Q1)],
        "ranx": [of(ranx("ndcg@3"), Q1), of(ranx("ndcg_burges@3"), Q1)],
        "elsewhere": [of(ranx("ndcg_burges@3"), Q1)],
        "the other one, here": [ours("ndcg(gain=exponential)@3", Q1)],
    },
    "DCG@3: which discount?": {
        "here": [ours("dcg@3", Q1)],
        "ranx": [of(ranx("dcg@3"), Q1)],
        "scikit-learn": [of(sklearn("dcg_score", k=3), Q1)],
        "elsewhere": [lambda: dcg_of_2002(Q1, 3)],
    },
    "NDCG@3: unjudged documents?": {
        "here": [ours("ndcg@3", Q1)],
        "trec_eval": [
            of(pytrec("ndcg_cut_3"), Q1),
            of(pytrec("ndcg_cut_3", judged_docs_only_flag=True), Q1),
        ],
        "ir_measures": [of(irm("nDCG@3"), Q1), of(irm("nDCG(judged_only=True)@3"), Q1)],
        "ranx": [of(ranx("ndcg@3"), Q1)],
        "the other one, here": [ours("ndcg(unjudged=condensed)@3", Q1)],
    },
    "AP@3: divided by what?": {
        "here": [ours("ap@3", Q1)],
        "trec_eval": [of(pytrec("map_cut_3"), Q1)],
        "ir_measures": [of(irm("AP@3"), Q1)],
        "ranx": [of(ranx("map@3"), Q1)],
        "scikit-learn": [lambda: relevant_found_ap(Q1)],
        "elsewhere": [lambda: capped_ap(Q1, 3)],
    },
    "Precision@10: divided by what?": {
        "here": [ours("precision@10", Q1)],
        "trec_eval": [of(pytrec("P_10"), Q1)],
        "ir_measures": [of(irm("P@10"), Q1)],
        "ranx": [of(ranx("precision@10"), Q1)],
        "scikit-learn": [lambda: retrieved_precision(Q1)],
        "the other one, here": [ours("precision", Q1)],
    },
    "Recall@3: divided by what?": {
        "here": [ours("recall@3", Q1)],
        "trec_eval": [of(pytrec("recall_3"), Q1), of(pytrec("relative_P_3"), Q1)],
        "ir_measures": [of(irm("R@3"), Q1)],
        "ranx": [of(ranx("recall@3"), Q1)],
        "elsewhere": [lambda: len(hits(Q1, 3)) / min(3, relevant(Q1))],
    },
    "Recall@3: any hit?": {
        "here": [ours("recall@3", Q1)],
        "trec_eval": [of(pytrec("recall_3"), Q1)],
        "ir_measures": [of(irm("R@3"), Q1)],
        "ranx": [of(ranx("recall@3"), Q1)],
        "elsewhere": [lambda: float(bool(hits(Q1, 3)))],
        "the other one, here": [ours("success@3", Q1)],
    },
    "RBP, p = 0.8: graded?": {
        "here": [ours("rbp(p=0.8)", Q1)],
        "ranx": [of(ranx("rbp.80"), Q1)],
        "elsewhere": [lambda: rbp_with_residual(Q1, 0.8)],
    },
    "ERR@10: which top grade?": {
        "here": [ours("err(max_grade=3)@10", Q1)],
        "ir_measures": [of(irm("ERR@10"), Q1)],
        "elsewhere": [lambda: normalised_err(Q1)],
        "the other one, here": [ours("err(max_grade=4)@10", Q1)],
    },
    "Judged@10: divided by what?": {
        "here": [ours("judged@10", Q1)],
        "ir_measures": [of(irm("Judged@10"), Q1)],
        "elsewhere": [lambda: len(set(Q1.scores) & set(Q1.grades)) / 10],
    },
}

SEVERAL_QUERIES = {
    "nothing relevant: AP of q2": {
        "here": [ours("ap", NOT_RELEVANT)],
        "trec_eval": [of(pytrec("map"), NOT_RELEVANT)],
        "ir_measures": [of(irm("AP"), NOT_RELEVANT)],
        "ranx": [of(ranx("map"), NOT_RELEVANT)],
        "scikit-learn": [of(sklearn("label_ranking_average_precision_score"), NOT_RELEVANT)],
        "the other one, here": [LeftOut(ours("ap(undefined=skip)", NOT_RELEVANT))],
    },
    "missing from the run: mean AP of q1, q3": {
        "here": [mean(partial(here, "ap"), Q1, Q3)],
        "trec_eval": [
            mean(lambda topics: pytrec("map")({"0": topics["0"]}), Q1, Q3),
            mean(irm("AP"), Q1, Q3),
        ],
        "ir_measures": [mean(irm("AP"), Q1, Q3)],
        "ranx": [Error(not_comparable(Q1, Q3)), mean(ranx("map"), Q1, Q3)],
        "the other one, here": [ours("ap", Q1)],
    },
    "judged by nobody: mean AP of q1, q4": {
        "here": [ours("ap", Q1)],
        "trec_eval": [mean(pytrec("map"), Q1, Q4)],
        "ir_measures": [mean(of_files(irm("AP")), Q1, Q4)],
        "ranx": [Error(not_comparable(Q1, Q4)), mean(of_files(ranx("map")), Q1, Q4)],
    },
    "equal scores: NDCG of q5": {
        "here": [ours("ndcg", TIED)],
        "trec_eval": [of(pytrec("ndcg"), TIED)],
        "ir_measures": [of(irm("nDCG"), TIED)],
        "ranx": [Either(of(ranx("ndcg"), TIED), {1.0, 1 / np.log2(3)})],
        "scikit-learn": [of(by_scores("ndcg_score"), TIED)],
    },
    "equal scores: MRR@10 of q5": {
        "here": [ours("mrr@10", TIED)],
        "ir_measures": [of(irm("RR@10"), TIED)],
        "ranx": [Either(of(ranx("mrr@10"), TIED), {1.0, 0.5})],
    },
    "no cut-off: MRR of q6": {
        "here": [ours("mrr", Q6)],
        "trec_eval": [of(pytrec("recip_rank"), Q6)],
        "ir_measures": [of(irm("RR"), Q6)],
        "ranx": [of(ranx("mrr"), Q6)],
        "elsewhere": [of(irm("RR@10"), Q6)],
        "the other one, here": [ours("mrr@10", Q6)],
    },
}

CLICKS = {
    "CTR@2": {
        "here": [lambda: click_mean("ctr@2")],
        "elsewhere": [lambda: position_ctr(2)],
        "the other one, here": [lambda: click_mean("position_ctr@2")],
    },
    "CTR@2 by document": {
        "here": [lambda: click_mean("ctr@2")],
        "elsewhere": [lambda: document_ctr(2)],
    },
}

INPUT = {
    "grades 0.5 and 2, in this order: DCG": {
        "here": [ours("dcg", HALF)],
        "trec_eval": [Error(of(pytrec("ndcg"), HALF))],
        "ir_measures": [Error(of(irm("nDCG"), HALF))],
        "ranx": [of(ranx_of_dicts("dcg"), HALF)],
        "scikit-learn": [of(by_scores("dcg_score"), HALF)],
    },
    "grades -1 and 1, in this order: DCG": {
        "here": [ours("dcg", NEGATIVE_FIRST)],
        "ranx": [of(ranx("dcg"), NEGATIVE_FIRST)],
        "scikit-learn": [of(by_scores("dcg_score"), NEGATIVE_FIRST)],
    },
    "grades -1 and 1: NDCG": {
        "here": [ours("ndcg", NEGATIVE_FIRST)],
        "trec_eval": [of(pytrec("ndcg"), NEGATIVE_FIRST)],
        "ir_measures": [of(irm("nDCG"), NEGATIVE_FIRST)],
        "ranx": [of(ranx("ndcg"), NEGATIVE_FIRST)],
        "scikit-learn": [Error(of(by_scores("ndcg_score"), NEGATIVE_FIRST))],
    },
    "grades -1 and 1: AP of judged documents": {
        "here": [ours("ap(unjudged=condensed)", NEGATIVE_FIRST)],
        "trec_eval": [of(pytrec("map", judged_docs_only_flag=True), NEGATIVE_FIRST)],
        "ir_measures": [of(irm("AP(judged_only=True)"), NEGATIVE_FIRST)],
    },
    "scores 1.00000001 and 1, the first relevant: MRR": {
        "here": [ours("mrr", TIED_AS_FLOAT32)],
        "trec_eval": [of(pytrec("recip_rank"), TIED_AS_FLOAT32)],
        "ir_measures": [of(irm("RR"), TIED_AS_FLOAT32), of(irm("RR@10"), TIED_AS_FLOAT32)],
        "ranx": [of(ranx("mrr"), TIED_AS_FLOAT32)],
    },
    "one relevant document alone: NDCG": {
        "here": [ours("ndcg", ONE)],
        "trec_eval": [of(pytrec("ndcg"), ONE)],
        "ir_measures": [of(irm("nDCG"), ONE)],
        "ranx": [of(ranx("ndcg"), ONE)],
        "scikit-learn": [Error(of(sklearn("ndcg_score"), ONE))],
    },
    "an empty ranking: NDCG": {
        "here": [ours("ndcg", Q3)],
        "trec_eval": [of(pytrec("ndcg"), Q3)],
        "ir_measures": [of(irm("nDCG"), Q3)],
        "ranx": [lambda: ranx("ndcg")({"1": Q3, "2": ONE})["1"]],
        "scikit-learn": [Error(of(sklearn("ndcg_score"), Q3))],
    },
    "a grade of 5: ERR@10": {
        "here": [ours("err(max_grade=5)@10", FIVE)],
        "ir_measures": [Error(of(irm("ERR@10"), FIVE))],
    },
}

INPUT["a run file with a, b and a again, a relevant: MRR"] = {
    "here": [lambda: mrr_of_files(mrr_here)],
    "trec_eval": [Error(lambda: pytrec_eval.parse_run(TWICE.splitlines()))],
    "ir_measures": [lambda: mrr_of_files(mrr_of_ir_measures)],
    "ranx": [lambda: mrr_of_files(mrr_of_ranx)],
}

TABLES = {
    "One query": ONE_QUERY,
    "Several queries": SEVERAL_QUERIES,
    "Clicks": CLICKS,
    "Input that libraries take in different ways": INPUT,
}

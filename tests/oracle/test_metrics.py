"""Every metric of the registry against another implementation: trec_eval, scikit-learn, or plain Python."""

import math

import numpy as np
import pytest
import pytrec_eval
from sklearn.metrics import dcg_score, ndcg_score

from monitor.metrics import METRICS, parse
from tests.oracle import metric_references as plain
from tests.oracle.metric_cases import Case, batch_of, make_cases

WHOLE = make_cases(seed=1, count=150, grades=[-1, 0, 0, 1, 2, 3])
FRACTIONAL = make_cases(seed=2, count=100, grades=[0.0, 0.25, 0.5, 0.75, 1.0, 2.5])
TWO_OR_MORE = [case for case in FRACTIONAL if len(case.ranking) >= 2]
MANY_RELEVANT = make_cases(seed=3, count=60, grades=[0, 1, 1, 2], documents=150, judgments=120)
FEW_RELEVANT = make_cases(seed=4, count=60, grades=[0, 1, 1.5, 3], documents=8, judgments=5)
AROUND_EIGHT = [
    c for c in make_cases(seed=5, count=120, grades=[1, 1.5, 3], judgments=11) if len(c.relevant) >= 7
]


def trec(measure, prepare=lambda case: case):
    """Score with trec_eval; 0 where it leaves a query out, as it does without results or judgments."""

    def scores(cases):
        prepared = {str(i): prepare(case) for i, case in enumerate(cases)}
        qrels = {q: {key: int(g) for key, g in case.judgments.items()} for q, case in prepared.items()}
        run = {
            q: {key: -float(rank) for rank, key in enumerate(case.ranking)} for q, case in prepared.items()
        }
        results = pytrec_eval.RelevanceEvaluator(
            {q: judgments for q, judgments in qrels.items() if judgments}, {measure}
        ).evaluate({q: ranking for q, ranking in run.items() if ranking})
        return [results[q][measure] if q in results else 0.0 for q in prepared]

    return scores


def each(reference, *args):
    return lambda cases: [reference(case, *args) for case in cases]


def sklearn(score, k, gain=lambda grade: grade):
    """Score the ranked documents with scikit-learn, which asks for two of them at least."""

    def one(case):
        gains = [gain(grade) for grade in case.grades]
        return float(score([gains], [list(range(len(gains), 0, -1))], k=k))

    return each(one)


def undefined(reference, *args):
    return lambda cases: [reference(case, *args) if case.relevant else math.nan for case in cases]


def longest_dwell(case):
    return max(case.dwell.values(), default=math.nan)


def deepest_click(case):
    return max(plain.clicked_ranks(case), default=math.nan)


def click_mrr(case, k):
    ranks = plain.clicked_ranks(case, k)
    return 1 / ranks[0] if ranks else 0.0


def condensed(reference, *args):
    return lambda cases: [reference(case.condensed(), *args) for case in cases]


ORACLES = [
    ("ndcg", trec("ndcg"), WHOLE),
    *((f"ndcg@{k}", trec(f"ndcg_cut_{k}"), WHOLE) for k in (1, 3, 5, 10, 100)),
    ("ndcg@4", each(plain.ndcg, 4), FRACTIONAL),
    ("ndcg(gain=exponential)@4", each(plain.ndcg, 4, plain.exponential), FRACTIONAL),
    ("ndcg(ideal=retrieved)@4", sklearn(ndcg_score, 4), TWO_OR_MORE),
    ("ndcg(unjudged=condensed)@3", trec("ndcg_cut_3", Case.condensed), WHOLE),
    ("ndcg(undefined=skip)@4", undefined(plain.ndcg, 4), FRACTIONAL),
    ("dcg@4", each(plain.dcg, 4), FRACTIONAL),
    ("dcg@4", sklearn(dcg_score, 4), TWO_OR_MORE),
    ("dcg(gain=exponential)@4", sklearn(dcg_score, 4, plain.exponential), TWO_OR_MORE),
    ("mrr", trec("recip_rank"), WHOLE),
    (
        "mrr@3",
        trec("recip_rank", lambda case: Case(ranking=case.ranking[:3], judgments=case.judgments)),
        WHOLE,
    ),
    ("recall", trec("set_recall"), WHOLE),
    *((f"recall@{k}", trec(f"recall_{k}"), WHOLE) for k in (1, 5, 100)),
    ("precision", trec("set_P"), WHOLE),
    *((f"precision@{k}", trec(f"P_{k}"), WHOLE) for k in (1, 5, 100)),
    ("f1", trec("set_F"), WHOLE),
    ("f1@5", each(plain.f1, 5), WHOLE),
    ("ap", trec("map"), WHOLE),
    *((f"ap@{k}", trec(f"map_cut_{k}"), WHOLE) for k in (1, 5, 100)),
    ("ap(unjudged=condensed)", trec("map", Case.condensed), WHOLE),
    *((f"success@{k}", trec(f"success_{k}"), WHOLE) for k in (1, 5, 10)),
    ("judged@5", each(plain.judged, 5), WHOLE),
    ("r_precision", trec("Rprec"), WHOLE),
    ("iprec11", trec("11pt_avg"), WHOLE),
    ("iprec11", trec("11pt_avg"), MANY_RELEVANT),
    ("ap@100", trec("map_cut_100"), MANY_RELEVANT),
    ("ndcg@100", trec("ndcg_cut_100"), MANY_RELEVANT),
    ("rbp", each(plain.rbp, None, 0.8), WHOLE),
    ("rbp(p=0.5)@3", each(plain.rbp, 3, 0.5), WHOLE),
    ("err(max_grade=3)@5", each(plain.err, 5, 3), WHOLE),
    ("err(max_grade=2)", each(plain.err, None, 2), FRACTIONAL),
    ("err_given@5", each(plain.err_given, 5), FRACTIONAL),
    ("err_given", each(plain.err_given, None), WHOLE),
    ("diversity_count@4", each(plain.diversity_count, 4), WHOLE),
    ("dedup_recall(unjudged=condensed)@2", condensed(plain.dedup_recall, 2), WHOLE),
    ("dedup_recall@4", each(plain.dedup_recall, 4), WHOLE),
    *((f"alpha_ndcg(alpha={a})", each(plain.alpha_ndcg, None, a), FEW_RELEVANT) for a in (0, 0.3, 0.5)),
    ("alpha_ndcg@4", each(plain.alpha_ndcg, 4, 0.5), AROUND_EIGHT),
    ("alpha_ndcg(alpha=0)@4", each(plain.alpha_ndcg, 4, 0), AROUND_EIGHT),
    ("alpha_ndcg(alpha=1)@4", each(plain.ndcg, 4), [c for c in AROUND_EIGHT if c.vectors]),
    ("alpha_ndcg(unjudged=condensed)@3", condensed(plain.alpha_ndcg, 3, 0.5), FEW_RELEVANT),
    ("ild", each(plain.ild, None), WHOLE),
    ("ild@3", each(plain.ild, 3), WHOLE),
    ("results", each(lambda case: len(case.ranking)), WHOLE),
    ("empty", each(lambda case: float(not case.ranking)), WHOLE),
    ("latency", each(lambda case: case.latency), WHOLE),
    ("label_delay", each(lambda case: case.label_delay), WHOLE),
    ("ctr@2", each(lambda case: float(bool(plain.clicked_ranks(case, 2)))), WHOLE),
    *((f"position_ctr@{k}", each(plain.position_ctr, k), WHOLE) for k in (1, 3, 10)),
    ("click_mrr@5", each(click_mrr, 5), WHOLE),
    ("abandonment", each(lambda case: float(not case.clicked)), WHOLE),
    ("satisfied", each(plain.satisfied), WHOLE),
    ("outcome_success", each(lambda case: case.outcome), WHOLE),
    ("dwell_seconds", each(longest_dwell), WHOLE),
    ("click_depth", each(deepest_click), WHOLE),
    ("scroll_depth", each(lambda case: case.scroll), WHOLE),
]


@pytest.mark.parametrize(("spec", "oracle", "cases"), ORACLES, ids=[spec for spec, _, _ in ORACLES])
def test_a_metric_agrees_with_its_oracle(spec, oracle, cases):
    expected = np.array(oracle(cases), dtype=float)
    scores = parse(spec).score(batch_of(cases))
    np.testing.assert_allclose(scores, expected, rtol=1e-6, atol=1e-9)
    assert np.unique(expected).size > 1, "an oracle that is constant checks nothing"


def test_every_registered_metric_has_an_oracle():
    assert {parse(spec).metric.name for spec, _, _ in ORACLES} == set(METRICS)

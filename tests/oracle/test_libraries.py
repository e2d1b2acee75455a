"""The registry beside pytrec_eval, ir_measures, ranx and scikit-learn, over random and edge cases."""

from collections.abc import Callable
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from sklearn.metrics import top_k_accuracy_score

from monitor.metrics import METRICS, Need, parse
from tests.oracle.libraries_calls import (
    irm,
    irm_iprec11,
    pytrec,
    ranx,
    ranx_iprec11,
    ranx_of_dicts,
    sklearn,
    sklearn_binary,
    sklearn_sets,
)
from tests.oracle.libraries_deviations import DEVIATIONS, LEFT_OUT, NOT_THERE, NOWHERE, Raises
from tests.oracle.libraries_topics import BINARY, FRACTIONAL, ONE_RELEVANT, WHOLE, Topic, Topics, here

CUT_OFFS = (1, 3, 10, 100)


def as_they_are(topic: Topic) -> Topic:
    return topic


def untied(topic: Topic) -> Topic:
    """Hand the library our order: it would break ties in another one."""
    return topic.ranked(topic.ranking)


def first(k: int):
    """Cut the list before the library sees it, which has no cut-off of its own."""
    return lambda topic: topic.first(k)


PYTREC_EVAL = [
    ("ndcg", pytrec("ndcg"), as_they_are),
    *((f"ndcg@{k}", pytrec(f"ndcg_cut_{k}"), as_they_are) for k in CUT_OFFS),
    ("mrr", pytrec("recip_rank"), as_they_are),
    *((f"mrr@{k}", pytrec("recip_rank"), first(k)) for k in CUT_OFFS),
    ("recall", pytrec("set_recall"), as_they_are),
    *((f"recall@{k}", pytrec(f"recall_{k}"), as_they_are) for k in CUT_OFFS),
    ("precision", pytrec("set_P"), as_they_are),
    *((f"precision@{k}", pytrec(f"P_{k}"), as_they_are) for k in CUT_OFFS),
    ("f1", pytrec("set_F"), as_they_are),
    ("ap", pytrec("map"), as_they_are),
    *((f"ap@{k}", pytrec(f"map_cut_{k}"), as_they_are) for k in CUT_OFFS),
    *((f"success@{k}", pytrec(f"success_{k}"), as_they_are) for k in CUT_OFFS),
    ("r_precision", pytrec("Rprec"), as_they_are),
    ("iprec11", pytrec("11pt_avg"), as_they_are),
    ("results", pytrec("num_ret"), as_they_are),
]
IR_MEASURES = [
    ("ndcg", irm("nDCG"), as_they_are),
    *((f"ndcg@{k}", irm(f"nDCG@{k}"), as_they_are) for k in CUT_OFFS),
    *((f"ndcg(gain=exponential)@{k}", irm(f"nDCG(dcg='exp-log2')@{k}"), untied) for k in CUT_OFFS),
    ("mrr", irm("RR"), as_they_are),
    *((f"mrr@{k}", irm(f"RR@{k}"), untied) for k in CUT_OFFS),
    ("recall", irm("SetR"), as_they_are),
    *((f"recall@{k}", irm(f"R@{k}"), as_they_are) for k in CUT_OFFS),
    ("precision", irm("SetP"), as_they_are),
    *((f"precision@{k}", irm(f"P@{k}"), as_they_are) for k in CUT_OFFS),
    ("f1", irm("SetF"), as_they_are),
    ("ap", irm("AP"), as_they_are),
    *((f"ap@{k}", irm(f"AP@{k}"), as_they_are) for k in CUT_OFFS),
    *((f"success@{k}", irm(f"Success@{k}"), as_they_are) for k in CUT_OFFS),
    ("r_precision", irm("Rprec"), as_they_are),
    ("iprec11", irm_iprec11, as_they_are),
    ("judged", irm("Judged"), untied),
    *((f"judged@{k}", irm(f"Judged@{k}"), untied) for k in CUT_OFFS),
    *((f"err(max_grade=4)@{k}", irm(f"ERR@{k}"), untied) for k in CUT_OFFS),
    ("results", irm("NumRet"), as_they_are),
]
RANX = [
    ("ndcg", ranx("ndcg"), untied),
    *((f"ndcg@{k}", ranx(f"ndcg@{k}"), untied) for k in CUT_OFFS),
    *((f"ndcg(gain=exponential)@{k}", ranx(f"ndcg_burges@{k}"), untied) for k in CUT_OFFS),
    ("dcg", ranx("dcg"), untied),
    *((f"dcg@{k}", ranx(f"dcg@{k}"), untied) for k in CUT_OFFS),
    *((f"dcg(gain=exponential)@{k}", ranx(f"dcg_burges@{k}"), untied) for k in CUT_OFFS),
    ("mrr", ranx("mrr"), untied),
    *((f"mrr@{k}", ranx(f"mrr@{k}"), untied) for k in CUT_OFFS),
    ("recall", ranx("recall"), untied),
    *((f"recall@{k}", ranx(f"recall@{k}"), untied) for k in CUT_OFFS),
    ("precision", ranx("precision"), untied),
    *((f"precision@{k}", ranx(f"precision@{k}"), untied) for k in CUT_OFFS),
    ("f1", ranx("f1"), untied),
    *((f"f1@{k}", ranx(f"f1@{k}"), untied) for k in CUT_OFFS),
    ("ap", ranx("map"), untied),
    *((f"ap@{k}", ranx(f"map@{k}"), untied) for k in CUT_OFFS),
    ("success", ranx("hit_rate"), untied),
    *((f"success@{k}", ranx(f"hit_rate@{k}"), untied) for k in CUT_OFFS),
    ("r_precision", ranx("r-precision"), untied),
    ("iprec11", ranx_iprec11, untied),
]


BY_LIBRARY = [
    *(("pytrec_eval", *row) for row in PYTREC_EVAL),
    *(("ir_measures", *row) for row in IR_MEASURES),
    *(("ranx", *row) for row in RANX),
]
FIVE_DECIMALS = 5.1e-6
"""gdeval, which ir_measures runs for ERR and exponential gains, prints no more."""


@pytest.mark.parametrize(
    ("library", "spec", "call", "prepare"), BY_LIBRARY, ids=[f"{row[0]} {row[1]}" for row in BY_LIBRARY]
)
def test_a_metric_agrees_with_a_library_on_every_query(library, spec, call, prepare):
    topics = {q: topic for q, topic in WHOLE.items() if not left_to_the_deviations(library, spec, topic)}
    expected = call({q: prepare(topic) for q, topic in topics.items()})
    scores = here(spec, topics)
    for q in set(topics) - set(expected):
        assert not topics[q].grades, "only queries that nobody judged may be left out"
        assert scores[q] == 0
    within = FIVE_DECIMALS if library == "ir_measures" and by_gdeval(spec) else 1e-9
    assert_close([scores[q] for q in expected], [*expected.values()], within)


def left_to_the_deviations(library: str, spec: str, topic: Topic) -> bool:
    """Whether the library deviates by design, which the table of deviations shows."""
    if library == "pytrec_eval" and spec == "iprec11":
        return not topic.scores
    return library != "ranx" and spec == "results" and not topic.grades


def by_gdeval(spec: str) -> bool:
    return spec.startswith("err") or "exponential" in spec


def assert_close(scores: list[float], expected: list[float], within: float = 1e-9) -> None:
    np.testing.assert_allclose(scores, expected, rtol=0, atol=within)
    assert len(set(expected)) > 1, "a library that is constant checks nothing"


def every(topics: Topics, keep: Callable[[Topic], object]) -> Topics:
    return {q: topic for q, topic in topics.items() if keep(topic)}


def some(topics: Topics, count: int) -> Topics:
    return dict(islice(topics.items(), count))


def relevant(topic: Topic) -> list[str]:
    return [key for key, grade in topic.grades.items() if grade > 0]


def all_relevant_retrieved(topic: Topic) -> bool:
    return bool(relevant(topic)) and set(relevant(topic)) <= set(topic.scores)


def one_relevant_retrieved(topic: Topic) -> bool:
    return all_relevant_retrieved(topic) and len(relevant(topic)) == 1


def two_or_more(topic: Topic) -> bool:
    return len(topic.scores) >= 2


def exponential(call):
    """Hand scikit-learn exponential gains for grades: it has none of its own."""
    return lambda topics: call(
        {q: topic.graded(lambda grade: 2 ** max(grade, 0) - 1) for q, topic in topics.items()}
    )


def top_k_accuracy(k: int):
    """scikit-learn's success at k for the one relevant document: the right class is among the k best."""

    def one(topic: Topic) -> float:
        ranking = topic.ranking
        chances = [list(range(len(ranking), 0, -1))]
        right = ranking.index(relevant(topic)[0])
        return float(top_k_accuracy_score([right], chances, k=k, labels=range(len(ranking))))

    return lambda topics: {q: one(topic) for q, topic in topics.items()}


SCIKIT_LEARN = [
    *((f"ndcg(ideal=retrieved)@{k}", sklearn("ndcg_score", k=k), two_or_more) for k in CUT_OFFS),
    ("ndcg(gain=exponential,ideal=retrieved)@3", exponential(sklearn("ndcg_score", k=3)), two_or_more),
    *((f"dcg@{k}", sklearn("dcg_score", k=k), two_or_more) for k in CUT_OFFS),
    ("dcg(gain=exponential)@3", exponential(sklearn("dcg_score", k=3)), two_or_more),
    ("ap", sklearn_binary("average_precision_score"), all_relevant_retrieved),
    ("mrr", sklearn_binary("average_precision_score"), one_relevant_retrieved),
    ("precision", sklearn_sets("precision_score"), lambda _: True),
    ("recall", sklearn_sets("recall_score"), lambda _: True),
    ("f1", sklearn_sets("f1_score"), lambda _: True),
]


# One call a query takes a while: fewer of them.
@pytest.mark.parametrize(
    "topics", [some(WHOLE, 70), some(FRACTIONAL, 40)], ids=["whole grades", "fractional grades"]
)
@pytest.mark.parametrize(("spec", "call", "keep"), SCIKIT_LEARN, ids=[row[0] for row in SCIKIT_LEARN])
def test_a_metric_agrees_with_scikit_learn_where_its_conventions_are_ours(spec, call, keep, topics):
    kept = every(topics, keep)
    assert_close([*here(spec, kept).values()], [*call(kept).values()])


@pytest.mark.parametrize("k", [1, 3, 10])
def test_success_is_the_top_k_accuracy_of_scikit_learn_where_one_document_is_relevant(k):
    expected = top_k_accuracy(k)(ONE_RELEVANT)
    assert_close([*here(f"success@{k}", ONE_RELEVANT).values()], [*expected.values()])


CONDENSED = [
    ("ndcg(unjudged=condensed)@3", irm("nDCG(judged_only=True)@3")),
    ("ap(unjudged=condensed)", irm("AP(judged_only=True)")),
    ("ap(unjudged=condensed)@3", irm("AP(judged_only=True)@3")),
    ("mrr(unjudged=condensed)", irm("RR(judged_only=True)")),
    ("precision(unjudged=condensed)", irm("SetP(judged_only=True)")),
    ("precision(unjudged=condensed)@3", irm("P(judged_only=True)@3")),
    ("recall(unjudged=condensed)@3", irm("R(judged_only=True)@3")),
    ("success(unjudged=condensed)@3", irm("Success(judged_only=True)@3")),
    ("r_precision(unjudged=condensed)", irm("Rprec(judged_only=True)")),
    ("f1(unjudged=condensed)", irm("SetF(judged_only=True)")),
    ("ndcg(unjudged=condensed)", pytrec("ndcg", judged_docs_only_flag=True)),
    ("iprec11(unjudged=condensed)", pytrec("11pt_avg", judged_docs_only_flag=True)),
]


@pytest.mark.parametrize(("spec", "call"), CONDENSED, ids=[spec for spec, _ in CONDENSED])
def test_a_condensed_list_is_that_of_trec_eval_which_takes_negative_grades_for_unjudged(spec, call):
    ranked = every(WHOLE, lambda topic: topic.grades and topic.scores)
    not_negative = {
        q: replace(topic, grades={key: grade for key, grade in topic.grades.items() if grade >= 0})
        for q, topic in ranked.items()
    }
    expected = call(ranked)
    left = every(not_negative, lambda topic: set(topic.grades) & set(topic.scores))
    assert_close([*here(spec, left).values()], [expected[q] for q in left])


def test_rbp_agrees_with_ranx_where_grades_are_0_and_1():
    for p, name in ((0.8, "rbp.80"), (0.5, "rbp.5"), (0.95, "rbp.95")):
        expected = ranx(name)({q: untied(topic) for q, topic in BINARY.items()})
        assert_close([here(f"rbp(p={p})", BINARY)[q] for q in expected], [*expected.values()])


@pytest.mark.parametrize(
    ("spec", "name"),
    [("ndcg", "ndcg"), ("dcg(gain=exponential)@5", "dcg_burges@5"), ("ap", "map"), ("recall@3", "recall@3")],
)
def test_ranx_drops_grades_below_1_or_their_fractions(spec, name):
    topics = {q: untied(topic) for q, topic in FRACTIONAL.items()}
    dropped = {q: topic.graded(lambda grade: grade if grade >= 1 else 0) for q, topic in topics.items()}
    truncated = {q: topic.graded(int) for q, topic in topics.items()}
    by_dicts, by_classes = ranx_of_dicts(name)(topics), ranx(name)(topics)
    assert_close([*here(spec, dropped).values()], [by_dicts[q] for q in topics])
    assert_close([*here(spec, truncated).values()], [by_classes[q] for q in topics])
    scores = here(spec, topics)
    assert any(abs(scores[q] - by_dicts[q]) > 0.01 for q in topics), "there was nothing to drop"


@pytest.mark.parametrize("deviation", DEVIATIONS, ids=[deviation.why for deviation in DEVIATIONS])
def test_a_library_deviates_as_the_table_says(deviation):
    topics = {deviation.query: deviation.topic}
    assert here(deviation.spec, topics)[deviation.query] == pytest.approx(deviation.here)
    if isinstance(deviation.there, Raises):
        with pytest.raises(deviation.there.error, match=deviation.there.text or None):
            deviation.call(topics)
    elif deviation.there is LEFT_OUT:
        assert deviation.call(topics) == {}
    else:
        assert deviation.call(topics)[deviation.query] == pytest.approx(deviation.there, abs=FIVE_DECIMALS)


def test_every_metric_of_judgments_is_compared_with_every_library_that_has_it():
    compared = {
        library: {parse(spec).metric.name for name, spec, *_ in BY_LIBRARY if name == library}
        for library in ("pytrec_eval", "ir_measures", "ranx")
    }
    compared["ranx"].add("rbp")
    compared["scikit-learn"] = {"success", *(parse(spec).metric.name for spec, *_ in SCIKIT_LEARN)}
    judged = {name for name, metric in METRICS.items() if metric.need is Need.JUDGMENTS} - NOWHERE
    for library, absent in NOT_THERE.items():
        assert compared[library] | set(absent) == judged | {"results"}, library
        assert not compared[library] & set(absent), library

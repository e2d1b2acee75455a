"""NDCG of rankings: scores, the ideals that are remembered, and what Prometheus sees."""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest
from prometheus_client import CollectorRegistry, Gauge, generate_latest

from monitor.evaluation import NDCGEvaluator, ndcg_at_k, ndcg_evaluator
from monitor.metrics import METRICS, UNIT_BUCKETS

RANKED = [{"key": "a", "score": 0.9}, {"key": "b", "score": 0.8}, {"key": "c", "score": 0.7}]
JUDGED = {"a": 1.0, "b": 0.5, "c": 0.0}


@pytest.fixture
def ideals(monkeypatch):
    """Every ideal that is computed."""
    computed = []

    def watched(grades):
        computed.append(grades)
        return plain(grades)

    plain = ndcg_evaluator._ideal
    monkeypatch.setattr(ndcg_evaluator, "_ideal", watched)
    return computed


def test_the_ideal_order_scores_1_at_every_k():
    assert NDCGEvaluator().evaluate_ranking(RANKED, JUDGED) == {
        "ndcg@1": 1.0,
        "ndcg@3": 1.0,
        "ndcg@5": 1.0,
        "ndcg@10": 1.0,
    }


def test_relevance_0_1_0_1_0_with_two_relevant_has_an_ndcg_of_0_651():
    assert NDCGEvaluator().ndcg_at_k([0, 1, 0, 1, 0], 5) == pytest.approx(0.651, abs=5e-4)


def test_scores_are_those_of_the_metric():
    random = np.random.default_rng(4)
    evaluator = NDCGEvaluator(k_values=(1, 4, 20))
    for _ in range(50):
        judged = dict(
            zip(random.permutation(20)[:6].tolist(), (random.integers(-1, 4, 6) / 2).tolist(), strict=True)
        )
        keys = random.permutation(20)[: random.integers(0, 12)].tolist()
        expected = {f"ndcg@{k}": ndcg_at_k(keys, judged, k) for k in (1, 4, 20)}
        assert evaluator.evaluate_ranking(keys, judged) == expected


def test_there_is_no_formula_but_the_registry_s(monkeypatch):
    halved = replace(METRICS["ndcg"], kernel=lambda batch, **_: np.full(len(batch), 0.5))
    monkeypatch.setitem(METRICS, "ndcg", halved)
    evaluator = NDCGEvaluator(k_values=[1])
    assert evaluator.evaluate_ranking(RANKED, JUDGED) == {"ndcg@1": 0.5}
    assert evaluator.ndcg_at_k([1, 0], 1) == 0.5


def test_the_given_order_is_the_ranking_whatever_the_scores_are():
    worst_first = [{"key": "c", "score": 0.1}, {"key": "b", "score": 0.5}, {"key": "a", "score": 0.9}]
    assert NDCGEvaluator(k_values=[1]).evaluate_ranking(worst_first, JUDGED) == {"ndcg@1": 0.0}


@pytest.mark.parametrize(
    ("ranked", "judged"), [([], JUDGED), (RANKED, {}), (RANKED, {"a": 0.0})], ids=["empty", "unjudged", "0"]
)
def test_nothing_ranked_or_nothing_relevant_is_0(ranked, judged):
    assert NDCGEvaluator().evaluate_ranking(ranked, judged) == {f"ndcg@{k}": 0.0 for k in (1, 3, 5, 10)}


def test_dcg_and_its_ideal_by_hand():
    evaluator = NDCGEvaluator()
    assert evaluator.dcg_at_k([3, None, 2], 3) == 3 + 2 / 2
    assert evaluator.dcg_at_k([3, None, 2], 1) == 3
    assert evaluator.idcg_at_k([0, 2, 3], 2) == pytest.approx(3 + 2 / np.log2(3))
    assert evaluator.dcg_at_k([], 3) == evaluator.idcg_at_k([], 3) == evaluator.ndcg_at_k([], 3) == 0.0


def test_the_ideal_may_hold_documents_that_were_not_ranked():
    assert NDCGEvaluator().ndcg_at_k([1, 0], 1, judged=[1, 0, 2]) == 0.5


@pytest.mark.parametrize("grade", [float("nan"), float("inf"), "1"])
def test_a_grade_that_is_no_number_is_refused(grade):
    evaluator = NDCGEvaluator()
    for method in (evaluator.dcg_at_k, evaluator.idcg_at_k, evaluator.ndcg_at_k):
        with pytest.raises(ValueError, match="the grade of rank 2 must be a finite number, not"):
            method([1, grade], 3)


@pytest.mark.parametrize("k_values", [(), (0,), (1, -1), (1.5,)])
def test_cut_offs_that_are_none_are_refused(k_values):
    with pytest.raises(ValueError, match="k"):
        NDCGEvaluator(k_values=k_values)


def test_the_ideal_of_a_query_is_computed_once(ideals):
    evaluator = NDCGEvaluator(k_values=(1, 3))
    for _ in range(5):
        evaluator.evaluate_ranking(RANKED, JUDGED)
    evaluator.compare_rankings(["b"], ["a"], dict(JUDGED))
    assert evaluator.idcg_at_k(list(JUDGED.values()), 3) == pytest.approx(1 + 0.5 / np.log2(3))
    assert len(ideals) == 1


def test_judgments_that_change_get_another_ideal(ideals):
    evaluator, judged = NDCGEvaluator(k_values=[3]), dict(JUDGED)
    evaluator.evaluate_ranking(RANKED, judged)
    judged["d"] = 1.0
    assert evaluator.evaluate_ranking(RANKED, judged)["ndcg@3"] == ndcg_at_k(["a", "b", "c"], judged, 3) < 1.0
    assert len(ideals) == 2


def test_ideals_are_kept_in_bounds(monkeypatch, ideals):
    monkeypatch.setattr(ndcg_evaluator, "IDEALS_KEPT", 2)
    evaluator = NDCGEvaluator(k_values=[1])
    for grade in (1, 2, 3, 1):
        assert evaluator.evaluate_ranking(["a"], {"a": grade}) == {"ndcg@1": 1.0}
    assert len(ideals) == 4


def test_a_comparison_has_both_scores_differences_and_percentages():
    found = NDCGEvaluator(k_values=(1, 3)).compare_rankings(["b", "a"], ["a", "b"], JUDGED)
    assert found["baseline"] == pytest.approx({"ndcg@1": 0.5, "ndcg@3": 0.8597}, abs=1e-4)
    assert found["improved"] == {"ndcg@1": 1.0, "ndcg@3": 1.0}
    assert found["difference"] == pytest.approx({"ndcg@1": 0.5, "ndcg@3": 0.1403}, abs=1e-4)
    assert found["percentage"] == pytest.approx({"ndcg@1": 100.0, "ndcg@3": 16.32}, abs=0.01)


@pytest.mark.parametrize("improved", [["a"], ["x"]])
def test_there_is_no_percentage_of_a_baseline_of_0(improved):
    found = NDCGEvaluator(k_values=[1]).compare_rankings(["x"], improved, JUDGED)
    assert found["percentage"] == {"ndcg@1": None}


def test_every_score_is_observed_under_its_k():
    registry = CollectorRegistry()
    evaluator = NDCGEvaluator(k_values=(1, 3), registry=registry)
    evaluator.evaluate_ranking(RANKED, JUDGED)
    evaluator.evaluate_ranking(["x", "a"], JUDGED)
    assert registry.get_sample_value("vector_ndcg_avg_count", {"k": "1"}) == 2
    assert registry.get_sample_value("vector_ndcg_avg_sum", {"k": "1"}) == 1.0
    assert registry.get_sample_value("vector_ndcg_avg_bucket", {"k": "1", "le": "0.0"}) == 1
    assert registry.get_sample_value("vector_ndcg_avg_sum", {"k": "3"}) == pytest.approx(1.4796, abs=1e-4)
    text = generate_latest(registry).decode()
    bounds = [line.split('le="')[1].split('"')[0] for line in text.splitlines() if 'bucket{k="1"' in line]
    assert bounds == [*map(str, UNIT_BUCKETS), "+Inf"]


def test_a_comparison_is_not_observed():
    registry = CollectorRegistry()
    NDCGEvaluator(registry=registry).compare_rankings(["b", "a"], ["a", "b"], JUDGED)
    assert registry.get_sample_value("vector_ndcg_avg_count", {"k": "1"}) is None


def test_evaluators_of_one_registry_share_the_histogram_and_others_have_their_own():
    registry, other = CollectorRegistry(), CollectorRegistry()
    for evaluator in (NDCGEvaluator(registry=registry), NDCGEvaluator(k_values=[1], registry=registry)):
        evaluator.evaluate_ranking(RANKED, JUDGED)
    NDCGEvaluator(registry=other)
    assert registry.get_sample_value("vector_ndcg_avg_count", {"k": "1"}) == 2
    assert other.get_sample_value("vector_ndcg_avg_count", {"k": "1"}) is None


def test_a_registry_with_a_metric_of_that_name_is_refused_in_one_line():
    registry = CollectorRegistry()
    foreign = Gauge("vector_ndcg_avg", "Of another program.", registry=registry)
    with pytest.raises(ValueError) as refused:
        NDCGEvaluator(registry=registry)
    assert str(refused.value) == (
        "the registry already has a vector_ndcg_avg that is not of an NDCGEvaluator; unregister that one,"
        " or give another CollectorRegistry"
    )
    registry.unregister(foreign)
    NDCGEvaluator(registry=registry)


def test_a_registry_that_nobody_holds_is_let_go():
    registry = CollectorRegistry()
    NDCGEvaluator(registry=registry)
    held = weakref.ref(registry)
    del registry
    gc.collect()
    assert held() is None

"""The scenarios: a bad deploy hurts the candidate, and only it; otherwise nothing moves."""

from statistics import mean

import pytest

from monitor.simulate.scenarios import SCENARIOS
from tests.unit.simulate.runs import START, Truth, decoded

DEPLOY = 300.0
RUN = {"seconds": 600.0, "rate": 20.0}


def by_variant(scenario, score, seed=1, **options):
    """The mean score of each variant before and after the deploy: {variant: (before, after)}."""
    scores = {(variant, after): [] for variant in ("control", "candidate") for after in (False, True)}
    for event in decoded("impression", scenario=scenario, seed=seed, **RUN, **options):
        after = event["ts"] >= START + DEPLOY
        scores[event["labels"]["variant"], after].append(score(event))
    return {v: (mean(scores[v, False]), mean(scores[v, True])) for v in ("control", "candidate")}


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_a_bad_deploy_lowers_the_true_ndcg_of_the_candidate_and_leaves_control_alone(seed):
    ndcg = by_variant("bad-deploy", Truth(seed).ndcg, seed=seed, deploy_at=DEPLOY)
    assert ndcg["candidate"][0] - ndcg["candidate"][1] >= 0.2
    assert ndcg["control"][1] == pytest.approx(ndcg["control"][0], abs=0.03)
    assert ndcg["candidate"][0] == pytest.approx(ndcg["control"][0], abs=0.03)


def test_a_bad_deploy_costs_clicks_and_satisfied_users():
    clicked = {e["impression_id"] for e in decoded("click", scenario="bad-deploy", deploy_at=DEPLOY, **RUN)}
    ctr = by_variant("bad-deploy", lambda e: e["impression_id"] in clicked, deploy_at=DEPLOY)
    assert ctr["candidate"][0] - ctr["candidate"][1] > 0.1
    assert ctr["control"][1] == pytest.approx(ctr["control"][0], abs=0.04)


def test_nothing_moves_in_a_steady_world():
    for before, after in by_variant("steady", Truth().ndcg).values():
        assert after == pytest.approx(before, abs=0.03)


def test_the_deploy_comes_when_the_scenario_says_unless_moved():
    truth = Truth()
    assert SCENARIOS["bad-deploy"].deploy_at == 600.0
    late = by_variant("bad-deploy", truth.ndcg)
    assert late["candidate"][1] == pytest.approx(late["candidate"][0], abs=0.03)

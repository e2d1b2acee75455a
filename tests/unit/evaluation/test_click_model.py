"""The cascade click model: closed form, likelihood, prediction."""

import numpy as np
import pytest

from monitor.evaluation import CascadeClickModel, ClickedRanking


def log_likelihood(attractions, rankings):
    """Of clicks under the cascade, with an attraction for each document; the queries are all one."""
    total = 0.0
    for _, keys, clicks in rankings:
        for key in keys:
            if key in clicks:
                total += np.log(attractions[key])
                break
            total += np.log(1 - attractions[key])
    return total


def simulated(attractions, count, seed):
    random = np.random.default_rng(seed)
    for _ in range(count):
        keys = random.permutation(list(attractions)).tolist()
        clicked = next((key for key in keys if random.random() < attractions[key]), None)
        yield ClickedRanking("q", keys, [] if clicked is None else [clicked])


def test_attraction_is_clicks_over_examinations():
    model = CascadeClickModel().fit(
        [
            ClickedRanking("q", ["a", "b", "c"], ["b"]),
            ClickedRanking("q", ["a", "b", "c"], ["a"]),
            ClickedRanking("q", ["c", "b", "a"]),
        ]
    )
    assert model.attraction("q", "a") == pytest.approx(1 / 3)
    assert model.attraction("q", "b") == pytest.approx(1 / 2)
    assert model.attraction("q", "c") == 0.0  # below the first click twice, so examined once


def test_the_fit_has_the_greatest_likelihood():
    rankings = list(simulated({"a": 0.6, "b": 0.3, "c": 0.1}, 300, seed=1))
    model = CascadeClickModel().fit(rankings)
    fitted = {key: model.attraction("q", key) for key in "abc"}
    best = log_likelihood(fitted, rankings)
    for key in "abc":
        for step in (-0.02, 0.02):
            assert log_likelihood({**fitted, key: fitted[key] + step}, rankings) < best


def test_the_fit_finds_what_made_the_clicks_whatever_the_ranks():
    truth = {"a": 0.6, "b": 0.3, "c": 0.1, "d": 0.02}
    model = CascadeClickModel().fit(simulated(truth, 5000, seed=2))
    assert {key: model.attraction("q", key) for key in truth} == pytest.approx(truth, abs=0.03)


def test_a_prediction_is_reaching_a_rank_times_its_attraction():
    model = CascadeClickModel().fit(
        [ClickedRanking("q", ["a"], clicks) for clicks in (["a"], [])]
        + [ClickedRanking("q", ["b"], clicks) for clicks in (["b"], [], [], [])]
    )
    assert model.predict("q", ["a", "b"]) == pytest.approx([0.5, 0.5 * 0.25])
    assert model.predict("q", ["b", "a"]) == pytest.approx([0.25, 0.75 * 0.5])
    assert model.predict("q", []) == []


def test_predictions_are_the_frequencies_of_clicks_by_rank():
    truth = {"a": 0.5, "b": 0.4, "c": 0.3}
    model = CascadeClickModel().fit(simulated(truth, 5000, seed=3))
    expected = [0.5, 0.5 * 0.4, 0.5 * 0.6 * 0.3]
    assert model.predict("q", ["a", "b", "c"]) == pytest.approx(expected, abs=0.02)
    assert all(type(each) is float for each in model.predict("q", ["a", "b", "c"]))


def test_only_the_highest_click_of_a_ranking_counts():
    both = CascadeClickModel().fit([ClickedRanking("q", ["a", "b"], ["b", "a"])])
    assert both.attraction("q", "a") == 1.0
    assert both.predict("q", ["a", "b"]) == [1.0, 0.0]


def test_a_click_on_what_was_not_shown_does_not_count():
    model = CascadeClickModel().fit([ClickedRanking("q", ["a", "b"], ["z"])])
    assert model.predict("q", ["a", "b"]) == [0.0, 0.0]


def test_a_document_has_its_own_attraction_for_each_query():
    model = CascadeClickModel().fit([ClickedRanking("q1", ["a"], ["a"]), ClickedRanking("q2", ["a"])])
    assert (model.attraction("q1", "a"), model.attraction("q2", "a")) == (1.0, 0.0)


def test_a_document_that_was_never_examined_has_the_mean_of_all():
    model = CascadeClickModel().fit(
        [
            ClickedRanking("q", ["a", "below"], ["a"]),
            ClickedRanking("q", ["a"]),
            ClickedRanking("q", ["b", "a"]),
        ]
    )
    assert model.attraction("q", "below") == model.attraction("other", "a") == 1 / 4


def test_a_second_fit_forgets_the_first():
    model = CascadeClickModel().fit([ClickedRanking("q", ["a"], ["a"])])
    assert model.fit([ClickedRanking("q", ["a"])]).attraction("q", "a") == 0.0


@pytest.mark.parametrize("rankings", [[], [ClickedRanking("q", [])]])
def test_nothing_to_learn_from_is_refused(rankings):
    with pytest.raises(ValueError, match="nothing to learn from"):
        CascadeClickModel().fit(rankings)


def test_predicting_before_learning_is_refused():
    with pytest.raises(ValueError, match="call fit first"):
        CascadeClickModel().predict("q", ["a"])


def test_a_text_is_no_list_of_clicks():
    with pytest.raises(TypeError, match="the clicks of query 'q' must be a list of keys, not one text"):
        CascadeClickModel().fit([ClickedRanking("q", ["a"], "a")])

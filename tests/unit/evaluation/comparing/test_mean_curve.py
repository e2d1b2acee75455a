"""The mean curve of a run that is on its way to be scored."""

import pytest

from monitor.evaluation.comparing.mean_curve import MeanCurve
from monitor.evaluation.files.qrels import Qrels
from monitor.evaluation.files.runs import Ranking
from monitor.metrics import judged_batch, parse

JUDGED = Qrels(grades={"a": {"x": 1.0, "y": 1.0}, "b": {"z": 2.0}, "c": {"x": 0.0}}, targets={})
RANKINGS = [Ranking("b", ["q", "z"]), Ranking("unjudged", ["x"]), Ranking("a", ["x", "q", "r", "y"])]


def test_all_rankings_pass_as_they_came():
    assert list(MeanCurve(JUDGED).watch(RANKINGS)) == RANKINGS


def test_it_is_the_mean_over_the_queries_asked_for():
    curve = MeanCurve(JUDGED)
    list(curve.watch(RANKINGS))
    assert curve.over(["a"]) == pytest.approx([1.0] * 6 + [0.5] * 5)
    assert curve.over(["b"]) == pytest.approx([0.5] * 11)
    assert curve.over(["a", "b"]) == pytest.approx([0.75] * 6 + [0.5] * 5)


def test_a_query_that_the_run_lacks_counts_0():
    curve = MeanCurve(JUDGED)
    list(curve.watch(RANKINGS))
    assert curve.over(["a", "b", "c"]) == pytest.approx([1.5 / 3] * 6 + [1.0 / 3] * 5)


def test_its_mean_is_the_metric_of_eleven_points():
    curve = MeanCurve(JUDGED)
    list(curve.watch(RANKINGS))
    whole = parse("iprec11").score(judged_batch([[1, 0, 0, 1], [0, 2]]))
    assert curve.over(["a", "b"]).mean() == pytest.approx(whole.mean())

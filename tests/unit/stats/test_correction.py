"""Holm's correction, stars and words, at their boundaries."""

import math

import pytest

from monitor.stats import holm, stars, verdict


def test_holm_gives_worked_values_in_the_given_order():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@pytest.mark.parametrize(
    ("given", "adjusted"),
    [
        ([], []),
        ([0.04], [0.04]),
        ([0.0, 1.0], [0.0, 1.0]),
        ([0.6, 0.7, 0.8], [1.0, 1.0, 1.0]),
        ([0.02, 0.02], [0.04, 0.04]),
        ((0.03, 0.02), [0.04, 0.04]),
    ],
    ids=["none", "one", "ends", "never above 1", "ties", "never below a smaller one"],
)
def test_holm_at_its_edges(given, adjusted):
    assert holm(given) == pytest.approx(adjusted)


BELOW = math.nextafter


@pytest.mark.parametrize(
    ("p", "mark", "words"),
    [
        (0.0, "***", "significant at .001"),
        (BELOW(0.001, 0), "***", "significant at .001"),
        (0.001, "**", "significant at .01"),
        (0.01, "*", "significant at .05"),
        (0.05, "ns", "marginal"),
        (BELOW(0.1, 0), "ns", "marginal"),
        (0.1, "ns", "not significant"),
        (1.0, "ns", "not significant"),
    ],
)
def test_a_level_is_reached_below_it_and_not_at_it(p, mark, words):
    assert (stars(p), verdict(p)) == (mark, words)


@pytest.mark.parametrize("p", [-0.01, 1.01, math.nan])
@pytest.mark.parametrize("function", [stars, verdict, lambda p: holm([0.5, p])])
def test_what_is_no_p_value_is_refused(function, p):
    with pytest.raises(ValueError, match=f"p is {p}; a p value lies between 0 and 1"):
        function(p)

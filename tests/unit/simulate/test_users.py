"""Users: better lists get more clicks, longer dwell and fewer empty-handed ends."""

from random import Random
from statistics import mean, median

from monitor.simulate.users import CLICKS, visit

GOOD, POOR = [3, 3, 2, 2, 1, 1, 0, 0, 0, 0], [0] * 10


def visits(grades, count=4000):
    rng = Random(1)
    return [visit(grades, rng) for _ in range(count)]


def test_a_better_list_gets_more_clicks_and_satisfies_more():
    good, poor = visits(GOOD), visits(POOR)
    assert mean(bool(v.clicks) for v in good) > mean(bool(v.clicks) for v in poor) + 0.5
    assert mean(v.satisfied for v in good) > mean(v.satisfied for v in poor) + 0.5


def test_the_first_result_is_always_examined():
    first = mean(any(click.position == 1 for click in v.clicks) for v in visits([2]))
    assert abs(first - CLICKS[2]) < 0.03


def test_a_satisfied_user_looks_no_further():
    for v in visits(GOOD):
        assert not v.satisfied or v.clicks[-1].position == v.scrolled_to


def test_clicks_go_down_the_list_and_each_waits_for_the_one_before():
    for v in visits(GOOD):
        for one, next_one in zip(v.clicks, v.clicks[1:], strict=False):
            assert one.position < next_one.position
            assert one.after + one.dwell_seconds < next_one.after
        assert all(0 < click.after + click.dwell_seconds <= v.seconds for click in v.clicks)


def test_relevant_results_are_read_longer():
    dwell = {
        grade: median(click.dwell_seconds for v in visits([grade] * 10) for click in v.clicks)
        for grade in range(4)
    }
    assert dwell[0] < dwell[1] < dwell[2] < dwell[3]


def test_an_empty_list_ends_without_a_click():
    [v] = visits([], count=1)
    assert (v.clicks, v.scrolled_to, v.satisfied) == ([], 0, False)

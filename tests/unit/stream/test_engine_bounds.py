"""The engine's bounds: over each of them the oldest are decided early, as if time had passed, and counted."""

import base64

import numpy as np
import pytest

from monitor.stream.records import Role
from tests.unit.stream.timeline import HOUR, Timeline, click, dwell, impression, judgment, tick


def test_at_the_bound_nothing_is_evicted():
    line = Timeline(limits={"open": 2})
    line.bring(impression("i", 0), impression("j", 1))
    assert line.snapshot.open_impressions == 2
    assert line.fates("impression") == {}


def test_over_the_bound_the_oldest_impression_is_evicted():
    line = Timeline(limits={"open": 2})
    line.bring(impression("i", 0, "a"), impression("j", 1, "ab"), impression("k", 2, "abc"))
    assert line.fates("impression") == {"evicted": 1}
    assert line.snapshot.open_impressions == 2
    line.bring(tick(500))
    assert line.fates("impression") == {"evicted": 1, "settled": 2}
    line.assert_books_balance()


def test_what_is_evicted_is_observed_once_with_what_is_known():
    """
    0         5           6
    I c j     I           bound of one: the first is decided for every delay
    """
    line = Timeline(limits={"open": 1}, metrics=["precision@1", "ctr@10"])
    line.bring(impression("i", 0), click("i", 1), judgment("a", 2, 1), impression("j", 5, query="other"))
    assert line.observed("vector_results") == [(1, 3.0)]
    assert line.observed("vector_ctr_avg") == [(1, 1.0)]
    assert line.observed("vector_precision_avg", maturity="20s") == [(1, 1.0)]
    assert line.observed("vector_precision_avg", maturity="100s") == [(1, 1.0)]
    assert line.fates("click") == {"joined": 1}


def test_an_impression_that_is_evicted_half_way_is_decided_only_at_the_stages_it_had_left():
    line = Timeline(limits={"open": 1})
    line.bring(impression("i", 0), tick(15))
    assert line.observed("vector_ctr_avg") == [(1, 0.0)]
    line.bring(impression("j", 15))
    assert line.observed("vector_ctr_avg") == [(1, 0.0)]
    assert line.snapshot.judged["20s", "unjudged"] == 1
    assert line.fates("impression") == {"evicted": 1}


def test_what_is_evicted_is_in_its_windows():
    line = Timeline(limits={"open": 1})
    line.bring(*(impression(f"i{at}", at, "a") for at in (0, 10, 20)), tick(61))
    assert line.windows("vector_results") == {0: (3, 3.0)}


def test_a_click_for_what_was_evicted_is_unmatched():
    line = Timeline(limits={"open": 1})
    line.bring(impression("i", 0), impression("j", 1))
    line.bring(click("i", 2), tick(500))
    assert line.fates("click") == {"unmatched": 1}
    line.assert_books_balance()


def test_the_oldest_of_all_tasks_is_evicted():
    line = Timeline(partitions=2, limits={"open": 2})
    line.bring(impression("i", 5, "a"), impression("j", 6, "a"), partition=0)
    line.bring(impression("k", 1, "abc"), partition=1)
    assert line.observed("vector_results") == [(1, 3.0)]
    assert line.fates("impression") == {"evicted": 1}
    assert line.snapshot.open_impressions == 2


def test_over_the_bound_the_interactions_that_have_waited_longest_are_evicted():
    line = Timeline(limits={"pending": 2}, lateness_seconds=60)
    line.bring(click("i", 3), click("j", 1), dwell("k", 2, 5.0))
    assert line.fates("click") == {"evicted": 1}
    assert line.snapshot.pending_interactions == 2
    line.finish()
    assert line.fates("click") == {"evicted": 1, "unmatched": 1}
    assert line.fates("dwell") == {"unmatched": 1}
    line.assert_books_balance()


def test_where_no_interaction_waits_the_oldest_impression_gives_its_own_up():
    line = Timeline(limits={"pending": 2})
    line.bring(impression("i", 0), impression("j", 0), click("i", 1), click("j", 1), click("j", 1, "b"))
    assert line.fates("impression") == {"evicted": 1}
    assert line.fates("click") == {"joined": 1}
    assert line.snapshot.pending_interactions == 2
    line.assert_books_balance()


@pytest.mark.parametrize("roles", [None, {"shown": Role.IMPRESSIONS, "done": Role.INTERACTIONS}])
def test_far_over_both_bounds_the_books_balance(roles):
    line = Timeline(*([roles] if roles else []), limits={"open": 5, "pending": 3}, lateness_seconds=60)
    topics = ("shown", "done") if roles else ("events", "events")
    for i in range(40):
        line.bring(impression(f"i{i}", i), impression(f"i{i}", i), topic=topics[0])
        line.bring(click(f"i{i}", i), click(f"i{i + 3}", i), click(f"i{i - 9}", i, "b"), topic=topics[1])
        line.assert_books_balance()
        assert line.snapshot.open_impressions <= 5
        assert line.snapshot.pending_interactions <= 3
    line.finish()
    line.assert_books_balance()
    assert line.fates("impression")["evicted"] > 0
    assert line.fates("click")["evicted"] > 0


def test_over_the_bound_the_query_that_was_judged_longest_ago_is_forgotten_and_counted():
    line = Timeline(limits={"judgments": 2})
    line.bring(judgment("a", 0, 1, query="p"), judgment("b", 0, 1, query="p"), judgment("a", 0, 1, query="q"))
    assert line.snapshot.judgments_evicted == 2
    assert line.snapshot.judgments == 1
    assert line.fates("judgment") == {"applied": 3}
    line.assert_books_balance()


def test_the_bound_on_judgments_holds_for_a_topic_of_their_own():
    line = Timeline({"events": Role.EVENTS, "grades": Role.JUDGMENTS}, limits={"judgments": 2})
    line.bring(*(judgment("a", 0, 1, query=f"q{i}") for i in range(10)), topic="grades")
    assert line.snapshot.judgments == 2
    assert line.snapshot.judgments_evicted == 8


def test_an_eviction_does_not_move_the_watermark():
    line = Timeline(limits={"open": 1})
    line.bring(impression("i", 0), impression("j", 1))
    assert line.snapshot.watermarks == {0: HOUR + 1}


def test_over_the_bound_of_interactions_only_impressions_that_hold_some_are_evicted():
    """
    0       1       200 ...                  200.1 - 200.3
    I(i)    tick(150): past its clicks       I(j) with three clicks: bound of two
    """
    line = Timeline(limits={"pending": 2}, judgments={"maturities": [20, 1000]})
    line.bring(impression("i", 0), tick(150), impression("j", 200))
    line.bring(*(click("j", 200 + tenth / 10) for tenth in (1, 2, 3)))
    assert line.fates("impression") == {"evicted": 1}
    assert line.fates("click") == {"joined": 3}
    assert line.snapshot.open_impressions == 1
    line.assert_books_balance()


def test_many_over_the_bound_of_several_tasks_are_evicted_by_age_whatever_their_task():
    line = Timeline(limits={"open": 3}, partitions=2, lateness_seconds=60)
    line.bring(*(impression(f"a{at}", at, "a") for at in (0, 3, 6, 9)), partition=0)
    line.bring(*(impression(f"b{at}", at, "ab") for at in (1, 2, 7, 8)), partition=1)
    assert line.fates("impression") == {"evicted": 5}
    # Shown at 0, 1, 2, 3 and 6: three of one document, two of two.
    assert line.observed("vector_results") == [(5, 7.0)]
    line.assert_books_balance()


def test_over_the_bound_of_judgments_what_was_replaced_goes_before_any_query_does():
    line = Timeline(limits={"judgments": 2}, metrics=["precision@1"])
    line.bring(*(judgment("a", at, 1 + at % 2) for at in range(6)), impression("i", 10), tick(500))
    assert line.snapshot.judgments == 2  # that one, and the tick's
    assert line.snapshot.judgments_evicted == 0
    assert line.observed("vector_precision_avg", maturity="20s") == [(1, 1.0)]


# Memory.

WITH_EMBEDDINGS = {"metrics": ["ild@10"]}
FLOOR = 64 << 20
"""The least that can be configured."""


def held_bytes(line):
    tasks = [progress.task for progress in line.engine._tasks.values()]
    return sum(task.impression_bytes + task.interaction_bytes for task in tasks)


def vectors(count, dimensions):
    return [base64.b64encode(np.ones(dimensions, "<f4").tobytes()).decode()] * count


def test_an_impression_that_takes_too_much_by_itself_is_rejected_whatever_else_is_held():
    line = Timeline(limits={"memory": FLOOR}, **WITH_EMBEDDINGS)
    line.bring(impression("small", 0, "ab", embeddings=vectors(2, 3000)))
    line.bring(impression("large", 1, "ab", embeddings=vectors(2, 6000)))
    assert line.snapshot.rejected["too_large"] == 1
    assert line.snapshot.open_impressions == 1
    line.assert_books_balance()


def test_embeddings_that_no_metric_needs_make_nothing_too_large():
    line = Timeline(limits={"memory": FLOOR})
    line.bring(impression("large", 1, "ab", embeddings=vectors(2, 6000)))
    assert line.snapshot.rejected["too_large"] == 0
    assert held_bytes(line) < 1000


def test_over_the_memory_the_oldest_impressions_are_decided_early():
    line = Timeline(limits={"memory": FLOOR}, **WITH_EMBEDDINGS)
    for i in range(0, 3000, 50):
        line.bring(
            *(impression(f"i{n}", n / 1000, "ab", embeddings=vectors(2, 3500)) for n in range(i, i + 50))
        )
        assert held_bytes(line) <= FLOOR
    evicted = line.fates("impression")["evicted"]
    assert 640 < evicted < 700
    assert line.snapshot.open_impressions == 3000 - evicted
    line.bring(tick(500))
    assert line.fates("impression") == {"evicted": evicted, "settled": 3000 - evicted}
    assert held_bytes(line) < 1000
    line.assert_books_balance()


def test_small_old_impressions_go_before_a_large_new_one_until_all_fits():
    line = Timeline(limits={"memory": FLOOR}, **WITH_EMBEDDINGS)
    line.bring(*(impression(f"small{i}", i / 1e4, "a") for i in range(20_000)))
    line.bring(*(impression(f"i{i}", 3 + i / 1e4, "ab", embeddings=vectors(2, 3500)) for i in range(2500)))
    assert held_bytes(line) <= FLOOR
    assert line.fates("impression")["evicted"] >= 20_000


def test_over_the_memory_clicks_that_wait_go_and_the_fewer_impressions_stay():
    line = Timeline(limits={"memory": FLOOR}, attribution_seconds=1000, judgments={"maturities": [2000]})
    line.bring(impression("i", 0))
    line.bring(*(click(f"nobody{i}", i / 1e4) for i in range(70_000)))
    assert held_bytes(line) <= FLOOR
    assert line.snapshot.open_impressions == 1
    assert line.fates("click")["evicted"] > 2000


def test_over_the_memory_the_judgments_go_that_take_most_of_it():
    line = Timeline(limits={"memory": FLOOR})
    line.bring(impression("i", 0, query="q0"))
    line.bring(*(judgment("a", 1, 1, query=f"q{i}") for i in range(120_000)))
    assert line.engine._table.size_bytes <= FLOOR
    assert line.snapshot.judgments_evicted > 10_000
    assert line.snapshot.judgments == 120_000 - line.snapshot.judgments_evicted
    assert line.snapshot.open_impressions == 1
    assert line.fates("impression") == {}


def test_what_was_held_and_has_gone_takes_nothing():
    line = Timeline(**WITH_EMBEDDINGS)
    line.bring(impression("i", 0, "aba", embeddings=vectors(3, 8)), click("i", 1), click("later", 2))
    line.bring(click("i", 3, key="b"), impression("later", 4), click("never", 4), impression("j", 5))
    assert held_bytes(line) > 1000
    line.finish()
    assert held_bytes(line) == 0

"""The reference itself: fates, joins, the watermark and windows, on timelines worked out by hand.

Unless a test says otherwise attribution is 10 s, lateness 2 s, and the maturities are 4 s and 20 s.
"""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.property.reference import Reference
from tests.property.reference_model import Window
from tests.property.reference_wire import Idle, Sent
from tests.property.timelines import click, dwell, impression, judgment, outcome, run, series, settings


def test_a_deadline_has_passed_when_the_watermark_is_beyond_it_not_when_it_is_on_it() -> None:
    """The watermark is 12 - 2 = 10 = 0 + 10: not yet; half a second later it is beyond."""
    on_it = run(impression(0), click(1, position=1), click(12, "ghost", position=1), finished=False)
    assert (on_it.fates, on_it.open, on_it.pending) == ({}, 1, 2)
    beyond = run(impression(0), click(1, position=1), click(12.5, "ghost", position=1), finished=False)
    assert (beyond.fates, beyond.open, beyond.pending) == ({("click", "joined"): 1}, 1, 1)
    last = run(impression(0), click(22.5, "ghost", position=1), finished=False)
    assert (last.fates, last.open, last.pending) == ({("impression", "settled"): 1}, 0, 1)


def test_an_impression_before_the_watermark_is_late_and_one_on_it_is_not() -> None:
    """After ts = 30 the watermark is 28; the late one does not move it."""
    found = run(impression(30, "a"), impression(28, "b"), impression(27.5, "c"), impression(28, "d"))
    assert found.fates == {("impression", "settled"): 3, ("impression", "late"): 1}


def test_an_id_is_a_duplicate_while_it_is_held_and_free_once_it_is_settled() -> None:
    """Held until the watermark is beyond 0 + 20: the copy at 22 meets 19 - 2, the one at 30 meets 20.5."""
    held = run(impression(0), impression(19, "j"), impression(22))
    assert held.fates == {("impression", "settled"): 2, ("impression", "duplicate"): 1}
    free = run(impression(0), impression(22.5, "j"), impression(30))
    assert free.fates == {("impression", "settled"): 3}


def test_a_click_joins_from_both_ends_of_the_attribution_and_not_beyond() -> None:
    """|c - ts| <= 10: the clicks at 40, 60 and, though it came first, 41 join; 39.5 and 60.5 do not."""
    found = run(
        click(41, position=3),
        impression(50),
        *(click(ts, position=1) for ts in (40, 39.5, 60, 60.5)),
        metrics=("ctr@1", "ctr@3", "click_mrr@3", "abandonment"),
        lateness=30,
    )
    assert found.fates == {("click", "joined"): 3, ("click", "unmatched"): 2, ("impression", "settled"): 1}
    assert found.observed[series("vector_click_mrr_avg", 3)] == [1]
    assert found.observed[series("vector_click_depth")] == [3]
    assert found.clicks == {(1, ()): 1, (2, ()): 0, (3, ()): 1}
    assert found.shown == {(1, ()): 1, (2, ()): 1, (3, ()): 1}


def test_an_interaction_without_its_impression_waits_and_ends_unmatched() -> None:
    """It waits until the watermark is beyond 15; a copy meanwhile is a duplicate, one after that is not."""
    lone = click(5, "ghost", key="a")
    waiting = run(lone, lone, impression(17), finished=False)
    assert (waiting.fates, waiting.pending) == ({("click", "duplicate"): 1}, 1)
    over = run(lone, impression(17.5), lone, finished=False)
    assert (over.fates, over.pending) == ({("click", "unmatched"): 2}, 0)


def test_type_key_and_time_make_an_interaction_a_duplicate() -> None:
    """The second dwell is one, whatever it says; clicks on a rank by key and by position are two."""
    found = run(
        impression(0),
        click(3, key="b"),
        click(3, key="b"),
        click(3, position=2),
        dwell(3, key="b", dwell_seconds=29),
        dwell(3, key="b", dwell_seconds=31),
        metrics=("satisfied",),
    )
    assert found.fates == {
        ("impression", "settled"): 1,
        ("click", "joined"): 2,
        ("click", "duplicate"): 1,
        ("dwell", "joined"): 1,
        ("dwell", "duplicate"): 1,
    }
    assert found.observed[series("vector_satisfied_avg")] == [0]
    assert found.observed[series("vector_dwell_seconds")] == [29]


def test_a_key_that_is_ranked_twice_counts_at_its_first_rank() -> None:
    """Sent a b a c: ranks a 1, b 2, c 3. Position 3 is a and so rank 1, position 4 is c and so rank 3."""
    found = run(
        impression(0, ranked="abac"),
        judgment(0, "c", 1),
        click(1, position=4, dwell_seconds=30),
        click(2, position=3),
        click(2, position=5),
        click(2, key="x"),
        metrics=("mrr@3", "click_mrr@3", "satisfied"),
    )
    assert (found.fates["click", "joined"], found.fates["click", "unmatched"]) == (2, 2)
    assert found.observed[series("vector_results")] == [3]
    assert found.observed[series("vector_mrr_avg", 3, 4)] == [pytest.approx(1 / 3)]
    assert found.observed[series("vector_click_mrr_avg", 3)] == [1]
    assert found.observed[series("vector_click_depth")] == [3]
    assert found.observed[series("vector_satisfied_avg")] == [1]


def test_the_last_outcome_that_carries_a_value_gives_it() -> None:
    """By time, not by arrival: `unsuccessful` of 7 beats `successful` of 5; the last scroll depth is of 6."""
    found = run(
        impression(0),
        outcome(7, outcome="unsuccessful"),
        outcome(5, outcome="successful", max_scroll_position=9),
        outcome(6, max_scroll_position=0),
        outcome(5, outcome="successful"),
    )
    assert found.observed[series("vector_outcome_success_avg")] == [0]
    assert found.observed[series("vector_scroll_depth")] == [0]
    assert (found.fates["outcome", "joined"], found.fates["outcome", "duplicate"]) == (3, 1)


def test_labels_and_windows() -> None:
    """Windows of 10 s. At first the watermark is 21: the window 0 to 10 is closed, also for a delay of 10."""
    variant = ("variant", "x")
    stream = [
        impression(1, "a", labels={"variant": "x", "user": "1"}, latency_seconds=0.25),
        impression(10, "b", labels={"variant": "x"}),
        impression(9.5, "c"),
        impression(23, "d"),
    ]
    changes: dict[str, Any] = {"labels": ("variant",), "windows": (10,), "metrics": ("abandonment",)}
    abandonment = series("vector_abandonment_avg", None, None, variant)
    unknown = series("vector_abandonment_avg", None, None, ("variant", "unknown"))
    prefix = run(*stream, finished=False, **changes)
    assert prefix.observed[abandonment] == [1, 1]
    assert prefix.in_windows[Window(10, 0, abandonment)] == [1]
    assert prefix.in_windows[Window(10, 0, unknown)] == [1]
    assert Window(10, 10, abandonment) not in prefix.in_windows
    whole = run(*stream, **changes)
    assert whole.in_windows[Window(10, 10, abandonment)] == [1]
    assert whole.observed[series("vector_search_latency_seconds", None, None, variant)] == [0.25]


def test_the_watermark_of_a_task_is_that_of_its_slowest_topic() -> None:
    """While clicks are silent nothing is late; at 5 they set it to 3; partition 1 is another task."""
    topics = (("shown", "impressions"), ("done", "interactions"), ("judged", "judgments"))
    records = [
        Sent("shown", 0, impression(50, "a")),
        Sent("shown", 0, impression(1, "b")),
        Sent("done", 1, click(99, "a", position=1)),
        Sent("done", 0, click(5, "b", position=1)),
        Sent("shown", 0, impression(2, "c")),
        Sent("judged", 5, judgment(80, "a", 1)),
        Sent("judged", 5, click(80, position=1)),
    ]
    found = Reference(settings(topics=topics, partitions=2), records, finished=False)
    assert found.fates == {("impression", "late"): 1, ("judgment", "applied"): 1}
    assert found.rejected == {"wrong_topic": 1}
    assert (found.open, found.pending) == (2, 2)
    assert [course[-1] for course in found.watermarks.values()] == [3, float("-inf")]


@pytest.mark.parametrize(("role", "decided"), [("events", 0), ("impressions", 1)])
def test_a_task_waits_for_all_where_any_may_bring_judgments(role: str, decided: int) -> None:
    """Task 0 is at 46 and task 1 has brought nothing: only the deciding waits."""
    records = [
        Sent("shown", 0, impression(0)),
        Sent("shown", 0, impression(48, "j")),
        Sent("shown", 0, impression(45, "k")),
        Sent("shown", 0, impression(48)),
    ]
    found = Reference(settings(topics=(("shown", role),), partitions=2), records, finished=False)
    assert (found.fates["impression", "settled"], found.fates["impression", "late"]) == (decided, 1)
    assert (found.fates["impression", "duplicate"], found.open) == (0, 3 - decided)


def test_an_idle_partition_moves_on_with_the_clock() -> None:
    """Clicks are silent and idle at 11.5, so the watermark is 9.5; at 30 impressions, at 15, hold it back."""
    topics = (("shown", "impressions"), ("done", "interactions"))
    records: list[Sent | Idle] = [
        Sent("shown", 0, impression(0)),
        Sent("shown", 0, impression(15, "j")),
        Idle("done", 0, 11.5),
        Sent("shown", 0, impression(9, "k")),
        Idle("done", 0, 30),
    ]
    found = Reference(settings(topics=topics), records, finished=False)
    assert found.watermarks[0] == [float("-inf")] * 3 + [9.5, 9.5, 13]
    assert found.fates == {("impression", "late"): 1}


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"{", "not_json"),
        (b"[]", "not_object"),
        ({"type": "purchase", "ts": 1}, "unknown_type"),
        ({"type": "impression", "ts": 1, "impression_id": "i", "query_id": "q"}, "missing_field"),
        (click(1), "missing_field"),
        (judgment(1, "a", -1), "invalid_field"),
        (judgment(1, "a", float("nan")), "not_finite"),
        (click(1, "i" * 257, position=1), "id_too_long"),
        (impression(1, ranked="a" * 1001), "too_many_ranked"),
        (click(1e9 + 601, position=1), "future_ts"),
        (b" " * (1 << 20) + b"{}", "too_large"),
    ],
)
def test_what_is_no_event_is_rejected_and_moves_nothing(
    value: Mapping[str, Any] | bytes, reason: str
) -> None:
    found = run(impression(0), value, finished=False)
    assert (found.rejected, found.open, found.pending) == ({reason: 1}, 1, 0)
    assert found.watermarks[0] == [float("-inf"), -2, -2]

"""Joining: impressions held until their last deadline, and interactions that meet them in any order."""

import math
import time

import numpy as np
import pytest

from monitor.stream.interactions import CLICK, DWELL, OUTCOME
from monitor.stream.join import Task
from monitor.stream.plan import make_plan
from tests.unit.stream.rows import impressions, side_by_side
from tests.unit.stream.timeline import settings

PLAN = make_plan(settings())
"""Stages after 0, 10 (clicks), 20 and 100 seconds."""
TOLD = (math.nan, math.nan)
FOREVER = -math.inf


def admit(task, number, ts, watermark, *, late):
    """Let an impression in; its fate, or nothing if it is to be held."""
    return task.admit([number], [ts], [watermark], np.array([late])).fates.get(0, "")


def hold(task, number, ts):
    """Admit an impression and hold it."""
    assert admit(task, number, ts, FOREVER, late=False) == ""
    task.hold(impressions((number, ts)))


def interact(task, number, interaction, told, watermark):
    """Take an interaction in; its fate, or nothing if that is open."""
    fates = task.interact(side_by_side([number], [{interaction: told}]), np.array([watermark]))
    return "".join(fate for _, fate in fates)


def one_by_one(found):
    return [interaction.identity for interaction in found.one_by_one()]


def joined(task, number, ts):
    """The interactions of an impression, which are handed out once."""
    return one_by_one(task.interactions_of(impressions((number, ts))))


def expire(task, watermark):
    return one_by_one(task.expire(watermark))


def evict_waiting(task, number_of):
    return one_by_one(task.evict_waiting(number_of))


def clicked(ts, key=11):
    return (CLICK, key, False, ts)


@pytest.fixture
def task():
    return Task(PLAN)


def due(task, watermark):
    """Stage -> the impressions that are decided there, in their order."""
    decided = {}
    for number in range(len(PLAN.stages)):
        if (found := task.due(number, watermark)) is not None:
            decided[number] = found.ids.tolist()
            task.pass_on(number, found)
    return decided


# Deadlines.


def test_an_impression_is_due_at_each_stage_once_the_watermark_has_passed_its_deadline(task):
    hold(task, 1, 100.0)
    assert due(task, 100.0) == {}
    assert due(task, 100.5) == {0: [1]}
    assert due(task, 110.0) == {}
    assert due(task, 110.5) == {1: [1]}
    assert due(task, 120.5) == {2: [1]}
    assert due(task, 200.0) == {}
    assert due(task, 200.5) == {3: [1]}
    assert due(task, math.inf) == {}


def test_a_leap_of_time_decides_every_stage_at_once(task):
    hold(task, 1, 100.0)
    assert due(task, math.inf) == {0: [1], 1: [1], 2: [1], 3: [1]}


def test_what_is_due_together_comes_in_the_order_of_its_time(task):
    for number, ts in ((1, 103.25), (2, 101.0), (3, 103.0), (4, 102.0)):
        hold(task, number, ts)
    assert due(task, 103.1) == {0: [2, 4, 3]}
    assert due(task, 113.1) == {0: [1], 1: [2, 4, 3]}


def test_an_impression_is_held_until_its_last_deadline(task):
    hold(task, 1, 100.0)
    due(task, 200.0)
    assert task.open == 1
    assert admit(task, 1, 150.0, 200.0, late=False) == "duplicate"
    due(task, 200.5)
    assert task.open == 0
    assert admit(task, 1, 250.0, 200.5, late=False) == ""


# Interactions.


def test_an_interaction_of_a_held_impression_belongs_to_it(task):
    hold(task, 1, 100.0)
    assert interact(task, 1, clicked(103.0), TOLD, FOREVER) == ""
    assert task.pending == 1
    assert joined(task, 1, 100.0) == [clicked(103.0)]


def test_an_interaction_waits_for_an_impression_that_comes_later(task):
    interact(task, 1, clicked(103.0), TOLD, FOREVER)
    hold(task, 1, 100.0)
    assert task.pending == 1
    assert expire(task, math.inf) == []
    assert joined(task, 1, 100.0) == [clicked(103.0)]


@pytest.mark.parametrize(("ts", "joins"), [(89.9, False), (90.0, True), (110.0, True), (110.1, False)])
@pytest.mark.parametrize("first", ["impression", "interaction"])
def test_attribution_reaches_as_far_back_as_ahead_whichever_side_comes_first(task, first, ts, joins):
    if first == "impression":
        hold(task, 1, 100.0)
    interact(task, 1, clicked(ts), TOLD, FOREVER)
    if first == "interaction":
        hold(task, 1, 100.0)
    assert bool(joined(task, 1, 100.0)) is joins
    assert expire(task, math.inf) == ([] if joins else [clicked(ts)])


def test_an_impression_takes_of_those_that_wait_only_the_ones_in_reach(task):
    for ts in (80.0, 103.0, 130.0):
        interact(task, 1, clicked(ts), TOLD, FOREVER)
    hold(task, 1, 100.0)
    assert joined(task, 1, 100.0) == [clicked(103.0)]
    assert expire(task, math.inf) == [clicked(80.0), clicked(130.0)]


def test_the_same_interaction_of_a_held_impression_is_a_duplicate(task):
    hold(task, 1, 100.0)
    interact(task, 1, clicked(103.0), TOLD, FOREVER)
    assert interact(task, 1, clicked(103.0), (5.0, math.nan), FOREVER) == "duplicate"
    assert task.pending == 1
    [seconds] = task.interactions_of(impressions((1, 100.0))).told.tolist()
    assert math.isnan(seconds)


def test_the_same_interaction_that_waits_is_a_duplicate(task):
    interact(task, 1, clicked(103.0), TOLD, FOREVER)
    assert interact(task, 1, clicked(103.0), TOLD, FOREVER) == "duplicate"
    assert task.pending == 1


@pytest.mark.parametrize(
    "other",
    [
        (CLICK, 12, False, 103.0),
        (CLICK, 11, True, 103.0),
        (DWELL, 11, False, 103.0),
        (OUTCOME, 11, False, 103.0),
        (CLICK, 11, False, 103.5),
    ],
    ids=["key", "position", "dwell", "outcome", "time"],
)
def test_interactions_that_differ_in_anything_are_two(task, other):
    hold(task, 1, 100.0)
    interact(task, 1, clicked(103.0), TOLD, FOREVER)
    assert interact(task, 1, other, TOLD, FOREVER) == ""
    assert task.pending == 2


def test_an_interaction_whose_time_has_passed_is_unmatched_at_once(task):
    assert interact(task, 1, clicked(100.0), TOLD, 110.5) == "unmatched"
    assert task.pending == 0


def test_an_interaction_on_its_deadline_still_waits(task):
    assert interact(task, 1, clicked(100.0), TOLD, 110.0) == ""


def test_an_interaction_after_the_click_deadline_of_its_impression_is_unmatched_at_once(task):
    hold(task, 1, 100.0)
    due(task, 110.5)
    assert interact(task, 1, clicked(105.0), TOLD, 110.5) == "unmatched"
    assert task.pending == 0


def test_those_that_wait_expire_when_their_time_has_passed_oldest_first(task):
    for ts in (103.0, 101.0, 102.0):
        interact(task, 1, clicked(ts), TOLD, FOREVER)
    assert expire(task, 111.0) == []
    assert expire(task, 112.5) == [clicked(101.0), clicked(102.0)]
    assert task.pending == 1


def test_what_found_its_impression_leaves_the_others_of_its_second_waiting(task):
    for ts in (95.0, 95.5, 115.0):
        interact(task, 1, clicked(ts), TOLD, FOREVER)
    hold(task, 1, 105.2)
    assert expire(task, 106.0) == [clicked(95.0)]
    assert expire(task, math.inf) == []
    assert task.pending == 2


# Bounds.


def test_the_oldest_impressions_are_evicted_first_and_decided_at_the_stages_they_had_left(task):
    for number, ts in ((1, 100.0), (2, 115.0), (3, 130.0), (4, 131.0)):
        hold(task, number, ts)
    due(task, 126.0)
    assert task.oldest(1) == [100.0]
    evicted = {number: found.ids.tolist() for number, found in task.evict(3)}
    assert evicted == {0: [3], 1: [3], 2: [2, 3], 3: [1, 2, 3]}
    assert task.open == 1
    assert admit(task, 4, 140.0, 140.0, late=False) == "duplicate"


def test_evicting_more_than_there_are_takes_all(task):
    hold(task, 1, 100.0)
    assert [number for number, _ in task.evict(5)] == [0, 1, 2, 3]
    assert list(task.evict(5)) == []
    assert task.oldest(1) == []


def test_what_was_evicted_is_never_due(task):
    hold(task, 1, 100.0)
    assert [number for number, _ in task.evict(1)] == [0, 1, 2, 3]
    assert due(task, math.inf) == {}


def test_the_oldest_of_those_that_wait_are_given_up_first(task):
    for ts in (103.0, 101.0, 102.0):
        interact(task, 1, clicked(ts), TOLD, FOREVER)
    assert evict_waiting(task, 2) == [clicked(101.0), clicked(102.0)]
    assert task.pending == 1


def test_an_interaction_that_found_its_impression_does_not_wait_any_more(task):
    interact(task, 1, clicked(103.0), TOLD, FOREVER)
    hold(task, 1, 100.0)
    assert evict_waiting(task, 1) == []
    assert task.pending == 1


# Ids that come again.


def test_an_id_means_the_second_impression_once_the_deadlines_of_the_first_have_passed(task):
    hold(task, 1, 100.0)
    interact(task, 1, clicked(103.0), TOLD, FOREVER)
    assert admit(task, 1, 205.0, 200.0, late=False) == "duplicate"
    # The first is still to be decided, with what was done with it.
    assert admit(task, 1, 205.0, 200.5, late=False) == ""
    task.hold(impressions((1, 205.0)))
    interact(task, 1, clicked(206.0), TOLD, FOREVER)
    assert joined(task, 1, 100.0) == [clicked(103.0)]
    assert joined(task, 1, 205.0) == [clicked(206.0)]


def test_an_impression_that_is_settled_does_not_take_the_id_from_the_second(task):
    hold(task, 1, 100.0)
    assert admit(task, 1, 205.0, 200.5, late=False) == ""
    task.hold(impressions((1, 205.0)))
    assert due(task, 204.0) == {0: [1], 1: [1], 2: [1], 3: [1]}
    assert task.open == 1
    assert admit(task, 1, 207.0, 204.0, late=False) == "duplicate"


def test_where_an_id_comes_to_mean_another_impression_those_before_are_admitted_first(task):
    hold(task, 1, 100.0)
    ids, ts, watermarks = [2, 1, 1, 3], [205.0, 206.0, 207.0, 208.0], [200.5] * 4
    nobody_late = np.zeros(4, dtype=bool)
    assert task.admit(ids, ts, watermarks, nobody_late) == (1, {})
    assert task.admit(ids[1:], ts[1:], watermarks[1:], nobody_late[1:]) == (3, {1: "duplicate"})


def test_one_of_many_that_come_together_is_late_and_the_others_are_admitted(task):
    interact(task, 2, clicked(103.0), TOLD, FOREVER)
    late = np.array([False, True, False])
    assert task.admit([1, 2, 3], [100.0] * 3, [FOREVER] * 3, late) == (3, {1: "late"})
    assert joined(task, 2, 100.0) == []


def test_of_two_interactions_that_come_together_and_are_one_the_second_is_a_duplicate(task):
    hold(task, 1, 100.0)
    same = {clicked(103.0): (1.0, math.nan), clicked(104.0): TOLD}
    done = side_by_side([1, 1], [same, {clicked(103.0): (2.0, math.nan)}])
    assert task.interact(done, np.full(3, FOREVER)) == {("click", "duplicate"): 1}
    assert task.interactions_of(impressions((1, 100.0))).told.tolist()[0] == 1.0


def test_an_interaction_that_has_its_fate_is_forgotten_and_may_come_again(task):
    hold(task, 1, 100.0)
    for _ in range(2):
        assert interact(task, 1, clicked(103.0), TOLD, FOREVER) == ""
        assert joined(task, 1, 100.0) == [clicked(103.0)]
    assert task.pending == 0


@pytest.mark.parametrize("holding", [1, 2])
def test_the_oldest_impressions_that_hold_interactions_are_evicted_for_them(task, holding):
    for number, ts in ((1, 100.0), (2, 101.0), (3, 102.0)):
        hold(task, number, ts)
    for number in (2, 3):
        interact(task, number, clicked(103.0), TOLD, FOREVER)
    evicted = {number: found.ids.tolist() for number, found in task.evict_holding(holding)}
    assert evicted == dict.fromkeys(range(4), [2, 3][:holding])
    assert task.open == 3 - holding


def test_only_the_impression_that_holds_interactions_is_evicted_for_them_not_another_of_its_id(task):
    hold(task, 1, 100.0)
    interact(task, 1, clicked(103.0), TOLD, FOREVER)
    assert admit(task, 1, 205.0, 200.5, late=False) == ""
    task.hold(impressions((1, 205.0)))
    hold(task, 2, 205.0)
    interact(task, 2, clicked(206.0), TOLD, FOREVER)
    evicted = {number: found.ts.tolist() for number, found in task.evict_holding(2)}
    assert evicted == {number: [100.0, 205.0] for number in range(4)}
    assert task.open == 1


def test_many_that_wait_in_one_second_are_given_up_in_their_order(task):
    for number in range(5):
        interact(task, number, clicked(100.0 + number / 10), TOLD, FOREVER)
    hold(task, 1, 100.0)
    assert [ts for *_, ts in evict_waiting(task, 3)] == [100.0, 100.2, 100.3]
    assert [ts for *_, ts in expire(task, math.inf)] == [100.4]


def test_many_that_wait_for_one_id_are_given_up_in_time_that_grows_with_their_number(task):
    numbers = range(20_000)
    known = [{clicked(100.0 + number / 7919 % 50): TOLD} for number in numbers]
    task.interact(side_by_side([1] * len(known), known), np.full(len(known), FOREVER))
    began = time.process_time()
    assert task.expire(math.inf).size == len(known)
    assert time.process_time() - began < 1.0


def test_what_waited_is_a_duplicate_when_it_comes_again_and_unmatched_after_its_time(task):
    interact(task, 1, clicked(103.0), TOLD, FOREVER)
    hold(task, 1, 100.0)
    assert interact(task, 1, clicked(103.0), TOLD, FOREVER) == "duplicate"
    due(task, 110.5)
    assert joined(task, 1, 100.0) == [clicked(103.0)]
    assert interact(task, 1, clicked(103.0), TOLD, 110.5) == "unmatched"

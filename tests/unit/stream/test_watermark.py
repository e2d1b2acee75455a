"""Event time: the slowest partition of a task decides, and time never goes back."""

import math

import numpy as np
import pytest

from monitor.stream.watermark import PartitionClock, Watermark, lowest

ONE, TWO = ("shown", 0), ("done", 0)


@pytest.fixture
def watermark():
    return Watermark(5.0, {ONE: PartitionClock(), TWO: PartitionClock()})


def test_it_is_minus_infinity_until_every_partition_has_brought_something(watermark):
    watermark.partitions[ONE].advance(np.array([100.0]))
    assert watermark.advance() == -math.inf
    watermark.partitions[TWO].advance(np.array([50.0]))
    assert watermark.advance() == 45.0


def test_a_task_without_partitions_has_no_time():
    assert Watermark(5.0).advance() == -math.inf


def test_it_is_the_least_of_the_partitions_less_the_lateness(watermark):
    watermark.partitions[ONE].advance(np.array([100.0]))
    watermark.partitions[TWO].advance(np.array([80.0]))
    assert watermark.advance() == watermark.value == 75.0


def test_an_older_record_does_not_move_a_partition_back():
    clock = PartitionClock()
    clock.advance(np.array([100.0]))
    clock.advance(np.array([90.0]))
    assert clock.reached == 100.0


def test_it_never_goes_back_when_a_partition_comes_that_is_behind(watermark):
    for clock in watermark.partitions.values():
        clock.advance(np.array([100.0]))
    assert watermark.advance() == 95.0
    watermark.partitions["late", 0] = PartitionClock()
    assert watermark.advance() == 95.0


def test_an_idle_partition_has_reached_the_clock():
    clock = PartitionClock()
    clock.advance(np.array([100.0]))
    clock.idle(160.0)
    assert clock.reached == 160.0


def test_a_clock_behind_the_records_does_not_move_an_idle_partition_back():
    clock = PartitionClock()
    clock.advance(np.array([100.0]))
    clock.idle(70.0)
    assert clock.reached == 100.0


def test_a_record_older_than_the_idle_time_does_not_move_the_partition_back():
    clock = PartitionClock()
    clock.idle(160.0)
    clock.advance(np.array([120.0]))
    assert clock.reached == 160.0


def test_what_the_other_partitions_have_reached_leaves_out_the_one_at_hand(watermark):
    watermark.partitions[ONE].advance(np.array([100.0]))
    watermark.partitions[TWO].advance(np.array([80.0]))
    assert watermark.reached_by_others(ONE) == 80.0
    assert watermark.reached_by_others(TWO) == 100.0


def test_a_partition_alone_is_held_back_by_nobody():
    assert Watermark(5.0, {ONE: PartitionClock()}).reached_by_others(ONE) == math.inf


def test_what_every_task_has_passed_is_the_lowest_watermark():
    assert lowest([Watermark(0.0, value=7.0), Watermark(0.0, value=3.0)]) == 3.0
    assert lowest([]) == -math.inf


def times(*values):
    return np.array(values, dtype=float)


def test_it_says_how_far_the_partition_had_come_before_each_record():
    clock = PartitionClock()
    clock.advance(times(10))
    assert clock.advance(times(5, 20, 15)).tolist() == [10, 10, 20]
    assert clock.reached == 20


def test_by_median_a_few_records_far_ahead_do_not_move_event_time():
    clock = PartitionClock()
    clock.advance(times(*range(31)), by_median=True)
    assert clock.reached == 15
    clock.advance(times(*[9e9] * 15), by_median=True)
    assert clock.reached == 30
    clock.advance(times(31, 32, 33), by_median=True)
    assert clock.reached == 33


def test_by_median_nothing_moves_before_most_of_the_recent_records_are_there():
    clock = PartitionClock()
    clock.advance(times(*[100] * 15), by_median=True)
    assert clock.reached == -math.inf
    clock.advance(times(100), by_median=True)
    assert clock.reached == 100


def test_by_median_it_does_not_matter_which_records_come_together():
    values = np.random.default_rng(7).normal(1000, 50, 200)
    whole, parts = PartitionClock(), PartitionClock()
    together = whole.advance(values, by_median=True)
    apart = [
        parts.advance(values[at : at + size], by_median=True) for at, size in [(0, 1), (1, 40), (41, 159)]
    ]
    assert np.concatenate(apart).tolist() == together.tolist()


def test_at_the_end_of_the_log_the_newest_record_counts_alone():
    clock = PartitionClock()
    clock.advance(times(10, 30, 20), by_median=True)
    assert clock.reached == -math.inf
    clock.reach_newest_record()
    assert clock.reached == 30


def test_event_time_does_not_pass_a_limit():
    clock = PartitionClock()
    assert clock.advance(times(10, 30, 20), limit=25).tolist() == [-math.inf, 10, 25]
    assert clock.reached == 25

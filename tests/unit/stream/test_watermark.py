"""Event time: the slowest partition of a task decides, and time never goes back."""

import math

import pytest

from monitor.stream.watermark import PartitionClock, Watermark, lowest

ONE, TWO = ("shown", 0), ("done", 0)


@pytest.fixture
def watermark():
    return Watermark(5.0, {ONE: PartitionClock(), TWO: PartitionClock()})


def test_it_is_minus_infinity_until_every_partition_has_brought_something(watermark):
    watermark.partitions[ONE].saw(100.0)
    assert watermark.advance() == -math.inf
    watermark.partitions[TWO].saw(50.0)
    assert watermark.advance() == 45.0


def test_a_task_without_partitions_has_no_time():
    assert Watermark(5.0).advance() == -math.inf


def test_it_is_the_least_of_the_partitions_less_the_lateness(watermark):
    watermark.partitions[ONE].saw(100.0)
    watermark.partitions[TWO].saw(80.0)
    assert watermark.advance() == watermark.value == 75.0


def test_an_older_record_does_not_move_a_partition_back():
    clock = PartitionClock()
    clock.saw(100.0)
    clock.saw(90.0)
    assert (clock.newest, clock.reached) == (100.0, 100.0)


def test_it_never_goes_back_when_a_partition_comes_that_is_behind(watermark):
    for clock in watermark.partitions.values():
        clock.saw(100.0)
    assert watermark.advance() == 95.0
    watermark.partitions["late", 0] = PartitionClock()
    assert watermark.advance() == 95.0


def test_an_idle_partition_has_reached_the_clock_but_brought_nothing_newer():
    clock = PartitionClock()
    clock.saw(100.0)
    clock.idle(160.0)
    assert (clock.newest, clock.reached) == (100.0, 160.0)


def test_a_clock_behind_the_records_does_not_move_an_idle_partition_back():
    clock = PartitionClock()
    clock.saw(100.0)
    clock.idle(70.0)
    assert clock.reached == 100.0


def test_a_record_older_than_the_idle_time_does_not_move_the_partition_back():
    clock = PartitionClock()
    clock.idle(160.0)
    clock.saw(120.0)
    assert (clock.newest, clock.reached) == (120.0, 160.0)


def test_what_the_other_partitions_have_reached_leaves_out_the_one_at_hand(watermark):
    watermark.partitions[ONE].saw(100.0)
    watermark.partitions[TWO].saw(80.0)
    assert watermark.reached_by_others(ONE) == 80.0
    assert watermark.reached_by_others(TWO) == 100.0


def test_a_partition_alone_is_held_back_by_nobody():
    assert Watermark(5.0, {ONE: PartitionClock()}).reached_by_others(ONE) == math.inf


def test_what_every_task_has_passed_is_the_lowest_watermark():
    assert lowest([Watermark(0.0, value=7.0), Watermark(0.0, value=3.0)]) == 3.0
    assert lowest([]) == -math.inf

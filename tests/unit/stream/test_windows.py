"""Tumbling windows: closed once, when every task has passed them, and never changed after."""

import numpy as np
import pytest

from monitor.stream.cells import Observer
from monitor.stream.plan import make_plan
from monitor.stream.windows import Windows
from tests.unit.stream.timeline import settings

STAGES = make_plan(settings()).stages
"""After 0, 10, 20 and 100 seconds."""
SHOWN, CLICKED = 0, 1


def windows_of(*sizes, kept=10):
    return Windows([float(size) for size in sizes or (60,)], STAGES, kept)


def cells(value=1.0, stage=SHOWN):
    columns = STAGES[stage].columns
    return Observer(columns).observe(np.array([0]), np.full((1, len(columns)), value))


def samples(windows):
    """Size and start of each window -> how many values it has."""
    return {(w.size, w.start): int(w.cells.counts[:, 0].sum()) for w in windows}


def test_a_window_closes_when_the_watermark_has_passed_its_end():
    windows = windows_of()
    windows.add(0, SHOWN, 0.0, cells())
    windows.close(60.0)
    assert windows.closed() == []
    windows.close(60.1)
    assert samples(windows.closed()) == {(60, 0): 1}


def test_it_closes_for_a_metric_only_after_the_metric_s_delay():
    windows = windows_of()
    windows.add(0, CLICKED, 0.0, cells(stage=CLICKED))
    windows.close(70.0)
    assert windows.closed() == []
    windows.close(70.1)
    assert [(w.stage.delay, w.start, w.end) for w in windows.closed()] == [(10, 0, 60)]


def test_a_slot_of_time_is_in_one_window_of_each_size():
    windows = windows_of(60, 180)
    assert windows.slot == 60
    for slot in (0.0, 60.0, 120.0, 180.0):
        windows.add(0, SHOWN, slot, cells())
    windows.close(1000.0)
    assert samples(windows.closed()) == {
        (60, 0): 1, (60, 60): 1, (60, 120): 1, (60, 180): 1, (180, 0): 3, (180, 180): 1,
    }  # fmt: skip


def test_a_closed_window_is_what_all_tasks_brought():
    windows = windows_of()
    windows.add(0, SHOWN, 0.0, cells(2.0))
    windows.add(1, SHOWN, 0.0, cells(3.0))
    windows.close(61.0)
    assert windows.closed()[0].cells.sums[0, 0] == 5.0


def test_a_window_never_changes_after_it_was_closed():
    windows = windows_of()
    windows.add(0, SHOWN, 0.0, cells(2.0))
    windows.close(61.0)
    windows.add(0, SHOWN, 0.0, cells(7.0))
    windows.close(200.0)
    assert [(w.start, w.cells.sums[0, 0]) for w in windows.closed()] == [(0.0, 2.0)]


def test_windows_that_had_closed_before_a_restart_stay_closed():
    windows = windows_of()
    windows.resume(130.0)
    for slot in (0.0, 60.0, 120.0):
        windows.add(0, SHOWN, slot, cells())
    windows.close(1000.0)
    assert samples(windows.closed()) == {(60, 120): 1}


def test_resuming_further_back_opens_nothing_again():
    windows = windows_of()
    windows.close(130.0)
    windows.resume(10.0)
    windows.add(0, SHOWN, 0.0, cells())
    windows.close(1000.0)
    assert windows.closed() == []


def test_a_window_that_began_before_the_reading_is_partial():
    windows = windows_of()
    windows.covered_from = 60.0
    for slot in (0.0, 60.0):
        windows.add(0, SHOWN, slot, cells())
    windows.close(1000.0)
    assert [(w.start, w.partial) for w in windows.closed()] == [(0.0, True), (60.0, False)]


def test_a_partial_window_is_not_exported():
    windows = windows_of()
    windows.covered_from = 1.0
    windows.add(0, SHOWN, 0.0, cells())
    windows.close(61.0)
    assert windows.newest() == []


def test_what_a_task_brought_before_it_left_is_not_in_the_window():
    windows = windows_of()
    windows.add(0, SHOWN, 0.0, cells(2.0))
    windows.add(1, SHOWN, 0.0, cells(3.0))
    windows.forget(1)
    windows.close(61.0)
    assert windows.closed()[0].cells.sums[0, 0] == 2.0


def test_a_window_from_which_every_task_has_left_is_no_window():
    windows = windows_of()
    windows.add(1, SHOWN, 0.0, cells())
    windows.forget(1)
    windows.close(61.0)
    assert windows.closed() == []


@pytest.mark.parametrize("watermark", [60.1, 90.0, 120.0])
def test_the_newest_window_is_exported_until_the_next_one_closes(watermark):
    windows = windows_of()
    windows.add(0, SHOWN, 0.0, cells())
    windows.close(watermark)
    assert samples(windows.newest()) == {(60, 0): 1}


def test_nothing_is_exported_while_the_newest_closed_window_is_empty():
    windows = windows_of()
    windows.add(0, SHOWN, 0.0, cells())
    windows.close(120.1)
    assert windows.newest() == []
    assert samples(windows.closed()) == {(60, 0): 1}


def test_the_newest_of_each_size_and_delay_is_exported():
    windows = windows_of(60, 120)
    for stage in (SHOWN, CLICKED):
        for slot in (0.0, 60.0):
            windows.add(0, stage, slot, cells(stage=stage))
    windows.close(125.0)
    found = {(w.size, w.stage.delay): w.start for w in windows.newest()}
    assert found == {(60, 0): 60.0, (60, 10): 0.0, (120, 0): 0.0}


def test_at_the_end_of_a_file_the_last_windows_are_the_newest():
    windows = windows_of()
    windows.add(0, SHOWN, 0.0, cells())
    windows.close(float("inf"))
    assert samples(windows.newest()) == {(60, 0): 1}


def test_only_so_many_closed_windows_are_kept_of_each_size():
    windows = windows_of(60, 120, kept=2)
    for slot in range(0, 600, 60):
        windows.add(0, SHOWN, float(slot), cells())
    windows.close(1000.0)
    assert list(samples(windows.closed())) == [(60, 480), (60, 540), (120, 360), (120, 480)]


def test_without_any_size_there_are_no_windows():
    windows = Windows([], STAGES, 10)
    windows.add(0, SHOWN, 0.0, cells())
    windows.close(1e9)
    assert windows.closed() == windows.newest() == []
    assert windows.slot > 0


@pytest.mark.parametrize("sizes", [(0.1, 0.3), (0.3, 0.7), (0.1, 0.7)])
def test_nothing_is_lost_where_sizes_are_rounded(sizes):
    windows = windows_of(*sizes, kept=100_000)
    for step in range(3_000):
        ts = 1_767_225_600.0 + step / 10
        [slot] = windows.slots(np.array([ts])).tolist()
        windows.add(0, SHOWN, slot, cells())
        windows.close(ts)
    windows.close(2e9)
    found = samples(windows.closed())
    assert [sum(n for (size, _), n in found.items() if size == each) for each in sizes] == [3_000, 3_000]


def test_windows_that_were_closed_elsewhere_are_not_shown_with_what_is_here():
    windows = windows_of(60, 180)
    windows.add(0, SHOWN, 0.0, cells())
    windows.add(0, SHOWN, 60.0, cells())
    windows.close(60.5)
    windows.resume(185.0)
    windows.close(500.0)
    assert samples(windows.closed()) == {(60, 0): 1}

"""The newest windows on a terminal."""

import pytest
from rich.console import Console

from monitor.cli.live import HISTORY, event_time, live_table, means, sparkline
from tests.unit.stream.timeline import HOUR, Timeline, impression, tick


@pytest.fixture
def line():
    """Three windows: one result on average, then two, then nothing, then three for another variant."""
    found = Timeline(labels=["variant"])
    found.bring(
        impression("i", 0, "a", labels={"variant": "x"}),
        impression("j", 60, "ab", labels={"variant": "x"}),
        impression("k", 180, [], labels={"variant": "y"}),
        tick(241),
    )
    return found


def printed(table):
    console = Console(width=120, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    console.print(table)
    console.file.close()
    return [line.split() for line in console.export_text().splitlines() if line.strip()]


@pytest.mark.parametrize(
    ("values", "line"),
    [([], ""), ([0.0, 0.5, 1.0], "▁▅█"), ([0.124, 0.125, 0.999], "▁▂█"), ([1.0], "█")],
)
def test_a_line_of_blocks_rises_with_the_values(values, line):
    assert sparkline(values) == line


def test_means_are_those_of_one_measure_and_label_set_oldest_first(line):
    windows = [w for w in line.engine.windows() if w.stage.delay == 0]
    assert [(w.start - HOUR, mean, n) for w, mean, n in means(windows, "results", 0)] == [
        (0, 1.0, 1),
        (60, 2.0, 1),
    ]
    assert [(w.start - HOUR, mean, n) for w, mean, n in means(windows, "results", 1)] == [(180, 0.0, 1)]


def test_a_label_set_that_a_window_does_not_know_has_no_mean_there(line):
    assert means(line.engine.windows()[:1], "results", 7) == []


def test_the_table_has_a_row_for_each_measure_and_label_set_that_has_anything(line):
    rows = printed(live_table(line.engine.windows(), line.engine.labels, ["empty"], 60.0, [0.0]))
    assert rows[0] == ["metric", "variant", "newest", "samples", "last", str(HISTORY), "windows"]
    assert rows[2:] == [["empty", "x", "0.000", "1", "▁▁"], ["empty", "y", "1.000", "1", "█"]]


def test_windows_of_another_size_or_delay_are_left_out(line):
    assert printed(live_table(line.engine.windows(), line.engine.labels, ["empty"], 300.0, [0.0]))[2:] == []
    assert printed(live_table(line.engine.windows(), line.engine.labels, ["empty"], 60.0, [10.0]))[2:] == []


def test_event_time_is_the_end_of_the_newest_window(line):
    assert event_time(line.engine.windows()) == "2026-01-01 00:04:00 UTC"
    assert event_time([]) == "-"

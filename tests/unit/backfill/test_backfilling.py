"""A backfill of parts that are counted at the same time is that of the whole."""

import asyncio
import json
import math
from collections import defaultdict
from dataclasses import replace

import pytest

from monitor.backfill import counting
from monitor.backfill.backfilling import Backfill
from monitor.backfill.blocks import BlockError
from monitor.backfill.counting import TimePart, split
from monitor.backfill.grid import Grid
from monitor.sources.base import SourceError
from tests.unit.stream.timeline import HOUR, click, impression, judgment, settings

CONFIG = settings(labels=["variant"], lateness_seconds=30)
SECONDS = 7200


def traffic():
    """Two hours; variant b is there in the first and the last quarter only, c in the third."""
    for i in range(0, SECONDS, 20):
        quarter = 4 * i // SECONDS
        variant = "abc"[(i // 20) % 2 * {0: 1, 1: 0, 2: 2, 3: 1}[quarter]]
        shown = impression(
            f"i{i}", i, query=f"q{i % 7}", labels={"variant": variant}, latency_seconds=i / 7e4
        )
        yield from (shown, click(f"i{i}", i + 3), judgment("a", i + 4, i % 3, query=f"q{i % 5}"))
        yield impression(f"late{i}", i - 20 - i % 30)
    yield b"no event"


@pytest.fixture
def whole(tmp_path):
    path = tmp_path / "events.jsonl"
    lines = [event if isinstance(event, bytes) else json.dumps(event).encode() for event in traffic()]
    path.write_bytes(b"\n".join(lines))
    grid = Grid.ending(HOUR + 10_000, 60)
    return TimePart([path], CONFIG, grid, -math.inf, {"job": "search"}, read_until=grid.until)


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs a backfill and gives its spans; there is a promtool that makes nothing."""
    monkeypatch.setattr(counting, "SHORTEST_PART_SECONDS", 600)
    promtool, output = tmp_path / "promtool", tmp_path / "blocks"
    promtool.write_text("#!/bin/sh\n")
    promtool.chmod(0o755)
    output.mkdir()

    def backfill(part, processes):
        spans = []
        writing = Backfill(
            *(part, output, str(promtool)),
            processes=processes,
            more_series=lambda span: spans.append(span) or (),
        )
        written = asyncio.run(writing.run())
        assert list(output.iterdir()) == []
        return written, spans

    return backfill


def series_of(spans):
    """Times and values by name and labels."""
    found = defaultdict(lambda: ([], []))
    for span in spans:
        for series in span.series:
            times, values = found[series.name, *sorted(series.labels.items())]
            times += series.times.tolist()
            values += series.values.tolist()
    return found


@pytest.mark.parametrize("since", [-math.inf, HOUR + 1000.0])
def test_parts_counted_at_the_same_time_add_up_to_the_whole(whole, run, since):
    part = replace(whole, since=since)
    one, alone = run(part, 1)
    several, together = run(part, 3)
    assert several == one
    assert (one.rejected, one.late > 0, one.records > 1000) == (1, True, True)
    wanted, found = series_of(alone), series_of(together)
    assert found.keys() == wanted.keys()
    for series, (times, values) in wanted.items():
        assert found[series][0] == times, series
        assert found[series][1] == pytest.approx(values, rel=1e-9), series


def test_a_time_is_divided_where_it_is_long_enough_and_parts_follow_each_other(whole, monkeypatch):
    monkeypatch.setattr(counting, "SHORTEST_PART_SECONDS", 3000)
    assert split(whole, HOUR + 8000, 4) == [whole]
    first, second, third = split(whole, HOUR, 4)
    assert (first.since, third.grid.until) == (whole.since, whole.grid.until)
    assert (second.since, third.since) == (first.grid.until, second.grid.until)
    assert [part.goes_on for part in (first, second, third)] == [True, True, False]
    assert second.since % 60 == 0


def test_a_mistake_in_a_process_of_its_own_is_told_as_one(whole, run, tmp_path):
    damaged = tmp_path / "damaged.gz"
    damaged.write_bytes(b"\x1f\x8b damaged")
    with pytest.raises(SourceError, match="is damaged after line"):
        run(replace(whole, events=[damaged, *whole.events]), 2)


def test_a_process_stops_when_nobody_wants_the_rest(whole, tmp_path, monkeypatch):
    shared = [0, 0, 1]
    monkeypatch.setattr(counting, "_bytes_read", shared)
    with pytest.raises(counting.StoppedError):
        counting.count_into(tmp_path / "part", whole, 1)
    assert shared[1] > 0
    assert list(counting.counted_rows(tmp_path / "part")) == []


def test_an_overlap_is_refused_before_anything_is_counted(whole, run, tmp_path, monkeypatch):
    block = tmp_path / "blocks" / "01M7KJEYFMA9B1CDYS3FH6NP0Y"
    block.mkdir()
    (block / "meta.json").write_text(json.dumps({"minTime": HOUR * 1000, "maxTime": HOUR * 1000 + 1}))
    monkeypatch.setattr("monitor.backfill.backfilling.ProcessPoolExecutor", None)
    with pytest.raises(BlockError, match="overlaps"):
        run(whole, 2)

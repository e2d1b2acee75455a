"""Files of events: one stream in the order of event time, up to the time at which a backfill ends."""

import gzip
import json
from math import isnan

import pytest

from monitor.backfill.event_files import batches
from monitor.sources import jsonl
from monitor.sources.base import SourceError
from tests.unit.stream.timeline import HOUR, click, impression, judgment


@pytest.fixture
def written(tmp_path):
    def write(name, *events):
        path = tmp_path / name
        lines = [event if isinstance(event, bytes) else json.dumps(event).encode() for event in events]
        packed = gzip.compress if name.endswith(".gz") else bytes
        path.write_bytes(packed(b"\n".join(lines) + b"\n"))
        return path

    return write


async def read(*paths, until=1000.0):
    return [
        (line.value, line.offset, ts - HOUR)
        async for batch in batches(paths, HOUR + until)
        for line, ts in zip(batch.lines, batch.ts.tolist(), strict=True)
    ]


async def times(*paths, until=1000.0):
    return [ts for _, _, ts in await read(*paths, until=until)]


async def test_the_lines_of_one_file_come_as_they_are(written):
    path = written("a", impression("i", 5), impression("j", 3), impression("k", 9))
    assert await times(path) == [5, 3, 9]


@pytest.mark.parametrize("lines_a_poll", [1, 2, 3, 1000])
async def test_several_files_are_merged_by_event_time_whatever_is_read_at_once(
    written, monkeypatch, lines_a_poll
):
    monkeypatch.setattr(jsonl, "LINES_A_POLL", lines_a_poll)
    shown = written("a", *(impression(f"i{at}", at) for at in range(0, 40, 3)))
    done = written("b.gz", *(click(f"i{at}", at + 1) for at in range(0, 40, 3)))
    found = await read(shown, done)
    assert [ts for _, _, ts in found] == sorted([*range(0, 40, 3), *range(1, 41, 3)])
    assert [offset for _, offset, _ in found] == list(range(28))


async def test_a_file_of_a_day_follows_that_of_the_day_before_in_any_order_of_names(written):
    monday = written("monday", impression("i", 1), impression("j", 2))
    tuesday = written("tuesday", impression("k", 501), impression("l", 502))
    assert await times(tuesday, monday) == [1, 2, 501, 502]


async def test_an_event_that_is_out_of_order_in_its_file_stays_so(written):
    one = written("a", impression("i", 10), impression("old", 2), impression("j", 30))
    other = written("b", click("i", 5), click("i", 20))
    assert await times(one, other) == [5, 10, 2, 20, 30]


async def test_what_is_after_the_end_is_left_out_and_what_has_no_time_is_not(written):
    path = written("a", impression("i", 1), impression("ahead", 1001), b"no event", impression("j", 1000))
    assert [value[:8] for value, _, ts in await read(path) if isnan(ts)] == [b"no event"]
    assert [ts for ts in await times(path) if not isnan(ts)] == [1, 1000]


async def test_a_file_is_read_no_further_when_a_whole_poll_is_after_the_end(written, monkeypatch):
    monkeypatch.setattr(jsonl, "LINES_A_POLL", 2)
    path = written("a", *(impression(f"i{at}", at) for at in (1, 2, 1001, 1002, 3)))
    assert await times(path) == [1, 2]


async def test_long_before_the_samples_begin_only_judgments_are_read(written):
    path = written("a", impression("i", 1), judgment("a", 2, 1), click("i", 3), impression("j", 4))
    found = [b async for b in batches([path], HOUR + 1000, judgments_before=HOUR + 4)]
    assert [ts - HOUR for batch in found for ts in batch.ts.tolist()] == [2, 4]


async def test_progress_is_the_bytes_of_all_files(written):
    paths = [written("a", impression("i", 1)), written("b", impression("j", 2))]
    told = []
    async for _ in batches(paths, HOUR + 1000, told.append):
        pass
    assert told[-1] == sum(path.stat().st_size for path in paths)


async def test_a_file_that_is_not_there_is_a_mistake_of_the_user(written, tmp_path):
    with pytest.raises(SourceError, match=r'cannot read "[^"]*none": No such file or directory'):
        await read(written("a", impression("i", 1)), tmp_path / "none")

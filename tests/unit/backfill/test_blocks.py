"""Blocks: which a folder has, and what becomes of a promtool that fails."""

import errno
import json

import numpy as np
import pytest

from monitor.backfill.backfilling import refuse_overlap
from monitor.backfill.blocks import BlockError, block_writer, existing_blocks
from monitor.backfill.sampling import SampledSeries

ULID = "01M7KJEYFMA9B1CDYS3FH6NP0Y"
FIRST, LAST = 1_767_225_600, 1_767_229_200
SERIES = [SampledSeries("a", {}, np.array([1_700_000_000]), np.array([1.0]))]


def make_block(folder, name=ULID, begin=FIRST * 1000, end=LAST * 1000):
    path = folder / name
    path.mkdir(parents=True)
    (path / "meta.json").write_text(json.dumps({"ulid": name, "minTime": begin, "maxTime": end}))
    return path


def script(folder, text):
    path = folder / "promtool"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("begin", "end", "overlaps"),
    [
        (-100, -1, False),
        (-100, 0, False),  # the end is not part of a block
        (-100, 0.001, True),
        (10, 20, True),
        (3600, 4000, True),
        (3600.001, 4000, False),
    ],
)
def test_a_block_overlaps_if_it_can_have_a_sample_of_the_time(tmp_path, begin, end, overlaps):
    make_block(tmp_path, begin=round((FIRST + begin) * 1000), end=round((FIRST + end) * 1000))
    if overlaps:
        with pytest.raises(BlockError, match=ULID):
            refuse_overlap(tmp_path, FIRST, LAST)
    else:
        refuse_overlap(tmp_path, FIRST, LAST)


def test_the_refusal_says_what_the_block_covers_and_what_to_do(tmp_path):
    path = make_block(tmp_path)
    with pytest.raises(BlockError) as refused:
        refuse_overlap(tmp_path, FIRST + 60, LAST + 60)
    assert str(refused.value) == (
        f'"{path}" covers 2026-01-01T00:00:00Z to 2026-01-01T01:00:00Z, which overlaps 2026-01-01T00:01:00Z'
        " to 2026-01-01T01:01:00Z; give another --output, or --since and --until that leave it out"
    )


def test_other_folders_of_prometheus_are_no_blocks(tmp_path):
    make_block(tmp_path, name=f"{ULID}.tmp-for-deletion")
    (tmp_path / "wal").mkdir()
    assert list(existing_blocks(tmp_path)) == []


@pytest.mark.parametrize("text", ["", "[]", '{"minTime": 1}', '{"minTime": null, "maxTime": 2}'])
def test_a_block_that_does_not_say_what_it_covers_is_named(tmp_path, text):
    meta = make_block(tmp_path) / "meta.json"
    meta.write_text(text)
    with pytest.raises(BlockError, match=f'cannot read "{meta}": it is not the meta.json of a block'):
        list(existing_blocks(tmp_path))


def test_blocks_are_moved_when_they_are_complete_and_nothing_else_is_left(tmp_path):
    output = tmp_path / "output"
    output.mkdir()
    making = f'shift 5; mkdir -p "$2/{ULID}"; echo \'{{"minTime": 1, "maxTime": 2}}\' > "$2/{ULID}/meta.json"'
    with block_writer(script(tmp_path, making), output) as writer:
        writer.write(SERIES)
        writer.wait()
        assert not (output / ULID).exists()
        assert writer.move_to(output) == 1
    assert [path.name for path in output.iterdir()] == [ULID]


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("echo trying >&2; echo disk full >&2; exit 1", "disk full"),
        ("exit 3", "exit code 3"),
    ],
)
def test_what_promtool_says_last_is_told_and_nothing_is_left(tmp_path, does, said):
    output = tmp_path / "output"
    output.mkdir()
    promtool = script(tmp_path, does)
    with block_writer(promtool, output) as writer:
        writer.write(SERIES)
        with pytest.raises(BlockError, match=f"{promtool} made no block: {said}"):
            writer.move_to(output)
    assert list(output.iterdir()) == []


def test_a_disk_that_takes_no_more_is_told_in_one_line(tmp_path, monkeypatch):
    def full(series, file):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("monitor.backfill.blocks.write_openmetrics", full)
    refused = pytest.raises(BlockError, match=r'cannot write ".*span\.om": No space left on device')
    with block_writer("promtool", tmp_path) as writer, refused:
        writer.write(SERIES)
    assert list(tmp_path.iterdir()) == []


def test_a_promtool_that_is_still_running_at_the_end_is_ended(tmp_path):
    output = tmp_path / "output"
    output.mkdir()
    with block_writer(script(tmp_path, "exec sleep 60"), output) as writer:
        writer.write(SERIES)
        process = writer._running
    assert process.returncode is not None
    assert list(output.iterdir()) == []

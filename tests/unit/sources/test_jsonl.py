"""A file as a source: plain, gzip or standard input, and what is wrong with it in one line."""

import codecs
import gzip
import io
import json
import sys
import tracemalloc
import types
from pathlib import Path

import pytest

from monitor.events import MAX_RECORD_BYTES, Reason, Rejected, decode
from monitor.sources.base import Source, SourceError, SourceStatus
from monitor.sources.jsonl import LINES_A_POLL, JsonlSource
from monitor.stream.records import Role, Start

CLICK = b'{"type": "click", "impression_id": "i", "ts": 5, "key": "a"}'


async def read(source: Source):
    """Every poll to the end."""
    await source.start()
    polls = []
    try:
        while not polls or not polls[-1].finished:
            polls.append(await source.poll())
    finally:
        await source.stop()
    return polls


async def values(source):
    return [line.value for poll in await read(source) for chunk in poll.chunks for line in chunk.records]


@pytest.fixture
def file(tmp_path):
    def write(content, name="events.jsonl"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


@pytest.fixture
def stdin(monkeypatch):
    def put(content):
        buffer = io.BufferedReader(io.BytesIO(content))
        monkeypatch.setattr(sys, "stdin", types.SimpleNamespace(buffer=buffer))

    return put


async def test_every_line_is_a_record_with_its_number_as_offset(file):
    (poll, end) = await read(JsonlSource(file(b"one\ntwo\nthree"), clock=lambda: 77.0))
    assert [(chunk.topic, chunk.partition) for chunk in poll.chunks] == [("events.jsonl", 0)]
    assert [(line.offset, line.value) for line in poll.chunks[0].records] == [
        (0, b"one"),
        (1, b"two"),
        (2, b"three"),
    ]
    assert poll.now == end.now == 77.0


@pytest.mark.parametrize("packed", [False, True])
async def test_the_mark_that_some_editors_put_first_is_no_part_of_the_first_record(file, packed):
    content = codecs.BOM_UTF8 + CLICK + b"\n" + CLICK
    assert await values(JsonlSource(file(gzip.compress(content) if packed else content))) == [CLICK, CLICK]


async def test_a_file_of_nothing_but_the_mark_has_no_records(file):
    assert await values(JsonlSource(file(codecs.BOM_UTF8))) == []
    assert await values(JsonlSource(file(codecs.BOM_UTF8 + b"\n" + CLICK))) == [CLICK]


async def test_a_line_has_no_key_and_no_time_of_its_own(file):
    (poll, _) = await read(JsonlSource(file(CLICK)))
    assert [(line.key, line.timestamp) for line in poll.chunks[0].records] == [(None, 0)]


async def test_the_first_poll_assigns_the_whole_file_and_no_later_one_does(file):
    source = JsonlSource(file(CLICK))
    assert source.roles == {"events.jsonl": Role.EVENTS}
    (first, second) = await read(source)
    assert first.assigned == {("events.jsonl", 0): Start(0, "", fresh=True, from_beginning=True)}
    assert second.assigned is None


async def test_only_the_poll_after_the_last_line_is_the_end(file):
    polls = await read(JsonlSource(file(CLICK)))
    assert [poll.finished for poll in polls] == [False, True]
    assert polls[-1].chunks == []


async def test_an_empty_file_ends_at_once_and_is_assigned_all_the_same(file):
    (poll,) = await read(JsonlSource(file(b"")))
    assert poll.finished
    assert poll.assigned


@pytest.mark.parametrize("content", [b"\n\none\n \t\n\r\ntwo\n\n", b"one\r\ntwo\r\n", b"  one \ntwo"])
async def test_empty_lines_and_space_around_a_line_are_nothing(file, content):
    assert await values(JsonlSource(file(content))) == [b"one", b"two"]


async def test_a_long_stretch_of_empty_lines_is_not_the_end(file):
    assert await values(JsonlSource(file(b"\n" * 100_000 + b"one"))) == [b"one"]


async def test_a_long_file_comes_in_polls_of_bounded_length(file):
    polls = await read(JsonlSource(file(b"line\n" * (LINES_A_POLL + 1))))
    assert [len(chunk.records) for poll in polls for chunk in poll.chunks] == [LINES_A_POLL, 1]
    assert polls[1].chunks[0].records[0].offset == LINES_A_POLL


async def test_a_gzip_file_is_recognised_by_its_content(file):
    path = file(gzip.compress(b"one\ntwo\n"), name="events.jsonl")
    assert await values(JsonlSource(path)) == [b"one", b"two"]


async def test_standard_input_is_read_like_a_file(stdin):
    stdin(b"one\ntwo\n")
    source = JsonlSource(Path("-"))
    assert source.roles == {"stdin": Role.EVENTS}
    assert await values(source) == [b"one", b"two"]


async def test_standard_input_may_be_gzip(stdin):
    stdin(gzip.compress(b"one\ntwo\n"))
    assert await values(JsonlSource(Path("-"))) == [b"one", b"two"]


async def test_progress_is_told_in_bytes_of_the_file(file):
    told = []
    path = file(gzip.compress(CLICK * 1000))
    await read(JsonlSource(path, progress=told.append))
    assert told[-1] == path.stat().st_size


async def test_a_file_commits_nothing_and_is_always_ready(file):
    source = JsonlSource(file(CLICK))
    assert await source.commit({("events.jsonl", 0): (1, "")})
    assert source.status() == SourceStatus(ready=True)


# Long lines.


def padded(size):
    """A click of so many bytes."""
    return CLICK[:-1] + b" " * (size - len(CLICK)) + b"}"


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
async def test_a_line_of_exactly_the_size_limit_is_taken(file, end):
    (value,) = await values(JsonlSource(file(padded(MAX_RECORD_BYTES) + end)))
    assert not isinstance(decode(value, 1000.0), Rejected)


@pytest.mark.parametrize("over", [1, 2, 3, MAX_RECORD_BYTES, 3 * MAX_RECORD_BYTES])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
async def test_a_line_over_the_size_limit_is_rejected_and_the_next_one_is_read(file, over, end):
    found = await values(JsonlSource(file(padded(MAX_RECORD_BYTES + over) + end + (end and CLICK))))
    assert decode(found[0], 1000.0) == Rejected(Reason.TOO_LARGE)
    assert found[1:] == ([CLICK] if end else [])


@pytest.mark.parametrize(
    "line", [CLICK + b" " * 2 * MAX_RECORD_BYTES + b"more", b" " * 2 * MAX_RECORD_BYTES + CLICK]
)
async def test_a_line_over_the_size_limit_is_not_saved_by_the_space_in_it(file, line):
    (value,) = await values(JsonlSource(file(line)))
    assert decode(value, 1000.0) == Rejected(Reason.TOO_LARGE)


async def test_a_line_without_end_takes_no_more_memory_than_the_size_limit(tmp_path):
    path = tmp_path / "bomb.jsonl"
    with gzip.open(path, "wb", compresslevel=1) as bomb:
        for _ in range(40):
            bomb.write(b"x" * MAX_RECORD_BYTES)
    source = JsonlSource(path)
    await source.start()
    tracemalloc.start()
    try:
        poll = await source.poll()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        await source.stop()
    assert len(poll.chunks[0].records[0].value) <= MAX_RECORD_BYTES + 2
    assert peak < 8 * MAX_RECORD_BYTES


async def test_many_lines_of_the_size_limit_come_in_several_polls(file):
    line = padded(MAX_RECORD_BYTES) + b"\n"
    polls = await read(JsonlSource(file(line * 40)))
    sizes = [len(chunk.records) for poll in polls for chunk in poll.chunks]
    assert sum(sizes) == 40
    assert max(sizes) <= 16


# What is wrong with a file.


async def test_a_missing_file_gets_one_line(tmp_path):
    with pytest.raises(SourceError) as refused:
        await JsonlSource(tmp_path / "none.jsonl").start()
    assert str(refused.value) == f'cannot read "{tmp_path / "none.jsonl"}": No such file or directory'


async def test_a_folder_gets_one_line(tmp_path):
    with pytest.raises(SourceError) as refused:
        await JsonlSource(tmp_path).start()
    assert str(refused.value) == f'cannot read "{tmp_path}": Is a directory'


def broken(how):
    lines = "".join(json.dumps({"n": i, "x": i * 2654435761 % 2**32}) + "\n" for i in range(2000)).encode()
    packed = bytearray(gzip.compress(lines))
    if how == "cut off":
        return bytes(packed[: len(packed) // 2])
    if how == "damaged within":
        packed[len(packed) // 2 : len(packed) // 2 + 40] = b"\xff" * 40
    if how == "wrong checksum":
        packed[-8] ^= 1
    if how == "rubbish behind":
        packed += b"rubbish"
    return bytes(packed)


@pytest.mark.parametrize("how", ["cut off", "damaged within", "wrong checksum", "rubbish behind"])
async def test_a_damaged_gzip_file_gets_one_line_that_says_where(file, how):
    path = file(broken(how))
    with pytest.raises(SourceError) as refused:
        await read(JsonlSource(path))
    message = str(refused.value)
    assert message.startswith(f'"{path}" is damaged after line ')
    assert "\n" not in message

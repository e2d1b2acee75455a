"""Files: plain or gzip, in blocks of whole lines, with the number of every line."""

import gzip
import io
import json

import pytest

from monitor.evaluation.files import inputs
from monitor.evaluation.files.inputs import InputError, blocks, first_byte, lines, opened
from monitor.evaluation.files.json_stream import holds_records, members
from monitor.evaluation.files.trec import QRELS, RUN, read_lines


@pytest.fixture(params=[1, 7, 1 << 16])
def block_bytes(request, monkeypatch):
    monkeypatch.setattr(inputs, "BLOCK_BYTES", request.param)
    monkeypatch.setattr("monitor.evaluation.files.json_stream.BLOCK_BYTES", request.param)


def test_blocks_are_whole_lines_and_together_the_file(block_bytes):
    content = b"one\n\nthree, which is longer\nfour"
    found = list(blocks(io.BytesIO(content)))
    assert b"".join(block for _, block in found) == content + b"\n"
    number = 1
    for first, block in found:
        assert first == number
        assert block.endswith(b"\n")
        number += block.count(b"\n")


def test_lines_have_their_numbers_and_empty_ones_are_left_out(block_bytes):
    assert list(lines(io.BytesIO(b"\none\n \ntwo\r\n"))) == [(2, b"one"), (4, b"two\r")]


def test_progress_tells_how_much_of_a_compressed_file_was_read(tmp_path):
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress("".join(f"line {i * 7919 % 10007}\n" for i in range(50_000)).encode()))
    told = []
    with opened(path) as file:
        list(blocks(file, told.append))
    assert told == sorted(told)
    assert 0 < told[0] < told[-1] <= path.stat().st_size


@pytest.mark.parametrize("name", ["file.gz", "file.txt"])
def test_gzip_is_known_by_its_content_too(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(b"content\n"))
    with opened(path) as file:
        assert file.read() == b"content\n"


def test_the_first_byte_leaves_the_file_where_it_was():
    file = io.BytesIO(b"\xef\xbb\xbf \n{}")
    assert (first_byte(file), file.tell()) == (b"{", 0)
    assert first_byte(io.BytesIO(b" \n")) == b""


TREC = "q1 Q0 d1 1 0.5 tag\nq1\tQ0  d2\t2 0.4 tag\r\n  q2 Q0 d1 1 0.5 tag  \n"


@pytest.mark.parametrize("text", [TREC, TREC.replace("\n", "\n\n"), "\n" + TREC, TREC.rstrip()])
def test_fields_are_told_apart_by_any_ascii_white_space(block_bytes, tmp_path, text):
    found = [
        (query, key)
        for some in read_lines(tmp_path, io.BytesIO(text.encode()), RUN)
        for query, key in zip(some.column(0), some.column(2), strict=True)
    ]
    assert found == [("q1", "d1"), ("q1", "d2"), ("q2", "d1")]


@pytest.mark.parametrize("key", ["d\xa01", "d\x851", "d\u20031", "d\x1f1", "d\x00", "\x00", "日本"])
def test_other_white_space_belongs_to_a_field(tmp_path, key):
    (found,) = read_lines(tmp_path, io.BytesIO(f"q1 0 {key} 1\nq1 0 d2 1\n".encode()), QRELS)
    assert found.column(2) == [key, "d2"]


@pytest.mark.parametrize(
    ("text", "line", "count"),
    [
        ("q1 Q0 d1 1 0.5\nq1 Q0 d2 2 0.4 tag more\n", 1, 5),
        ("q1 Q0 d1 1 0.5 tag more\nq1 Q0 d2 2 0.4\n", 1, 7),
        (TREC + "one\n" + TREC, 4, 1),
        (TREC * 5000 + "q1 Q0 d1 1 0.5 tag q2 Q0 d1 1 0.5 tag\n", 15_001, 12),
        ("q1 Q0 d1 1 0.5 \0\nq1 Q0 d1 1 0.5\n", 2, 5),
    ],
)
def test_a_line_with_another_number_of_fields_is_named(tmp_path, text, line, count):
    with pytest.raises(InputError) as error:
        list(read_lines(tmp_path / "run", io.BytesIO(text.encode()), RUN))
    said = f"read as a TREC run: {count} fields; a line is `query Q0 document rank score tag`"
    assert str(error.value) == f"{tmp_path / 'run'}:{line}: {said}"


def streamed(tmp_path, text):
    return list(members(tmp_path / "file", io.BytesIO(text.encode())))


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("whole", [{}, {"q1": ["d1", "d2"], "q\n2": {"é]}": -1.5e3}}, [], [{"a": 1}, [2]]])
def test_members_come_as_a_parser_of_the_whole_gives_them(block_bytes, tmp_path, whole, indent):
    expected = list(whole.items()) if isinstance(whole, dict) else list(enumerate(whole, start=1))
    text = "\ufeff \n" + json.dumps(whole, indent=indent, ensure_ascii=False) + "\n "
    assert streamed(tmp_path, text) == expected


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('{"q1": []', 1, "it ends too early"),
        ('{"q1": [],\n"q2": [}', 2, "Expecting value"),
        ('{"q1": []\n"q2": []}', 2, "Expecting ',' delimiter"),
        ('{"q1"\n: [],\n\n"q2" []}', 4, "Expecting ':' delimiter"),
        ('{"q1": [], 2: []}', 1, "Expecting a name in double quotes"),
        ('{"q1": [],}', 1, "Expecting value"),
        ('{"q1": []}\n{"q2": []}', 2, "there is more behind its end"),
        ('{"q1": ["d1]}', 1, "Unterminated string starting at"),
        ('{"q1": ' + "[" * 100_000, 1, "nested too deep"),
    ],
)
def test_malformed_json_is_named_by_its_line(block_bytes, tmp_path, text, line, message):
    with pytest.raises(InputError) as error:
        streamed(tmp_path, text)
    assert str(error.value) == f"{tmp_path / 'file'}:{line}: read as JSON: {message}"


def test_json_that_is_not_utf_8_is_named_by_its_line(tmp_path):
    with pytest.raises(InputError, match="file:1: read as JSON: not UTF-8"):
        list(members(tmp_path / "file", io.BytesIO(b'{"q\xff": []}')))


@pytest.mark.parametrize(
    ("text", "records"),
    [
        ('{"query_id": "q1", "ranked": []}', True),
        ('{"ranked": ["d1"], "query_id": 5}\n', True),
        ('{"type": "click"}', True),
        ('{"query_id": "q1", "ranked": [}', True),
        ('{"query_id": ["d1"], "type": {"d1": 2}}', False),
        ('{"q1": ["d1"]}', False),
        ('[{"query_id": "q1"}]', False),
        ("{", False),
    ],
)
def test_records_are_told_from_one_object(tmp_path, text, records):
    file = io.BytesIO(text.encode())
    assert holds_records(tmp_path, file) is records
    assert file.tell() == 0

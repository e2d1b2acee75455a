"""Files that were made to do harm: runs and judgments refuse them alike, in one line."""

import gzip
import os
import threading

import pytest

from monitor.evaluation.files.inputs import InputError
from monitor.evaluation.files.qrels import load_qrels, read_qrels
from monitor.evaluation.files.runs import read_run

HUGE = "1" + "0" * 400
LONGER_THAN_PYTHON_READS = "7" * 5000
DEEP = "[" * 100_000
READERS = {
    "run": lambda path: list(read_run(path)),
    "qrels": lambda path: list(read_qrels(path)),
    "all qrels": load_qrels,
}
FORMS = {
    "TREC": ("{id} Q0 d1 1 {number} tag\n", "{id} 0 d1 {number}\n"),
    "JSON": ('{{"{id}": {{"d1": {number}}}}}', '{{"{id}": {{"d1": {number}}}}}'),
    "JSON lines": (
        '{{"query_id": "{id}", "ranked": ["d1"], "latency_seconds": {number}}}\n',
        '{{"query_id": "{id}", "key": "d1", "grade": {number}}}\n',
    ),
    "JSON list": (
        '[{{"query_id": "{id}", "ranked": ["d1"], "latency_seconds": {number}}}]',
        '[{{"query_id": "{id}", "key": "d1", "grade": {number}}}]',
    ),
}


@pytest.fixture(params=READERS)
def reader(request):
    return request.param


def refused(reader, path):
    with pytest.raises(InputError) as error:
        READERS[reader](path)
    said = str(error.value)
    assert str(path) in said
    assert said.isprintable()
    assert len(said) < len(str(path)) + 200
    return said


def content(form, reader, name="q1", number="1"):
    return FORMS[form][reader != "run"].format(id=name, number=number)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("number", [HUGE, LONGER_THAN_PYTHON_READS, "1e999", "-" + HUGE])
def test_a_number_that_is_too_large_is_refused(tmp_path, reader, form, number):
    path = tmp_path / "file"
    path.write_text(content(form, reader, number=number))
    refused(reader, path)


@pytest.mark.parametrize("form", ["JSON lines", "JSON list"])
def test_an_id_of_too_many_digits_is_refused(tmp_path, reader, form):
    path = tmp_path / "file"
    path.write_text(content(form, reader).replace('"q1"', LONGER_THAN_PYTHON_READS))
    refused(reader, path)


@pytest.mark.parametrize("form", ["JSON", "JSON lines", "JSON list"])
@pytest.mark.parametrize("half", ["\\ud800", "\\uDC00", "\\ud83d\\ud83d"])
@pytest.mark.parametrize("place", ["query", "document"])
def test_half_of_a_surrogate_pair_is_refused(tmp_path, reader, form, half, place):
    path = tmp_path / "file"
    text = content(form, reader)
    path.write_text(text.replace("q1", f"q{half}") if place == "query" else text.replace("d1", f"d{half}"))
    refused(reader, path)


@pytest.mark.parametrize("form", ["JSON", "JSON lines", "JSON list"])
def test_a_whole_surrogate_pair_is_a_character(tmp_path, reader, form):
    path = tmp_path / "file"
    path.write_text(content(form, reader, name="q\\ud83d\\ude00"))
    assert "q\N{GRINNING FACE}" in str(READERS[reader](path))


@pytest.mark.parametrize("form", ["JSON", "JSON lines", "JSON list"])
def test_what_is_nested_too_deep_is_refused(tmp_path, reader, form):
    path = tmp_path / "file"
    path.write_text(content(form, reader, number=DEEP))
    refused(reader, path)


def test_a_message_cannot_command_the_terminal_or_take_two_lines(tmp_path, reader):
    path = tmp_path / "file"
    path.write_text('{"q\\u001b[2J\\n": 5}')
    assert "q\N{REPLACEMENT CHARACTER}[2J\N{REPLACEMENT CHARACTER}" in refused(reader, path)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_a_pipe_is_read_as_a_file_is(tmp_path, reader, form, packed):
    file, pipe = tmp_path / "file", tmp_path / "pipe"
    sent = content(form, reader).encode()
    file.write_bytes(sent)
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(gzip.compress(sent) if packed else sent,))
    writer.start()
    found = READERS[reader](pipe)
    writer.join()
    assert found == READERS[reader](file)


def test_a_run_of_scattered_queries_may_come_through_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    sent = "q1 Q0 d1 1 1 t\nq2 Q0 d1 1 1 t\nq1 Q0 d2 1 2 t\n"
    writer = threading.Thread(target=pipe.write_text, args=(sent,))
    writer.start()
    found = {ranking.query: ranking.keys for ranking in read_run(pipe)}
    writer.join()
    assert found == {"q1": ["d2", "d1"], "q2": ["d1"]}


def test_a_line_of_many_blocks_is_read_whole(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b'{"query_id": "q1", "ranked": ["' + b"d" * (1 << 20) + b'"]}')
    ((query, keys, *_),) = read_run(path)
    assert (query, keys) == ("q1", ["d" * (1 << 20)])

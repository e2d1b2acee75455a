"""Judgments from files: TREC, JSON and JSON lines, and the place of every mistake."""

import codecs
import gzip
import json

import pytest

from monitor.evaluation.qrels import Grade, InputError, read_qrels

TREC = "q1 0 d3 2\nq1 0 d1 0\nq2\t0\td9\t-1\n"
JSON = json.dumps({"q1": {"d3": 2, "d1": 0.0}, "q2": {"d9": -1}})
LINES = """\
{"query_id": "q1", "key": "d3", "grade": 2}
{"query_id": "q1", "key": "d1", "grade": 0}
{"query_id": "q2", "key": "d9", "grade": -1}"""
LIST = f"[{LINES.replace(chr(10), ',')}]"
EXPECTED = [Grade("q1", "d3", 2.0), Grade("q1", "d1", 0.0), Grade("q2", "d9", -1.0)]


@pytest.fixture
def file(tmp_path):
    def write(content, name="qrels.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def refused(path):
    with pytest.raises(InputError) as error:
        list(read_qrels(path))
    return str(error.value).replace(str(path), "FILE")


@pytest.mark.parametrize(
    "content", [TREC, JSON, LINES, LIST], ids=["TREC", "JSON", "JSON lines", "JSON list"]
)
def test_the_content_tells_the_format(file, content):
    assert list(read_qrels(file(content))) == EXPECTED


@pytest.mark.parametrize(
    "content", [TREC, JSON, LINES, LIST], ids=["TREC", "JSON", "JSON lines", "JSON list"]
)
def test_every_format_may_be_compressed(file, content):
    assert list(read_qrels(file(gzip.compress(content.encode()), name="qrels.gz"))) == EXPECTED


@pytest.mark.parametrize(
    "content",
    [
        "\n\n" + TREC.replace("\n", "\n\n"),
        " \n" + json.dumps(json.loads(JSON), indent=2),
        LINES.replace("\n", "\n\n"),
        " \n" + json.dumps(json.loads(LIST), indent=2),
    ],
    ids=["TREC", "JSON", "JSON lines", "JSON list"],
)
def test_empty_lines_are_nothing(file, content):
    assert list(read_qrels(file(content))) == EXPECTED


@pytest.mark.parametrize("content", ["", "\n \n", "{}", "[]"])
def test_a_file_without_judgments_has_none(file, content):
    assert list(read_qrels(file(content))) == []


def test_lines_carry_time_assessor_and_target_where_known(file):
    line = {
        "type": "judgment",
        "query_id": "q1",
        "key": "d3",
        "grade": 1.5,
        "ts": "2026-01-01T00:00:00Z",
        "assessor": "ann",
        "target": "product",
        "comment": "ignored",
    }
    expected = Grade("q1", "d3", 1.5, "2026-01-01T00:00:00Z", "ann", "product")
    assert list(read_qrels(file(json.dumps(line)))) == [expected]


@pytest.mark.parametrize(
    "content",
    [
        '{"query_id": "q1", "key": "d3", "grade": null}',
        '[{"query_id": "q1", "key": "d3", "grade": null}]',
        '{"q1": {"d3": null}}',
    ],
)
def test_a_grade_of_null_withdraws(file, content):
    assert list(read_qrels(file(content))) == [Grade("q1", "d3", None)]


@pytest.mark.parametrize(
    "content", [TREC, JSON, LINES, LIST], ids=["TREC", "JSON", "JSON lines", "JSON list"]
)
def test_the_mark_that_some_editors_put_first_is_nothing(file, content):
    assert list(read_qrels(file(codecs.BOM_UTF8 + content.encode()))) == EXPECTED


@pytest.mark.parametrize("text", ["2", "2.0", "2e0"])
def test_grades_are_numbers_in_any_form(file, text):
    assert list(read_qrels(file(f"q1 0 d3 {text}"))) == [Grade("q1", "d3", 2.0)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("q1 0 d3 2\nq1 d1 0", "FILE:2: read as TREC qrels: 3 fields; a line is `query 0 document grade`"),
        ("q1 0 d3 2 5", "FILE:1: read as TREC qrels: 5 fields; a line is `query 0 document grade`"),
        ("\nq1 0 d3 high", 'FILE:2: read as TREC qrels: grade "high" is not a number'),
        ("q1 0 d3 nan", 'FILE:1: read as TREC qrels: grade "nan" is not a number'),
        ("q1 0 d3 inf", 'FILE:1: read as TREC qrels: grade "inf" is not a number'),
        ('{"q1": {"d3": 2}', "FILE: read as JSON: Expecting ',' delimiter: line 1 column 17 (char 16)"),
        ("[1", "FILE: read as JSON: Expecting ',' delimiter: line 1 column 3 (char 2)"),
        (
            '{"q1": ["d3"]}',
            'FILE: read as a JSON object: query "q1" must map documents to grades, as {"q1": {"d3": 2}}',
        ),
        *(
            (
                f'{{"q1": {{"d3": {sent}}}}}',
                f'FILE: read as a JSON object: query "q1", document "d3": grade "{shown}" is not a number',
            )
            for sent, shown in (('"high"', "high"), ("NaN", "nan"), ("true", "True"))
        ),
        (LINES + "\nq1", "FILE:4: read as JSON lines: Expecting value: line 1 column 1 (char 0)"),
        (LINES + "\n[]", 'FILE:4: read as JSON lines: needs "query_id", "key" and "grade"'),
        (
            '{"query_id": "q1", "key": "d3"}',
            'FILE:1: read as JSON lines: needs "query_id", "key" and "grade"',
        ),
        ("[[1]]", 'FILE: read as a JSON list: item 1: needs "query_id", "key" and "grade"'),
        (
            '{"query_id": "q1", "key": "d3", "grade": 1, "type": "click"}',
            'FILE:1: read as JSON lines: type is "click"; only judgments can be loaded',
        ),
        (
            '{"query_id": "q1", "key": "d3", "grade": "high"}',
            'FILE:1: read as JSON lines: grade "high" is not a number',
        ),
    ],
)
def test_a_mistake_gets_one_line_that_names_its_place(file, content, message):
    assert refused(file(content)) == message


def test_a_missing_file_cannot_be_read(tmp_path):
    assert refused(tmp_path / "none.txt") == 'cannot read "FILE": No such file or directory'


def test_a_file_that_is_not_utf_8_cannot_be_read(file):
    assert refused(file(b"q1 0 d\xff 1")).startswith('cannot read "FILE": ')


@pytest.mark.parametrize("how", ["not gzip", "cut off", "damaged within"])
def test_a_damaged_gzip_file_cannot_be_read(file, how):
    packed = bytearray(gzip.compress("".join(f"q{i * 7919 % 1000} 0 d{i} 1\n" for i in range(5000)).encode()))
    if how == "damaged within":
        packed[len(packed) // 2 : len(packed) // 2 + 40] = b"\xff" * 40
    content = {"not gzip": TREC.encode(), "cut off": packed[:-100], "damaged within": packed}[how]
    assert refused(file(bytes(content), name="qrels.gz")).startswith('cannot read "FILE": ')


def test_what_stands_before_a_mistake_is_read_first(file):
    judgments = read_qrels(file("q1 0 d3 2\nmistake"))
    assert next(judgments) == Grade("q1", "d3", 2.0)
    with pytest.raises(InputError):
        next(judgments)

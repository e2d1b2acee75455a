"""Judgments from files: TREC, JSON and JSON lines, and the place of every mistake."""

import codecs
import gzip
import json

import pytest

from monitor.evaluation.files.inputs import InputError
from monitor.evaluation.files.qrels import Grade, Qrels, load_qrels, read_qrels

TREC = "q1 0 d3 2\nq1 0 d1 0\nq2\t0\td9\t-1\n"
JSON = json.dumps({"q1": {"d3": 2, "d1": 0.0}, "q2": {"d9": -1}})
LINES = """\
{"query_id": "q1", "key": "d3", "grade": 2}
{"query_id": "q1", "key": "d1", "grade": 0}
{"query_id": "q2", "key": "d9", "grade": -1}"""
LIST = f"[{LINES.replace(chr(10), ',')}]"
EXPECTED = [Grade("q1", "d3", 2.0), Grade("q1", "d1", 0.0), Grade("q2", "d9", -1.0)]


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
        ('{"q1": {"d3": 2}', "FILE:1: read as JSON: it ends too early"),
        ('{"q1": {},\n"q2" {}}', "FILE:2: read as JSON: Expecting ':' delimiter"),
        (
            '{"q1": ["d3"]}',
            'FILE: read as a JSON object: query "q1" must map documents to grades, as {"q1": {"d3": 2}}',
        ),
        *(
            (
                f'{{"q1": {{"d3": {sent}}}}}',
                f'FILE: read as a JSON object: query "q1", document "d3": grade "{shown}" is not a number',
            )
            for sent, shown in (
                ('"2"', "2"),
                ("NaN", "nan"),
                ("true", "True"),
                ("1" + "0" * 400, "1" + "0" * 38 + "…"),
            )
        ),
        (LINES + "\nq1", "FILE:4: read as JSON lines: JSON is malformed: invalid character (byte 0)"),
        (LINES + "\n[]", "FILE:4: read as JSON lines: Expected `object`, got `array`"),
        (
            '{"query_id": "q1", "key": "d3"}',
            'FILE:1: read as JSON lines: needs "query_id", "key" and "grade"',
        ),
        ("[[1]]", "FILE: read as a JSON list: item 1: Expected `object`, got `array`"),
        ("[{}]", 'FILE: read as a JSON list: item 1: needs "query_id", "key" and "grade"'),
        *(
            (
                f'[{{"query_id": "q1", "key": "d3", "grade": {sent}}}]',
                f'FILE: read as a JSON list: item 1: grade "{shown}" is not a number',
            )
            for sent, shown in (("NaN", "nan"), ("1e999", "inf"))
        ),
        (
            '{"query_id": "q1", "key": "d3", "grade": 1, "type": "click"}',
            'FILE:1: read as JSON lines: type is "click"; only judgments can be loaded',
        ),
        (
            '{"query_id": "q1", "key": "d3", "grade": "high"}',
            "FILE:1: read as JSON lines: Expected `float | null`, got `str` - at `$.grade`",
        ),
        ("q1 0 d3 1_0", 'FILE:1: read as TREC qrels: grade "1_0" is not a number'),
    ],
)
def test_a_mistake_gets_one_line_that_names_its_place(file, content, message):
    assert refused(file(content)) == message


def test_a_missing_file_cannot_be_read(tmp_path):
    assert refused(tmp_path / "none.txt") == 'cannot read "FILE": No such file or directory'


def test_a_line_that_is_not_utf_8_is_named(file):
    assert refused(file(b"q1 0 d 1\nq1 0 d\xff 1")) == "FILE:2: read as TREC qrels: not UTF-8"


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


@pytest.mark.parametrize(
    "content", [TREC, JSON, LINES, LIST], ids=["TREC", "JSON", "JSON lines", "JSON list"]
)
def test_all_judgments_are_grades_by_query_and_key(file, content):
    assert load_qrels(file(content)) == Qrels({"q1": {"d3": 2.0, "d1": 0.0}, "q2": {"d9": -1.0}}, {})


def judged(key, grade, assessor=None, target=None, query="q1"):
    fields = {"query_id": query, "key": key, "grade": grade, "assessor": assessor, "target": target}
    return json.dumps({name: value for name, value in fields.items() if value is not None or name == "grade"})


@pytest.mark.parametrize(
    ("told", "grades"),
    [
        ([("d1", 1, "ann"), ("d1", 2, "bob")], {"d1": 1.5}),
        ([("d1", 1, "ann"), ("d1", 2, "ann")], {"d1": 2}),
        ([("d1", 1), ("d1", 2)], {"d1": 2}),
        ([("d1", 1), ("d1", 2, "ann"), ("d1", 3)], {"d1": 2.5}),
        ([("d1", 1, "ann"), ("d1", 2), ("d1", None, "ann")], {"d1": 2}),
        ([("d1", 1, "ann"), ("d1", None, "bob")], {"d1": 1}),
        ([("d2", 0), ("d1", 1, "ann"), ("d1", None, "ann")], {"d2": 0}),
        ([("d2", 0), ("d1", None), ("d1", 1)], {"d2": 0, "d1": 1}),
    ],
)
def test_the_last_of_each_assessor_counts_and_the_mean_of_all(file, told, grades):
    assert load_qrels(file("\n".join(judged(*each) for each in told))) == Qrels({"q1": grades}, {})


def test_a_query_whose_judgments_are_withdrawn_is_not_judged(file):
    content = [judged("d1", 1, target="A"), judged("d1", 1, query="q2"), judged("d1", None)]
    assert load_qrels(file("\n".join(content))) == Qrels({"q2": {"d1": 1.0}}, {})


def test_targets_stand_beside_the_grades(file):
    content = [judged("d1", 1, "ann", "A"), judged("d2", 0, target="B"), judged("d1", 1, "bob", "C")]
    assert load_qrels(file("\n".join(content))).targets == {"q1": {"d1": "C", "d2": "B"}}


def test_lines_of_a_query_need_not_stand_together(file):
    found = load_qrels(file("q1 0 d1 1\nq2 0 d1 1\nq1 0 d2 2\nq1 0 d1 0\n"))
    assert found.grades == {"q1": {"d1": 0, "d2": 2}, "q2": {"d1": 1}}
    assert [*found.grades] == ["q1", "q2"]


def test_equal_grades_are_one_object_for_there_are_many(file):
    found = load_qrels(file("".join(f"q{i} 0 d1 3.5\n" for i in range(10)))).grades
    assert len({id(grades["d1"]) for grades in found.values()}) == 1


@pytest.mark.parametrize("content", ["", "\n", "{}", "[]", '{"q1": {}}', '{"q1": {"d1": null}}'])
def test_a_file_without_any_judgment_that_holds_is_refused(file, content):
    path = file(content)
    with pytest.raises(InputError) as error:
        load_qrels(path)
    assert str(error.value) == f"{path}: no judgment in it"


@pytest.mark.parametrize("mistake", ["q1 0 d1", "q1 0 d1 high", "q1 0 d1 nan", "q1 0 d1 inf", "q1 0 d1 1 1"])
def test_a_mistake_far_down_is_named_by_its_line(file, mistake):
    path = file("".join(f"q{i // 10} 0 d{i} 1\n" for i in range(20_000)) + mistake)
    with pytest.raises(InputError) as error:
        load_qrels(path)
    assert str(error.value).startswith(f"{path}:20001: read as TREC qrels: ")


@pytest.mark.parametrize("form", ["{}", "[{}]"], ids=["JSON lines", "JSON list"])
@pytest.mark.parametrize(
    ("field", "sent", "message"),
    [
        ("query_id", None, "Expected `int | str`, got `null`"),
        ("query_id", ["q1"], "Expected `int | str`, got `array`"),
        ("key", None, "Expected `int | str`, got `null`"),
        ("key", 1.5, "Expected `int | str`, got `float`"),
        ("key", True, "Expected `int | str`, got `bool`"),
        ("grade", "2", "Expected `float | null`, got `str`"),
        ("grade", True, "Expected `float | null`, got `bool`"),
        ("assessor", 7, "Expected `str | null`, got `int`"),
        ("target", ["A"], "Expected `str | null`, got `array`"),
        ("ts", [], "Expected `float | str | null`, got `array`"),
        ("type", 5, "Expected `str`, got `int`"),
    ],
)
def test_a_field_of_another_type_is_named_with_its_place(file, form, field, sent, message):
    first = {"query_id": "q1", "key": "d3", "grade": 2}
    records = [first, {**first, field: sent}]
    if form == "{}":
        content, place = "\n".join(map(json.dumps, records)), ":2: read as JSON lines"
    else:
        content, place = json.dumps(records), ": read as a JSON list: item 2"
    assert refused(file(content)) == f"FILE{place}: {message} - at `$.{field}`"


@pytest.mark.parametrize("form", ["{}", "[{}]"], ids=["JSON lines", "JSON list"])
def test_ids_may_be_whole_numbers_as_in_runs(file, form):
    content = form.replace("{}", '{"query_id": 7, "key": 12345678901234567890123, "grade": 1}')
    assert list(read_qrels(file(content))) == [Grade("7", "12345678901234567890123", 1.0)]


def test_a_document_judged_twice_in_trec_qrels_has_the_last_grade(file):
    assert load_qrels(file("q1 0 d1 2\nq1 0 d2 1\nq1 0 d1 0\n")).grades == {"q1": {"d1": 0, "d2": 1}}


def test_the_mean_of_the_highest_grades_is_a_number(file):
    content = [judged("d1", 1.5e308, "ann"), judged("d1", 1.5e308, "bob")]
    assert load_qrels(file("\n".join(content))).grades == {"q1": {"d1": 1.5e308}}


@pytest.mark.parametrize("query", ["[q1]", "{q1}", "{q1", "[1]"])
def test_a_query_whose_name_begins_with_a_bracket_is_not_json(file, query):
    found = load_qrels(file(codecs.BOM_UTF8 + f"\n{query} 0 d3 2\n{query} 0 d1 0\n".encode()))
    assert found.grades == {query: {"d3": 2, "d1": 0}}

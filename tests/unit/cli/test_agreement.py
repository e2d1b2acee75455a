"""`ranking-monitor agreement`: three formats of one result, and files that have no agreement in them."""

import csv
import json
import sys

import pytest
from sklearn.metrics import cohen_kappa_score

from monitor.stats import krippendorff_alpha
from tests.unit.cli.command import in_ascii

NAN = float("nan")
GRADES = {
    "ann": [2, 0, 3, 1, 1, None],
    "bob": [2, 1, 3, 1, None, 0],
    "cleo": [None, None, None, None, None, None, 1],
    "dan": [3, 0, 3, 2, 1, None, 1],
}


def judgment(assessor, number, grade):
    told = {"query_id": f"q{number % 2}", "key": f"d{number}", "grade": grade, "assessor": assessor}
    return {name: value for name, value in told.items() if value is not None or name == "grade"}


def judgments(grades):
    return [
        judgment(name, number, grade)
        for name, given in grades.items()
        for number, grade in enumerate(given)
        if grade is not None
    ]


@pytest.fixture
def file(tmp_path):
    def write(records, name="judgments.jsonl"):
        path = tmp_path / name
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return path

    return write


def test_json_has_every_pair_and_all_together(command, file):
    shown = command("agreement", file(judgments(GRADES)), "--format", "json")
    assert (shown.code, shown.err) == (0, "")
    told = json.loads(shown.out)
    assert told["assessors"] == {"ann": 5, "bob": 5, "cleo": 1, "dan": 6}
    assert [pair["assessors"] for pair in told["pairs"]] == [
        ["ann", "bob"], ["ann", "cleo"], ["ann", "dan"], ["bob", "cleo"], ["bob", "dan"], ["cleo", "dan"],
    ]  # fmt: skip
    a, b = [2, 0, 3, 1], [2, 1, 3, 1]
    assert told["pairs"][0] == {
        "assessors": ["ann", "bob"],
        "items": 4,
        "equal": 0.75,
        "kappa": pytest.approx(cohen_kappa_score(a, b)),
        "kappa_linear": pytest.approx(cohen_kappa_score(a, b, weights="linear")),
        "kappa_quadratic": pytest.approx(cohen_kappa_score(a, b, weights="quadratic")),
    }
    table = [
        [NAN if grade is None else grade for grade in (*given, *[None] * 7)][:7] for given in GRADES.values()
    ]
    assert told["overall"] == {"items": 6} | {
        f"alpha_{level}": pytest.approx(krippendorff_alpha(table, level=level))
        for level in ("nominal", "ordinal", "interval")
    }


def test_a_pair_without_a_common_item_is_null_in_json_empty_in_csv_and_said_in_the_table(command, file):
    path = file(judgments(GRADES))
    alone = json.loads(command("agreement", path, "--format", "json").out)["pairs"][1]
    assert alone.pop("assessors") == ["ann", "cleo"]
    assert alone == {"items": 0, "equal": None, "kappa": None, "kappa_linear": None, "kappa_quadratic": None}
    assert "ann,cleo,0,,,,,,,\n" in command("agreement", path, "--format", "csv").out
    (line,) = (
        each for each in command("agreement", path).out.splitlines() if "cleo" in each and "ann" in each
    )
    assert "nothing in common" in line


def test_csv_has_a_row_for_each_pair_and_one_without_names_for_all(command, file):
    path = file(judgments(GRADES))
    rows = list(csv.DictReader(command("agreement", path, "--format", "csv").out.splitlines()))
    told = json.loads(command("agreement", path, "--format", "json").out)
    assert len(rows) == 7
    for row, pair in zip(rows, told["pairs"], strict=False):
        assert [row["first"], row["second"]] == pair["assessors"]
        assert row["kappa_quadratic"] == ("" if pair["items"] == 0 else str(pair["kappa_quadratic"]))
        assert row["alpha_nominal"] == ""
    assert (rows[-1]["first"], rows[-1]["second"], rows[-1]["items"]) == ("", "", "6")
    assert float(rows[-1]["alpha_interval"]) == told["overall"]["alpha_interval"]


def test_the_table_says_numbers_and_words(command, file):
    shown = command("agreement", file(judgments(GRADES)))
    assert (shown.code, shown.err) == (0, "")
    lines = [" ".join(line.split()) for line in shown.out.splitlines()]
    assert "ann bob 4 0.750 0.667 0.778 0.875 substantial" in lines
    assert "cleo dan 1 1.000 1.000 1.000 1.000 one grade only" in lines
    assert "ordinal 0.823 reliable" in lines
    assert any("4 assessors" in line and "the 6 that two or more judged" in line for line in lines)


def test_a_json_list_is_read_as_json_lines_are(command, file, tmp_path):
    whole = tmp_path / "judgments.json"
    whole.write_text(json.dumps(judgments(GRADES)))
    assert command("agreement", whole) == command("agreement", file(judgments(GRADES)))


def test_the_last_judgment_counts_and_null_withdraws_it(command, file):
    changed = [
        *judgments({"ann": [1, 2, 3], "bob": [1, 0, 0]}),
        judgment("bob", 1, 2),
        judgment("bob", 2, None),
    ]
    told = json.loads(command("agreement", file(changed), "--format", "json").out)
    assert told["assessors"] == {"ann": 3, "bob": 2}
    assert (told["pairs"][0]["items"], told["pairs"][0]["equal"]) == (2, 1.0)


def test_one_key_of_two_queries_is_two_items(command, file):
    records = [
        {"query_id": query, "key": "d", "grade": grade, "assessor": name}
        for query, grade in (("q1", 0), ("q2", 1))
        for name in ("ann", "bob")
    ]
    told = json.loads(command("agreement", file(records), "--format", "json").out)
    assert told["overall"]["items"] == 2


def test_names_that_look_like_markup_are_shown_as_they_are(command, file):
    shown = command("agreement", file(judgments({"[bold]ann": [1, 2], "bob[/]": [1, 2]})))
    assert "[bold]ann" in shown.out
    assert "bob[/]" in shown.out


def test_names_cannot_command_the_terminal(command, file):
    shown = command("agreement", file(judgments({"\x1b[2Jann": [1, 2], "bob": [1, 2]})))
    assert (shown.code, "\x1b" in shown.out) == (0, False)
    assert "\N{REPLACEMENT CHARACTER}[2Jann" in shown.out


@pytest.mark.parametrize("kind", ["table", "json", "csv"])
def test_what_standard_output_cannot_encode_is_escaped(file, kind):
    ended = in_ascii("agreement", file(judgments({"日本": [1, 2], "bob": [1, 2]})), "--format", kind)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert rb"\u65e5\u672c" in ended.stdout


def test_judgments_that_name_nobody_are_left_out_and_counted(command, file):
    named = judgments({"ann": [1, 2], "bob": [1, 1]})
    plain = command("agreement", file(named), "--format", "json")
    more = command("agreement", file([*named, judgment(None, 0, 3), judgment("", 1, 3)]), "--format", "json")
    assert more.out == plain.out
    assert more.err == "2 judgments name no assessor: left out\n"


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([], 'no assessor in it; agreement needs two assessors, named by "assessor" in JSON judgments'),
        (
            judgments({"ann": [1, 2]}),
            'only assessor "ann" in it; agreement needs two assessors, named by "assessor" in JSON judgments',
        ),
        (
            [*judgments({"ann": [1], "bob": [1]}), judgment("bob", 0, None)],
            'only assessor "ann" in it; agreement needs two assessors, named by "assessor" in JSON judgments',
        ),
        (
            judgments({"ann": [1, None], "bob": [None, 1]}),
            "no two of 2 assessors judged the same item; agreement needs some",
        ),
        (
            judgments({"ann": [1e300], "bob": [1]}),
            "a[0] is 1e+300; only finite numbers below 1e+290 in size are allowed",
        ),
    ],
    ids=["empty", "one assessor", "withdrawn", "nothing in common", "too large"],
)
def test_a_file_without_agreement_in_it_gets_one_line(command, file, records, message):
    path = file(records)
    assert command("agreement", path) == (2, "", f"ranking-monitor: {path}: {message}\n")


def test_trec_judgments_name_no_assessor(command, tmp_path):
    path = tmp_path / "qrels.txt"
    path.write_text("q1 0 d1 1\n")
    shown = command("agreement", path)
    assert (shown.code, shown.out) == (2, "")
    assert f"{path}: no assessor in it" in shown.err


def test_scipy_is_not_needed(command, file, monkeypatch):
    for name in ("scipy", "scipy.stats"):
        monkeypatch.setitem(sys.modules, name, None)
    assert command("agreement", file(judgments(GRADES))).code == 0


def test_a_malformed_line_is_named_by_its_number(command, tmp_path):
    path = tmp_path / "judgments.jsonl"
    path.write_text('{"query_id": "q1", "key": "d1", "grade": 1, "assessor": "ann"}\n{"query_id": "q1"}\n')
    shown = command("agreement", path)
    assert shown.code == 2
    assert f"{path}:2:" in shown.err


def test_an_unknown_format_is_a_mistake_of_the_user(command, file):
    shown = command("agreement", file(judgments(GRADES)), "--format", "xml")
    assert shown.code == 2
    assert "xml" in shown.err

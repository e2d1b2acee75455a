"""Whatever a file or a variable holds, a command answers with one line and exit code 2, never a traceback."""

import pytest

QRELS = "q1 0 d1 2\n"
RUN = "q1 Q0 d1 1 1.0 tag\n"
DIGITS = "9" * 5000
NESTED = "[" * 3000

RUNS = {
    "a vertical tab before an object": "\x0b{",
    "a form feed before a list": '\x0c["d1"]',
    "two byte order marks": '\ufeff\ufeff{"q1": ["d1"]}',
    "nothing but a bracket": "{",
    "too few fields before an empty line": "q1 Q0 d1 1 1.0\n\n",
    "nested brackets": NESTED,
}
JUDGMENTS = {
    "too few fields before an empty line": "1 0 4\n\n",
    "too few fields before two empty lines": "1 0\n\n\n",
    "a vertical tab before an object": '\x0b{"q1": {"d1": 1}}',
    "two byte order marks": '\ufeff\ufeff{"q1": {"d1": 1}}',
    "nested brackets": NESTED,
}


@pytest.fixture
def file(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def refuse(command):
    """Call a command that is to end with exit code 2, nothing printed, and one line of a message."""

    def call(*arguments):
        ended = command(*arguments)
        assert ended.code == 2
        assert not ended.out
        (line,) = ended.err.splitlines()
        assert line.startswith("ranking-monitor: ")
        assert line.isprintable()
        return line

    return call


@pytest.mark.parametrize("content", RUNS.values(), ids=RUNS)
def test_a_run_that_is_none_is_refused(refuse, file, content):
    run, qrels, other = file("a.run", content), file("qrels", QRELS), file("b.run", RUN)
    assert str(run) in refuse("evaluate", "--run", run, "--qrels", qrels)
    assert str(run) in refuse("compare", "--run", other, "--run", run, "--qrels", qrels)


@pytest.mark.parametrize("content", JUDGMENTS.values(), ids=JUDGMENTS)
def test_judgments_that_are_none_are_refused(refuse, file, content):
    qrels, run, other = file("qrels", content), file("a.run", RUN), file("b.run", RUN)
    assert str(qrels) in refuse("evaluate", "--run", run, "--qrels", qrels)
    assert str(qrels) in refuse("compare", "--run", run, "--run", other, "--qrels", qrels)
    assert str(qrels) in refuse("agreement", qrels)
    assert str(qrels) in refuse("load-judgments", qrels, "--topic", "judgments")


def test_the_line_with_too_few_fields_is_named(refuse, file):
    qrels = file("qrels", "1 0 d1 2\n\n1 0 4\n\n")
    line = refuse("evaluate", "--run", file("a.run", RUN), "--qrels", qrels)
    assert line.endswith("qrels:3: read as TREC qrels: 3 fields; a line is `query 0 document grade`")


LAUGHS = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{chr(ord(name) - 1)}'] * 10)}]\n" for name in "bcdefghi"
)
MERGES = "a: &a {x: 1}\n" + "".join(
    f"{name}: &{name} {{<<: [{', '.join([f'*{chr(ord(name) - 1)}'] * 10)}]}}\n" for name in "bcdefghi"
)
LOOKS = "; correct it, or put it in quotes"
CONFIGS = {
    "a number of 5,000 digits": (
        f"lateness_seconds: {DIGITS}",
        "line 1: a value that looks like a whole number and is none" + LOOKS,
    ),
    "a number of 4,000 digits": (
        f"limits: {{open: {DIGITS[:4000]}}}",
        "line 1: a number of more than 64 bits",
    ),
    "a hexadecimal number of 5,000 digits": (
        f"labels: [0x{'f' * 5000}]",
        "line 1: a number of more than 64 bits",
    ),
    "hours, minutes and seconds without end": (
        "listen: 1" + ":59" * 2000 + ".5",
        "line 1: a value that looks like a number and is none" + LOOKS,
    ),
    "a date that there is not": (
        "log: {level: info}\nlisten: 2026-02-31",
        "line 2: a value that looks like a date or time and is none" + LOOKS,
    ),
    "an hour that there is not": (
        "listen: 2026-02-28T25:00:00Z",
        "line 1: a value that looks like a date or time and is none" + LOOKS,
    ),
    "an offset that there is not": (
        "kafka: {start: 2026-02-28T01:00:00+99:99}",
        "line 1: a value that looks like a date or time and is none" + LOOKS,
    ),
    "a prefix without digits": (
        "listen: 0x_",
        "line 1: a value that looks like a whole number and is none" + LOOKS,
    ),
    "a tag that does not fit": (
        "listen: !!bool x",
        "line 1: a value that looks like true or false and is none" + LOOKS,
    ),
    "a tag on nothing": (
        'listen: !!int ""',
        "line 1: a value that looks like a whole number and is none" + LOOKS,
    ),
    "nested brackets": (f"listen: {NESTED}", "line 1: it is nested deeper than 50 levels"),
    "nested dashes": ("- " * 3000, "line 1: it is nested deeper than 50 levels"),
    "aliases that expand without end": (
        LAUGHS,
        "line 4: more than 10,000 values, with all that its aliases stand for",
    ),
    "merged aliases that expand without end": (
        MERGES,
        "line 5: more than 10,000 values, with all that its aliases stand for",
    ),
    "an alias within itself": ("labels: &a [*a]", 'line 1: alias "*a" is part of what it stands for'),
    "too many values": (
        f"labels: [{'a,' * 100_000}]",
        "line 1: more than 10,000 values, with all that its aliases stand for",
    ),
    "a file that is too large": (
        "#" + "a" * (1 << 20),
        "it is larger than 1,048,576 bytes; is it the right file?",
    ),
    "half of a surrogate pair": (
        'commit_token: "\\udc80"',
        "line 1: half of a surrogate pair, which is no character",
    ),
}


@pytest.mark.parametrize(("text", "message"), CONFIGS.values(), ids=CONFIGS)
def test_a_configuration_that_is_none_is_refused(refuse, file, text, message):
    path = file("monitor.yaml", text)
    assert refuse("check-config", path) == f"ranking-monitor: {path}: {message}"
    assert refuse("rules", "--values", path) == f"ranking-monitor: {path}: {message}"


def test_a_file_without_an_end_is_refused(refuse):
    line = refuse("check-config", "/dev/zero")
    assert line == "ranking-monitor: /dev/zero: it is larger than 1,048,576 bytes; is it the right file?"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"a\\nb": 1', "a\ufffdb: unknown key; see docs/configuration.md"),
        ('listen: "a\\nb"', 'listen: must be host:port with a port up to 65535, not "a\ufffdb"'),
        ('"a\\e[31m": 1', "a\ufffd[31m: unknown key; see docs/configuration.md"),
        (f"kafka: {{group_id: [{DIGITS}]}}".replace(DIGITS, "9, " * 900), "kafka.group_id: "),
        (
            f"kafka: {{security: {{ca_file: {'a' * 5000}}}}}",
            f'kafka.security.ca_file: no such file: "{"a" * 59}…"',
        ),
    ],
    ids=[
        "a key of two lines",
        "a value of two lines",
        "a key with colour",
        "a long list",
        "a long file name",
    ],
)
def test_what_the_user_wrote_does_not_break_the_line(refuse, file, text, message):
    path = file("monitor.yaml", text)
    line = refuse("check-config", path)
    assert line.startswith(f"ranking-monitor: {path}: {message}")
    assert len(line) < len(str(path)) + 200


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("WINDOWS", NESTED),
        ("WINDOWS", NESTED + "]" * len(NESTED)),
        ("WINDOWS", "[" * 60 + "]" * 60),
        ("WINDOWS", f"[{DIGITS}]"),
        ("KAFKA", '{"a":' * 3000),
        ("KAFKA", '{"group_id": "\\ud800"}'),
        ("LIMITS__OPEN", DIGITS),
        ("LIMITS__OPEN", DIGITS[:4000]),
        ("LISTEN", "a\nb"),
        ("LISTEN", "\udcff"),
        ("A\nB", "1"),
    ],
)
def test_a_variable_that_cannot_be_is_refused(refuse, file, monkeypatch, name, value):
    monkeypatch.setenv(f"RANKING_MONITOR__{name}", value)
    line = refuse("check-config", file("empty.yaml", ""))
    assert name.replace("\n", "\ufffd") in line
    assert len(line) < 250


@pytest.mark.parametrize("span", ["9" * 18, f'"{DIGITS}d"', '"999999999999w"', '"\u0663m"', "-1"])
def test_a_duration_that_cannot_be_is_refused(refuse, file, span):
    line = refuse("rules", "--values", file("values.yaml", f"maturity: {span}"))
    assert "maturity: must be a duration in whole seconds, up to 100 years, such as 30s" in line


def test_aliases_that_stand_for_little_are_read(command, file):
    path = file("monitor.yaml", "windows: &sizes [60.0, 300.0]\njudgments: {maturities: *sizes}\n")
    assert command("check-config", path).code == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("windows: [1.0e+300]", 'windows[0]: Input should be less than or equal to 1000000000, not "1e+300"'),
        ("windows: [5.0e-324]", "windows[0]: must be at least 0.001 seconds, not 4.94066e-324"),
        (
            "attribution_seconds: 5.0e-324",
            "attribution_seconds: must be at least 0.001 seconds, not 4.94066e-324",
        ),
    ],
)
def test_a_time_that_cannot_be_measured_is_refused(refuse, file, text, message):
    path = file("monitor.yaml", text)
    assert refuse("check-config", path) == f"ranking-monitor: {path}: {message}"


def test_a_tag_that_makes_an_object_is_refused(refuse, file):
    path = file("monitor.yaml", 'listen: !!python/object/apply:os.system ["false"]')
    assert "not valid YAML: an alias, tag or value that cannot be used, line 1" in refuse(
        "check-config", path
    )


def test_an_assessor_whose_name_is_no_text_is_refused(refuse, file):
    line = refuse("load-judgments", file("qrels", QRELS), "--topic", "judgments", "--assessor", "\udcff")
    assert line == "ranking-monitor: --assessor: the name is not valid UTF-8; give it as text"

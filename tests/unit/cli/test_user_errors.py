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

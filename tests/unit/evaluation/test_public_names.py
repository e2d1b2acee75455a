"""The one place from which everything public is imported, and what it does not drag in."""

import doctest
import subprocess
import sys

import pytest

import monitor.evaluation
from tests.support.documents import blocks, text

HEAVY = ("scipy", "nltk", "plotly", "matplotlib", "aiokafka", "prometheus_client", "starlette")
PAGE = "docs/evaluation.md"


def test_every_name_is_there_and_documented():
    for name in monitor.evaluation.__all__:
        found = getattr(monitor.evaluation, name)
        assert name == "RECALL_LEVELS" or found.__doc__, name


@pytest.mark.parametrize("name", monitor.evaluation.__all__)
def test_the_tutorial_names_it(name):
    assert name in text(PAGE)


def test_importing_it_is_light():
    imported = f"import sys, monitor.evaluation; print([name for name in {HEAVY} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", imported], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


def test_the_examples_of_the_tutorial_print_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = "\n".join(block for block in blocks(PAGE, "python") if ">>>" in block)
    parsed = doctest.DocTestParser().get_doctest(examples, {}, PAGE, PAGE, 0)
    runner = doctest.DocTestRunner()
    runner.run(parsed)
    assert runner.tries > 20
    assert runner.failures == 0

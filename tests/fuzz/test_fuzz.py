"""A short run of every target, always from the same seed; `make fuzz` runs them long, from a new one."""

import json
import math
from pathlib import Path
from random import Random

import pytest

from tests.fuzz import targets
from tests.fuzz.mutation import mutated
from tests.fuzz.running import run
from tests.fuzz.seeds import EVENTS

EXECUTIONS = {"decoder": 8_000, "metadata": 300, "config": 400, "files": 600, "queries": 600}
AT_LEAST = 50
"""Executions of the short form on the slowest machine."""


@pytest.mark.parametrize("name", targets.TARGETS)
def test_no_mutation_of_valid_input_breaks_what_reads_it(name: str, tmp_path: Path) -> None:
    assert run(name, tmp_path, seed=1, executions=EXECUTIONS[name], seconds=20) >= AT_LEAST


def test_the_fuzzer_finds_a_decoder_that_disagrees_with_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check that cannot fail is none: this decoder forgets the bound on `ts`."""
    monkeypatch.setattr(targets, "decode_all", lambda raws, _: real(raws, math.inf))
    with pytest.raises(AssertionError, match=r"rejected one by one[\s\S]*again: python -m tests.fuzz"):
        run("decoder", tmp_path, seed=1, executions=20_000, seconds=60)


real = targets.decode_all


def test_most_mutations_change_something_and_some_stay_valid() -> None:
    found = [mutated(EVENTS, Random(number)) for number in range(1000)]
    assert len(set(found)) > 700
    assert 50 < sum(_is_json(each) for each in found) < 950


def _is_json(raw: bytes) -> bool:
    try:
        json.loads(raw)
    except (ValueError, RecursionError):
        return False
    return True

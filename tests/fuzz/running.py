"""Runs a target on mutations until it fails or the time is over; every execution can be repeated alone."""

import time
from pathlib import Path
from random import Random

from tests.fuzz.mutation import mutated
from tests.fuzz.targets import TARGETS

SLOW_SECONDS = 20.0
"""An execution that takes longer has hung; the slowest takes a fraction of a second."""


def run(name: str, folder: Path, *, seed: int, executions: int, seconds: float) -> int:
    """Run a target; how many executions there were."""
    deadline = time.monotonic() + seconds
    for number in range(executions):
        if time.monotonic() > deadline:
            return number
        execute(name, folder, seed, number)
    return executions


def execute(name: str, folder: Path, seed: int, number: int) -> None:
    """One execution; its failure says how to repeat it."""
    target, seeds = TARGETS[name]
    random = Random(f"{name} {seed} {number}")
    raw = mutated(seeds, random)
    started = time.monotonic()
    try:
        target(raw, random, folder)
        assert time.monotonic() - started < SLOW_SECONDS, "it took too long"
    except Exception as error:
        again = f"python -m tests.fuzz --target {name} --seed {seed} --execution {number}"
        raise AssertionError(f"{name}: {error!r}\n input: {raw[:2000]!r}\n again: {again}") from error

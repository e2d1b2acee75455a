"""False alarms and delays of the quality alerts and of rivals; writes RESULTS.md and detection.svg here.

    python -m benchmarks.detection [--short] [--jobs 2] [--runs 30] [--seed 1] [--only "sessions, 1/s"]

The page has a seed of its own; give another one while tuning. `--short` takes less than a minute. Only a
run of everything, with the page's seed, writes the page.
"""

import argparse
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial

import numpy as np

from benchmarks.detection import detection_page
from benchmarks.detection.cells import Cell, Regression, quiet_cells, regressions
from benchmarks.detection.detection_page import FINAL_SEED, Measured, Run, Waited
from benchmarks.detection.runs import delays, false_alarms

Task = Callable[[], Sequence[Measured | Waited]]
RUNS = 20
"""Runs of 90 days in each cell where every alarm is false."""
REPEATS = 40
"""Regressions in each cell where there is one."""
SHORT = ("ndcg, sessions, 1/s", "ndcg, daily, 1/s, 5%", "ndcg, daily, 1/s, 50/50, 5%")
ALLOCATION = {"MALLOC_MMAP_THRESHOLD_": "8589934592", "MALLOC_TRIM_THRESHOLD_": "8589934592"}
"""Lets the C library keep memory: giving it back after each array costs a third of the time."""


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--short", action="store_true", help="three cells, and only printed")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--runs", type=int, default=RUNS, help=f"runs of 90 days in each cell ({RUNS})")
    parser.add_argument("--repeats", type=int, default=REPEATS, help=f"regressions in each cell ({REPEATS})")
    parser.add_argument(
        "--seed", type=int, default=FINAL_SEED, help=f"another one than the page's ({FINAL_SEED})"
    )
    parser.add_argument("--only", default="", help="cells with this in their name, and only printed")
    chosen = parser.parse_args()
    if not ALLOCATION.items() <= os.environ.items():
        os.execve(
            sys.executable,
            [sys.executable, "-m", "benchmarks.detection", *sys.argv[1:]],
            {**os.environ, **ALLOCATION},
        )
    if chosen.short:
        chosen.runs, chosen.repeats = 2, 10
    run = Run(seconds=0.0)
    keep = not chosen.short and not chosen.only and chosen.seed == FINAL_SEED
    started = time.monotonic()
    with ProcessPoolExecutor(chosen.jobs) as pool:
        for results in pool.map(_do, tasks(chosen)):
            for one in results:
                print(one, flush=True)
                run.add(one)
            run.seconds = time.monotonic() - started
            if keep:
                detection_page.save(run)
    if keep:
        detection_page.write()
    return 0


def tasks(chosen: argparse.Namespace) -> list[Task]:
    """What is to be measured: every delay, then false alarms of all cells again and again.

    So a run that is stopped has measured each cell for about as long; `detection_page` writes what there is.
    """
    seed = 1000 * chosen.seed
    worse = [
        partial(_delays, regression, seed + 500 + number, chosen.repeats)
        for number, regression in enumerate(regressions())
        if _wanted(regression.name, chosen)
    ]
    quiet = [
        partial(_alarms, cell, seed + number, again)
        for again in range(chosen.runs)
        for number, cell in enumerate(quiet_cells())
        if _wanted(cell.name, chosen)
    ]
    return [*worse, *quiet]


def _wanted(name: str, chosen: argparse.Namespace) -> bool:
    return name in SHORT if chosen.short else chosen.only in name


def _do(task: Task) -> Sequence[Measured | Waited]:
    return task()


def _alarms(cell: Cell, seed: int, number: int) -> list[Measured]:
    return [
        Measured(cell.name, detector, **asdict(alarms))
        for detector, alarms in false_alarms(cell, [seed, number]).items()
    ]


def _delays(regression: Regression, seed: int, repeats: int) -> list[Waited]:
    found: Mapping[str, list[float]] = delays(regression, seed, repeats)
    return [
        Waited(
            regression.name,
            detector,
            *(None if np.isinf(q) else float(q) for q in np.quantile(waited, [0.5, 0.9], method="higher")),
        )
        for detector, waited in found.items()
    ]


if __name__ == "__main__":
    sys.exit(main())

"""Everything, and benchmarks/RESULTS.md at the end; or in under a minute the ratios that matter.

    python -m benchmarks [--short]

Every figure runs in a process of its own, one after the other, all with one broker. One that fails is named
at the end and does not keep the others from running. `--short` leaves no results behind.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from benchmarks import report, short
from benchmarks.broker import broker
from benchmarks.figures.result import FOLDER

FIGURES = [
    "benchmarks.throughput",
    *(module for name, module in report.FIGURES.items() if name not in report.PRINTED),
]


def main() -> int:
    """Run what was asked for; the exit code is 1 where a figure could not be measured."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--short", action="store_true", help="under a minute, and only printed")
    if parser.parse_args().short:
        short.main()
        return 0
    for old in FOLDER.glob("*.*"):
        old.unlink()  # What fails now is not to be shown as it was.
    with one_broker():
        failed = [module for module in FIGURES if subprocess.call([sys.executable, "-m", module])]
    failed += [name for name in report.PRINTED if not keep_output(name)]
    report.main()
    for module in failed:
        print(f"failed: {module}", file=sys.stderr)
    return 1 if failed else 0


@contextmanager
def one_broker() -> Iterator[None]:
    """Let all programs that are started meanwhile use the same broker."""
    with broker() as to:
        os.environ["KAFKA_BOOTSTRAP_SERVERS"] = to.bootstrap_servers
        try:
            yield
        finally:
            del os.environ["KAFKA_BOOTSTRAP_SERVERS"]


def keep_output(name: str) -> bool:
    """Run a program that prints its figures, and keep what it says for the report."""
    print(f"benchmarks.{name}", flush=True)
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{name}"], check=False, stdout=subprocess.PIPE, text=True
    )
    if done.returncode == 0:
        FOLDER.mkdir(parents=True, exist_ok=True)
        (FOLDER / f"{name}.txt").write_text(done.stdout)
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())

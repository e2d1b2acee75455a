"""`make fuzz`: every target for FUZZ_SECONDS, from a new seed that is printed."""

import argparse
import logging
import os
import secrets
import sys
import tempfile
import warnings
from pathlib import Path

from tests.fuzz.running import execute, run
from tests.fuzz.targets import TARGETS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument(
        "--target", choices=[*TARGETS], action="append", help="only this one; may be repeated"
    )
    parser.add_argument("--seed", type=int, default=secrets.randbits(32))
    parser.add_argument("--execution", type=int, help="repeat one execution of a failure")
    parser.add_argument("--seconds", type=float, default=float(os.environ.get("FUZZ_SECONDS", "60")))
    asked = parser.parse_args()
    warnings.simplefilter("error")
    logging.disable()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in asked.target or TARGETS:
            try:
                if asked.execution is not None:
                    execute(name, Path(folder), asked.seed, asked.execution)
                    continue
                print(f"{name}: seed {asked.seed}", flush=True)
                done = run(name, Path(folder), seed=asked.seed, executions=sys.maxsize, seconds=asked.seconds)
                print(f"{name}: {done:,} executions in {asked.seconds:g} s, none failed", flush=True)
            except AssertionError as error:
                failed += 1
                print(error, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

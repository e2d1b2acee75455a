"""How many events a second the daemon takes, beside the limits of its client and beside what others build.

    python -m benchmarks.throughput [--rounds 3] [--events 500000] [--only NAME ...]

Every program reads the same topics from beginning to end in a process of its own, in turn, several rounds.
Programs that compute NDCG@10, MRR@10, CTR@10 and abandonment must come to the same result. The table is of
medians; the figures go to .cache/bench/throughput.json as well (with `--only`: throughput-some.json). Where
others use the machine, CPU microseconds say more than events a second.
"""

import argparse
import hashlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

import monitor
from benchmarks.broker import Loaded, broker, loaded
from benchmarks.figures.result import FOLDER
from benchmarks.measure import Failed, Spread, spread
from benchmarks.throughput.contenders import CONTENDERS, DAEMON, REFERENCE, Contender
from benchmarks.throughput.outcome import Outcome, differences
from benchmarks.workload import Workload, sized


@dataclass
class Figures:
    """All rounds of one program, or why there are none."""

    contender: Contender
    outcomes: list[Outcome] = field(default_factory=list)
    code: set[str] = field(default_factory=set)
    """Of the daemon: which versions of its source were run."""
    failure: str = ""

    def spread(self, name: str) -> Spread:
        """Summarise a property of the outcomes."""
        return spread(getattr(outcome, name) for outcome in self.outcomes)


def compete(
    contenders: Sequence[Contender], topics: Loaded, labels: list[str], rounds: int, timeout_seconds: float
) -> list[Figures]:
    """Run all programs in turn, in each round; one that failed is not run again."""
    figures = [Figures(contender) for contender in contenders]
    for number in range(rounds):
        for of in figures:
            if of.failure:
                continue
            try:
                outcome = of.contender.run(topics, labels, number, timeout_seconds)
            except Failed as failed:
                of.failure = str(failed)
                print(f"{of.contender.name}: {failed}", file=sys.stderr)
                continue
            of.outcomes.append(outcome)
            if of.contender == DAEMON:
                of.code.add(source_digest())
            print(f"round {number + 1}: {of.contender.name:30}{outcome}", file=sys.stderr)
    return figures


def source_digest() -> str:
    """Return a short hash of the daemon's source, which somebody may edit while it is measured."""
    files = sorted(Path(monitor.__file__).parent.rglob("*.py"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def compared(figures: Sequence[Figures]) -> str:
    """Say which results were compared."""
    names = [of.contender.name for of in figures if any(o.result is not None for o in of.outcomes)]
    if REFERENCE.name not in names:
        return "No results were compared: the afternoon version has none."
    found = "they differ" if disagreements(figures) else "they are equal"
    return f"The results of {', '.join(names)} were compared: {found}."


def disagreements(figures: Sequence[Figures]) -> list[str]:
    """Compare every result with the afternoon version's."""
    expected = next((o.result for f in figures if f.contender == REFERENCE for o in f.outcomes), None)
    return [
        f"{of.contender.name}: {difference}"
        for of in figures
        for outcome in of.outcomes
        if outcome.result is not None and expected is not None
        for difference in differences(outcome.result, expected)
    ]


def table(figures: Sequence[Figures]) -> Table:
    """Lay the figures out; the last two columns are the daemon's speed, and its CPU time, over the row's."""
    heads = ("program", "events/s", "spread", "CPU us/event", "spread", "peak MB", "daemon: speed x", "CPU x")
    shown = Table(*heads, box=box.SIMPLE_HEAD)
    for column in shown.columns[1:]:
        column.justify = "right"
    daemon = next((f for f in figures if f.contender == DAEMON and f.outcomes), None)
    for of in figures:
        if not of.outcomes:
            shown.add_row(of.contender.name, "failed")
            continue
        speed, cpu = of.spread("events_per_second"), of.spread("cpu_micros")
        ratios = (
            (
                f"{daemon.spread('events_per_second').median / speed.median:.2f}",
                f"{daemon.spread('cpu_micros').median / cpu.median:.2f}",
            )
            if daemon
            else ()
        )
        shown.add_row(
            of.contender.name,
            f"{speed.median:,.0f}",
            f"± {speed.percent:.0f} %",
            f"{cpu.median:.2f}",
            f"± {cpu.percent:.0f} %",
            f"{of.spread('peak_bytes').median / 1e6:.0f}",
            *ratios,
        )
    return shown


def as_json(figures: Sequence[Figures], workload: Workload) -> dict[str, Any]:
    """Return everything that was measured, for whoever writes it down."""
    return {
        "workload": {"events": workload.events, "depth": workload.depth, "seed": workload.seed},
        "cores": os.cpu_count(),
        "load_average": os.getloadavg(),
        "compared": compared(figures),
        "disagreements": disagreements(figures),
        "programs": [
            {
                "name": of.contender.name,
                "failure": of.failure,
                "code": sorted(of.code),
                "rounds": [asdict(outcome) for outcome in of.outcomes],
                **{
                    name: asdict(of.spread(name))
                    for name in ("events_per_second", "cpu_micros", "peak_bytes")
                    if of.outcomes
                },
            }
            for of in figures
        ],
    }


def main() -> int:
    """Print the table; the exit code is 1 where results differ."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--events", type=int, default=500_000)
    parser.add_argument("--only", nargs="+", default=[], help="programs whose names contain one of these")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for one run of a program")
    asked = parser.parse_args()
    workload, rounds = sized(asked.events), asked.rounds
    chosen = [
        c for c in CONTENDERS if not asked.only or any(word.lower() in c.name.lower() for word in asked.only)
    ]
    with broker() as running, loaded(running, workload) as topics:
        figures = compete(chosen, topics, list(workload.labels), rounds, asked.timeout)
    FOLDER.mkdir(parents=True, exist_ok=True)
    file = FOLDER / ("throughput-some.json" if asked.only else "throughput.json")
    file.write_text(json.dumps(as_json(figures, workload), indent=1))
    print(
        f"{workload.events:,} events, {rounds} rounds, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    )
    Console(width=120).print(table(figures))
    if any(len(of.code) > 1 for of in figures):
        print("NOTE: monitor/ was edited between the rounds: the daemon's figures are not of one program")
    print(compared(figures))
    wrong = disagreements(figures)
    for line in wrong:
        print("DIFFERS:", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

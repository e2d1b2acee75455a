"""The ratios that matter, in under a minute: small sizes, printed only.

    python -m benchmarks.short

They say whether a change made something much worse. `python -m benchmarks` has the figures to write down.
"""

from dataclasses import replace

from rich.console import Console

from benchmarks.broker import broker, loaded
from benchmarks.figures import memory, sweep
from benchmarks.figures.population import Shape
from benchmarks.throughput.__main__ import compared, compete, table
from benchmarks.throughput.contenders import CONTENDERS
from benchmarks.workload import LABELS, Workload

EVENTS = 100_000
"""Fewer are read in a second, and then the first and the last fetch count for more than the rest."""
TIMEOUT_SECONDS = 60.0
HELD = 100_000
"""With fewer, what a poll takes for a moment hides what an impression takes."""
BASE = Shape(10_000)
ENDS = sweep.Plan(
    {
        "depth": [BASE],
        "label_sets": [replace(BASE, label_sets=n) for n in (1, 500)],
        "open": [replace(BASE, open=n, horizon_seconds=400.0) for n in (1_000, 10_000)],
    },
    rounds=2,
)


def main() -> None:
    """Print throughput, memory and the ends of the sweep."""
    with broker() as to, loaded(to, Workload(EVENTS, queries=EVENTS // 100)) as topics:
        figures = compete([c for c in CONTENDERS if c.short], topics, list(LABELS), 1, TIMEOUT_SECONDS)
    Console(width=110).print(table(figures))
    print(compared(figures))
    bytes_each, _ = memory.each(Shape(HELD), Shape(HELD // 10))
    swept = sweep.measure(ENDS)
    sweep.show(swept)
    for goal in (memory.goal(bytes_each), *swept.goals):
        print(goal)


if __name__ == "__main__":
    main()

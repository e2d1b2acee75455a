"""CPU time of the engine for each event, against k, label sets, depth and open impressions.

    python -m benchmarks.figures.sweep [--quick]

More impressions are open where more come in a second (`open`, each for 400 seconds: with an hour 1,000 would
be one search in four seconds, and an event would cost what a window costs), or where each is held longer
(`open_at_one_rate`).

Every point has a process of its own that is filled once. Then all are asked in turn, round by round, for the
same number of events: what disturbs the machine for a while disturbs all points alike.
"""

import random
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from os import cpu_count

from benchmarks.figures.population import STRETCH, Shape
from benchmarks.figures.result import Goal, save
from benchmarks.figures.worker import Worker
from benchmarks.measure import Spread, spread

GOAL_PERCENT = 20.0
OPEN_SECONDS = 400.0
ATTRIBUTES = {"open_at_one_rate": "open"}
"""Where a dimension is not called as what varies in it."""
GOALS = {"open": "open impressions", "label_sets": "label sets"}


@dataclass(frozen=True)
class Plan:
    """The points of each dimension, and how often each is measured."""

    dimensions: Mapping[str, Sequence[Shape]]
    rounds: int


@dataclass(frozen=True)
class Point:
    """What an event costs at one value of one dimension."""

    dimension: str
    value: int
    micros: Spread
    events_per_second: float
    """Of one core that does nothing else."""
    open: int


@dataclass(frozen=True)
class Sweep:
    """All points."""

    ran: str
    goals: list[Goal]
    points: list[Point]


def full() -> Plan:
    """Every dimension from end to end."""
    base = Shape(100_000)
    return Plan(
        {
            # Deep enough for every k.
            "k": [replace(base, k=k, depth=100) for k in (1, 3, 10, 30, 100)],
            "label_sets": [replace(base, label_sets=n) for n in (1, 10, 50, 200, 500)],
            "depth": [replace(base, depth=n) for n in (5, 10, 20, 50, 100)],
            "open": [
                replace(base, open=n, horizon_seconds=OPEN_SECONDS)
                for n in (1_000, 10_000, 100_000, 1_000_000)
            ],
            "open_at_one_rate": [
                replace(base, open=n, horizon_seconds=n * 0.036) for n in (10_000, 100_000, 1_000_000)
            ],
        },
        rounds=9,
    )


def quick() -> Plan:
    """The ends, with fewer open impressions."""
    base = Shape(5_000)
    return Plan(
        {
            "k": [replace(base, k=k, depth=100) for k in (1, 100)],
            "label_sets": [replace(base, label_sets=n) for n in (1, 500)],
            "depth": [replace(base, depth=n) for n in (5, 100)],
            "open": [replace(base, open=n, horizon_seconds=OPEN_SECONDS) for n in (1_000, 20_000)],
        },
        rounds=3,
    )


def measure(plan: Plan) -> Sweep:
    """Fill all populations, then go round."""
    shapes = list(dict.fromkeys(shape for shapes in plan.dimensions.values() for shape in shapes))
    found: dict[Shape, list[float]] = {shape: [] for shape in shapes}
    with ExitStack() as stack:
        workers = {shape: stack.enter_context(Worker(shape)) for shape in shapes}
        with ThreadPoolExecutor(cpu_count()) as threads:
            list(threads.map(Worker.fill, workers.values()))
        order = random.Random(1)
        # The first round warms up.
        for number in range(plan.rounds + 1):
            for shape in order.sample(shapes, len(shapes)):
                micros = workers[shape].micros()
                if number:
                    found[shape].append(micros)
        held = {shape: worker.open() for shape, worker in workers.items()}
    points = [
        Point(name, getattr(shape, ATTRIBUTES.get(name, name)), micros, 1e6 / micros.median, held[shape])
        for name, shapes in plan.dimensions.items()
        for shape in shapes
        for micros in [spread(found[shape])]
    ]
    goals = [_goal(name, words, points) for name, words in GOALS.items()]
    base = plan.dimensions["depth"][0]
    ran = (
        f"{plan.rounds} rounds of {STRETCH:,} events; {base.open:,} open impressions"
        f" and {base.label_sets} label sets, where nothing else is said; depth 100 for k, else 20;"
        f" for `open` the last maturity is {OPEN_SECONDS:.0f} s; the engine alone"
    )
    return Sweep(ran, goals, points)


def _goal(name: str, words: str, points: Sequence[Point]) -> Goal:
    mine = [point for point in points if point.dimension == name]
    costs = [point.micros.median for point in mine]
    more = 100.0 * (max(costs) / min(costs) - 1.0)
    what = f"CPU of an event from {mine[0].value:,} to {mine[-1].value:,} {words}, dearest over cheapest"
    return Goal(what, GOAL_PERCENT, more, "% more")


def show(sweep: Sweep) -> None:
    """Print the points."""
    for p in sweep.points:
        print(
            f"{p.dimension:>12} {p.value:>9,} {p.micros.median:8.2f} us"
            f" ({p.micros.low:.2f} to {p.micros.high:.2f})  {p.events_per_second:>9,.0f}/s  {p.open:>9,} open"
        )


if __name__ == "__main__":
    swept = measure(quick() if "--quick" in sys.argv else full())
    show(swept)
    save("sweep", swept)

"""Resident bytes that an open impression of depth 20 takes, its keys uuids.

    python -m benchmarks.figures.memory [open impressions]

Each case runs in fresh processes, with all and with a tenth of its impressions: the difference is what an
impression takes, judgments, windows and the interpreter are in both. With the interactions that wait for
their deadline, and without any.
"""

import gc
import sys
from dataclasses import dataclass

from benchmarks.figures.population import Population, Shape
from benchmarks.figures.result import Goal, save
from benchmarks.measure import resident_bytes
from benchmarks.sizing import alone

GOAL_BYTES = 400.0


@dataclass(frozen=True)
class Held:
    """How many impressions were open, and the memory of the process then."""

    open: int
    resident_bytes: int


@dataclass(frozen=True)
class Memory:
    """Bytes for each open impression."""

    ran: str
    goals: list[Goal]
    bytes_each: float
    """With its share of the interactions that wait."""
    bytes_each_without_interactions: float
    held: list[Held]


def hold(shape: Shape) -> Held:
    """Fill an engine, and look."""
    population = Population(shape)
    population.fill()
    gc.collect()
    return Held(population.engine.open_impressions, resident_bytes())


def each(shape: Shape, fewer: Shape) -> tuple[float, list[Held]]:
    """Bytes for each impression that the one shape holds more than the other."""
    many, few = alone(hold, shape), alone(hold, fewer)
    return (many.resident_bytes - few.resident_bytes) / (many.open - few.open), [many, few]


def goal(bytes_each: float) -> Goal:
    return Goal("memory for each open impression of depth 20, keys uuids", GOAL_BYTES, bytes_each, "bytes")


def measure(count: int = 300_000) -> Memory:
    """Measure both cases."""
    whole, held = each(Shape(count), Shape(count // 10))
    bare, _ = each(Shape(count, interactions=False), Shape(count // 10, interactions=False))
    return Memory(
        f"{held[0].open:,} open impressions of depth 20 against {held[1].open:,}: {whole:.0f} bytes each,"
        f" {bare:.0f} without interactions",
        [goal(whole)],
        whole,
        bare,
        held,
    )


if __name__ == "__main__":
    save("memory", measure(int(sys.argv[1]) if len(sys.argv) > 1 else 300_000))

"""What a record costs in the engine, beside what it costs to decode it and to observe it the usual way.

    python benchmarks/engine.py [events]

All figures are CPU time of one run on one core, and the ratios are what carries over to another machine.
"""

import sys
import time
from collections.abc import Callable, Iterable

import msgspec
from prometheus_client import CollectorRegistry, Histogram

from monitor.config import Config
from monitor.pump import ease_garbage_collection
from monitor.simulate.scenarios import SCENARIOS
from monitor.simulate.stream import Simulation
from monitor.sources.jsonl import Line
from monitor.stream.engine import Engine
from monitor.stream.records import Chunk, Role, Start

CHUNK = 5000
START = 1_700_000_000.0


def lines(count: int) -> list[Line]:
    """Simulated events in memory, at 500 impressions a second of event time."""
    simulation = Simulation(SCENARIOS["steady"], seed=1, queries_per_second=500.0, start=START)
    return [
        Line(event.value, offset) for offset, event in zip(range(count), simulation.events(), strict=False)
    ]


def micros(work: Callable[[], object], count: int) -> float:
    """CPU microseconds of some work, for each of `count`."""
    before = time.process_time()
    work()
    return (time.process_time() - before) / count * 1e6


def run_engine(records: list[Line]) -> Engine:
    """All records through a fresh engine with the default configuration, to the last deadline."""
    engine = Engine(Config(), {"t": Role.EVENTS})
    engine.assign({("t", 0): Start(0, "", fresh=True, from_beginning=True)}, START)
    for first in range(0, len(records), CHUNK):
        engine.ingest(Chunk("t", 0, records[first : first + CHUNK]), START + 1e6)
        engine.advance(START + 1e6)
    engine.finish(START + 1e6)
    return engine


def observe(values: Iterable[float]) -> None:
    """One observation after the other, as an instrumented program makes them."""
    registry = CollectorRegistry()
    histogram = Histogram("score", "A score.", ["k", "maturity", "variant"], registry=registry)
    for value in values:
        histogram.labels("10", "1m", "control").observe(value)


def main(count: int) -> None:
    records = lines(count)
    ease_garbage_collection()
    decode = micros(lambda: [msgspec.json.decode(line.value) for line in records], count)
    engines: list[Engine] = []
    whole = micros(lambda: engines.append(run_engine(records)), count)
    snapshot = engines[0].snapshot()
    observations = int(snapshot.cells.counts.sum())
    one = micros(lambda: observe([0.5] * 100_000), 100_000)
    usual = observations * one / count
    print(f"{count:,} records, {observations:,} observations in {len(snapshot.columns)} columns")
    print(f"msgspec.json.decode, untyped          {decode:7.2f} us a record")
    print(f"engine: decode, join, score, windows  {whole:7.2f} us a record, {whole / decode:5.1f} x decoding")
    print(
        f"Histogram.labels().observe() alone    {usual:7.2f} us a record, {usual / whole:5.1f} x the engine"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000)

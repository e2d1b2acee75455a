"""What memory and CPU the engine takes, from rate, depth, interactions, judgments and maturities.

    python benchmarks/sizing.py [open impressions]

Each case runs in processes of its own, with all and with a tenth of its impressions: the difference is what
an impression takes, the rest is there anyway. docs/sizing.md makes requests for resources of the figures.
"""

import json
import os
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from typing import TypeVar

from monitor.config import Config, JudgmentsConfig
from monitor.pump import DECIDE_RECORDS, ease_garbage_collection
from monitor.sources.jsonl import Line
from monitor.stream.engine import Engine
from monitor.stream.records import Chunk, Role, Start

START = 1_700_000_000.0
HORIZON = 3600.0
QUERIES, JUDGED_EACH, DOCUMENTS = 2000, 20, 200_000
CHUNK = 1000
PAGE = os.sysconf("SC_PAGE_SIZE")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Case:
    """Traffic: how many impressions are open at a time, and what each is like."""

    open: int
    depth: int
    clicks: int = 0
    maturities: tuple[float, ...] = (60.0, HORIZON)
    chunk: int = CHUNK
    """Records that come in one fetch; few, where the traffic is low."""
    variants: int = 2


@dataclass(frozen=True)
class Cost:
    """What it took to hold so many: RSS at the end, CPU seconds on the way."""

    held: int
    size_bytes: float
    cpu_seconds: float

    def each(self, other: "Cost") -> tuple[float, float]:
        """Bytes and CPU microseconds for each that this one holds more than the other."""
        more = self.held - other.held
        cpu_micros = (self.cpu_seconds - other.cpu_seconds) * 1e6
        return (self.size_bytes - other.size_bytes) / more, cpu_micros / more


def rss() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * PAGE


def impressions(case: Case) -> Iterator[bytes]:
    """Two horizons of impressions, each followed by its clicks: the second half replaces the first."""
    rng = random.Random(1)
    for number in range(2 * case.open):
        ts = round(START + number * HORIZON / case.open, 3)
        ranked = [f"doc-{rng.randrange(DOCUMENTS)}" for _ in range(case.depth)]
        ident = f"5f0c-{number:012x}"
        yield json.dumps({
            "type": "impression", "impression_id": ident, "query_id": f"q-{rng.randrange(QUERIES)}", "ts": ts,
            "ranked": ranked, "labels": {"variant": f"v{number % case.variants}"}, "latency_seconds": 0.03,
        }).encode()  # fmt: skip
        for click in range(case.clicks):
            yield json.dumps({
                "type": "click", "impression_id": ident, "ts": ts + click / 1000, "key": ranked[click],
                "position": click + 1, "dwell_seconds": 12.5,
            }).encode()  # fmt: skip


def judgments(queries: int) -> Iterator[bytes]:
    rng = random.Random(2)
    for query in range(queries):
        for key in rng.sample(range(DOCUMENTS), JUDGED_EACH):
            yield json.dumps({
                "type": "judgment", "query_id": f"q-{query}", "key": f"doc-{key}", "ts": START,
                "grade": rng.randrange(4), "assessor": "anna",
            }).encode()  # fmt: skip


class Feeder:
    """An engine that reads one partition, and the CPU time it took without the making of events."""

    def __init__(self, config: Config) -> None:
        self.engine = Engine(config, {"t": Role.EVENTS})
        self.engine.assign({("t", 0): Start(0, "", fresh=True, from_beginning=True)}, START)
        self.cpu_seconds = 0.0
        self._offset = 0
        ease_garbage_collection()

    def feed(self, values: Iterator[bytes], size: int = CHUNK) -> None:
        undecided = 0
        while chunk := [Line(value, self._offset + i) for i, value in enumerate(islice(values, size))]:
            self._offset += len(chunk)
            undecided += len(chunk)
            before = time.process_time()
            self.engine.ingest(Chunk("t", 0, chunk), START + 1e6)
            if undecided >= DECIDE_RECORDS or len(chunk) < size:
                undecided = 0
                self.engine.advance(START + 1e6)
            self.cpu_seconds += time.process_time() - before


def measure(case: Case) -> Cost:
    feeder = Feeder(Config(judgments=JudgmentsConfig(maturities=case.maturities)))
    feeder.feed(judgments(QUERIES))
    feeder.cpu_seconds = 0.0
    feeder.feed(impressions(case), case.chunk)
    # Twice as many came as are open, each of them with its part of the work.
    return Cost(feeder.engine.snapshot().open_impressions, rss(), feeder.cpu_seconds / 2)


def measure_judgments(queries: int) -> Cost:
    feeder = Feeder(Config())
    feeder.feed(judgments(queries))
    return Cost(queries * JUDGED_EACH, rss(), feeder.cpu_seconds)


def alone(work: Callable[..., Result], *arguments: object) -> Result:
    """Run it in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(work, *arguments).result()


def row(words: Sequence[object]) -> str:
    return "".join(f"{word!s:>14}" for word in words)


def main(count: int) -> None:
    empty = alone(measure_judgments, 0)
    print(f"an engine with nothing in it: {empty.size_bytes / 1e6:.0f} MB")
    print(row(["depth", "clicks each", "maturities", "open", "bytes each", "CPU us each", "the rest, MB"]))
    for depth, clicks, maturities in (
        *((depth, 0, (60.0, HORIZON)) for depth in (10, 50, 100)),
        *((10, clicks, (60.0, HORIZON)) for clicks in (1, 3)),
        *((10, 0, several) for several in ((HORIZON,), (60.0, 600.0, HORIZON))),
    ):
        few, many = (alone(measure, Case(n, depth, clicks, maturities)) for n in (count // 10, count))
        size, cpu = many.each(few)
        rest = (few.size_bytes - size * few.held) / 1e6
        shown = [depth, clicks, len(maturities), f"{many.held:,}"]
        print(row([*shown, f"{size:.0f}", f"{cpu:.1f}", f"{rest:.0f}"]), flush=True)
    few, many = (alone(measure, Case(n, 10, 3, chunk=5)) for n in (count // 100, count // 10))
    _, cpu = many.each(few)
    print(f"with 3 clicks each, but only 5 records a fetch: {cpu:.0f} us each")
    few, many = (alone(measure, Case(count // 10, 10, variants=n)) for n in (2, 40))
    print(f"each further value of a label: {(many.size_bytes - few.size_bytes) / 38e6:.1f} MB")
    many = alone(measure_judgments, count // 4)
    size, cpu = many.each(empty)
    print(f"{many.held:,} judgments, {JUDGED_EACH} a query: {size:.0f} bytes and {cpu:.1f} us each")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60_000)

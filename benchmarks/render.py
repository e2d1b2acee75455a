"""What a scrape costs: CPU for each 10,000 lines, beside prometheus_client writing the same lines.

    python -m benchmarks.render [rounds]

A small one costs 2 ms whatever is in it. prometheus_client is given its families ready to be written, which
flatters it. Each figure is the least of several rounds; the ratios are what carries over to another machine.
"""

import gzip
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.openmetrics.exposition import generate_latest as generate_openmetrics
from prometheus_client.parser import text_string_to_metric_families

from benchmarks.figures.result import Goal, Printed, save
from monitor.config import Config
from monitor.export.collector import ProcessStatus
from monitor.export.render import Exposition
from monitor.stream.cells import Cells, Observer
from monitor.stream.engine import Engine
from monitor.stream.plan import Column, Plan
from monitor.stream.records import Role
from monitor.stream.snapshot import Snapshot
from monitor.stream.windows import Window
from monitor.web.packing import COMPRESSION

HISTOGRAMS = (50, 2500)
IMPRESSIONS = 1000
"""Of each label set; a thousand times as many are counted, for the length of the numbers."""
FORMATS = {"text": "", "OpenMetrics": "application/openmetrics-text; version=1.0.0"}
RNG = np.random.default_rng(1)


@dataclass(frozen=True, eq=False)
class Registered:
    """Families that are ready to be written, for a registry."""

    families: tuple[Metric, ...]

    def collect(self) -> Iterable[Metric]:
        return self.families


def observed(columns: tuple[Column, ...], label_sets: int) -> Cells:
    """Random scores of every column and label set."""
    cells, observer = Cells(columns), Observer(columns)
    for number in range(label_sets):
        cells.add(observer.observe(np.full(IMPRESSIONS, number), RNG.random((IMPRESSIONS, len(columns)))))
    return cells


def make_snapshot(histograms: int) -> Snapshot:
    """As many label sets as it takes, in the default configuration, with a closed window of each size."""
    engine = Engine(Config(), {"t": Role.EVENTS})
    plan: Plan = engine.plan
    label_sets = round(histograms / len({(column.family, column.labels) for column in plan.columns}))
    cells = observed(plan.columns, label_sets)
    cells.buckets *= 1000
    cells.sums *= 1000
    positions = RNG.integers(0, 1_000_000, (2, label_sets, plan.positions))
    return replace(
        engine.snapshot(),
        label_sets=[(f"variant-{number}",) for number in range(label_sets)],
        cells=cells,
        positions_shown=positions[0],
        positions_clicked=positions[1],
        windows=[
            Window(size, 0.0, stage, observed(stage.columns, label_sets), partial=False)
            for size in Config().windows
            for stage in plan.stages
        ],
    )


def cpu_seconds(work: Callable[[], object], rounds: int) -> float:
    """The least CPU time of some work, after one round to get warm."""
    work()
    took = []
    for _ in range(rounds):
        before = time.process_time()
        work()
        took.append(time.process_time() - before)
    return min(took)


def report(histograms: int, rounds: int) -> Printed:
    """Print what a scrape of so many histograms costs; the dearest of its formats is the goal's."""
    snapshot, exposition = make_snapshot(histograms), Exposition()
    status = ProcessStatus("1.2.3", "c0ffee")
    text = exposition.render(snapshot, status)[0].decode()
    registry = CollectorRegistry()
    registry.register(Registered(tuple(text_string_to_metric_families(text))))
    lines = text.count("\n")
    found = text.count('le="+Inf"')
    ran = f"{found:,} histograms, {lines:,} lines, {len(text) / 1e6:.2f} MB"
    print(ran)
    dearest = 0.0
    for name, accept in FORMATS.items():
        body = exposition.render(snapshot, status, accept)[0]
        packed = gzip.compress(body, COMPRESSION)
        plain = cpu_seconds(partial(exposition.render, snapshot, status, accept), rounds)
        theirs = cpu_seconds(partial(generate_openmetrics if accept else generate_latest, registry), rounds)
        packing = cpu_seconds(partial(gzip.compress, body, COMPRESSION), rounds)
        scale = 1e3 * 1e4 / lines
        print(
            f"  {name:11} {plain * 1e3:5.1f} ms, {plain * scale:4.1f} ms per 10,000 lines,"
            f" with gzip (to {len(packed) / len(body):.0%}) {(plain + packing) * scale:4.1f} ms;"
            f" prometheus_client {theirs * scale:4.1f} ms, {theirs / plain:4.1f} x,"
            f" with gzip {(theirs + packing) / (plain + packing):4.1f} x"
        )
        dearest = max(dearest, (plain + packing) * scale)
    return Printed(ran, [Goal("rendering a cut, with gzip, for 10,000 lines", 20.0, dearest, "ms of CPU")])


if __name__ == "__main__":
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    results = [report(wanted, times) for wanted in HISTOGRAMS]
    save("render", results[-1])

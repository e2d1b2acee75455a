"""An engine in this process, fed with a workload until as many impressions are open as are to be."""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice

from benchmarks.workload import EVENTS_EACH, LABELS, START, Record, Workload
from monitor.config import DEFAULT_METRICS, Config
from monitor.pump import ease_garbage_collection
from monitor.sources.jsonl import Line
from monitor.stream.engine import Engine
from monitor.stream.records import Chunk, Role, Start

SETTLING_SECONDS = 400.0
"""Of event time: then lateness and attribution have passed too, and as many are decided as come in."""
POLL = 1000
"""Records of a poll (monitor/sources/kafka/reader.py)."""
DECIDE = 5_000
"""Records after which a daemon that is busy decides what is due (monitor/pump.py)."""
STRETCH = 4 * DECIDE
"""Events that are measured at once."""
NOW = START + 9e7
NO_END = 1_000_000_000


@dataclass(frozen=True)
class Shape:
    """How many impressions are open, and what they are like."""

    open: int
    depth: int = 20
    label_sets: int = 10
    k: int | None = None
    """One cut-off for all metrics that have one; None: the default configuration."""
    interactions: bool = True
    horizon_seconds: float = 3600.0
    """The last maturity: so long an impression is open."""

    def workload(self) -> Workload:
        """Traffic of the rate at which so many are open."""
        # A label has at most 50 values.
        few = min(self.label_sets, 50)
        labels = {
            "variant": [f"v{i}" for i in range(few)],
            "region": [f"r{i}" for i in range(self.label_sets // few)],
        }
        rate = self.open / self.horizon_seconds * EVENTS_EACH
        return Workload(NO_END, depth=self.depth, rate=rate, labels=labels)

    def config(self) -> Config:
        names = DEFAULT_METRICS
        if self.k is not None:
            # ndcg@1 and ndcg@10 become one.
            stems = dict.fromkeys(name.partition("@")[::2] for name in names)
            names = list(dict.fromkeys(stem + (f"@{self.k}" if k else "") for stem, k in stems))
        limit = 2 * self.open + 4 * DECIDE
        limits = {"open": limit, "pending": limit}
        maturities = [60.0, self.horizon_seconds]
        return Config.model_validate({
            "metrics": names,
            "labels": list(LABELS),
            "limits": limits,
            "judgments": {"maturities": maturities},
        })  # fmt: skip


@dataclass
class Population:
    """Open impressions that come and go, and the CPU time that they took."""

    shape: Shape
    engine: Engine = field(init=False)
    _records: Iterator[Record] = field(init=False)
    _offsets: Counter[str] = field(init=False, default_factory=Counter)
    _ts: float = field(init=False, default=START)

    def __post_init__(self) -> None:
        roles = [Role.IMPRESSIONS, Role.INTERACTIONS] if self.shape.interactions else [Role.IMPRESSIONS]
        self.engine = Engine(self.shape.config(), {role.value: role for role in (*roles, Role.JUDGMENTS)})
        start = Start(0, "", fresh=True, from_beginning=True)
        self.engine.assign({(role.value, 0): start for role in roles}, NOW)
        wanted = {role.value for role in (*roles, Role.JUDGMENTS)}
        self._records = (record for record in self.shape.workload().records() if record.role in wanted)
        ease_garbage_collection()

    def fill(self) -> None:
        """Feed it until it is in its steady state."""
        while self._ts < START + self.shape.horizon_seconds + SETTLING_SECONDS:
            self._feed(self._polls())

    def stretch(self) -> float:
        """Feed STRETCH more events, and let it decide; CPU seconds of the engine alone for each."""
        deciding = [self._polls() for _ in range(STRETCH // DECIDE)]
        before = time.process_time()
        for polls in deciding:
            self._feed(polls)
        return (time.process_time() - before) / STRETCH

    def _polls(self) -> list[list[Chunk]]:
        return [self._poll() for _ in range(DECIDE // POLL)]

    def _poll(self) -> list[Chunk]:
        """The next records, by topic."""
        lines: dict[str, list[Line]] = {}
        for role, key, value, ts, _ in islice(self._records, POLL):
            self._ts = max(self._ts, ts)
            lines.setdefault(role, []).append(Line(value, self._offsets[role], key, int(ts * 1000)))
            self._offsets[role] += 1
        return [Chunk(role, 0, found) for role, found in lines.items()]

    def _feed(self, polls: list[list[Chunk]]) -> None:
        for poll in polls:
            for chunk in poll:
                self.engine.ingest(chunk, NOW)
        self.engine.advance(NOW)

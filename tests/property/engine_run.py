"""Run the engine over a stream, and read what it counted in the reference's words."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from math import inf
from typing import NamedTuple, TypeVar

import msgspec
import numpy as np

from monitor.config import Config
from monitor.durations import in_words
from monitor.metrics import Ints
from monitor.stream.cells import Cells
from monitor.stream.engine import Engine
from monitor.stream.plan import Column
from monitor.stream.records import Chunk, Role, Start
from tests.property.reference_model import Labels, Series, Settings, Window
from tests.property.reference_wire import Idle, Sent

Key = TypeVar("Key")


class Record(NamedTuple):
    """As much of a Kafka record as the engine reads."""

    value: bytes | None
    key: bytes | None
    timestamp: int
    offset: int
    timestamp_type: int | None = None


class Histogram(NamedTuple):
    """What the engine keeps of a series or a window; `up_to` is cumulated, by bound."""

    observations: int
    total: float
    squares: float
    up_to: Mapping[float, int]

    def plus(self, other: "Histogram") -> "Histogram":
        return Histogram(
            self.observations + other.observations,
            self.total + other.total,
            self.squares + other.squares,
            {bound: number + other.up_to[bound] for bound, number in self.up_to.items()},
        )


class Counted(NamedTuple):
    """Everything the engine has counted; what is 0 is left out."""

    records: int
    rejected: Mapping[str, int]
    fates: Mapping[tuple[str, str], int]
    judged: Mapping[tuple[float, str], int]
    open: int
    pending: int
    watermarks: Mapping[int, float]
    shown: Mapping[tuple[int, Labels], int]
    clicks: Mapping[tuple[int, Labels], int]
    series: Mapping[Series, Histogram]
    windows: Mapping[Window, Histogram]


class Run:
    """The engine over records in their order of arrival.

    `deferrals` says after which chunks nothing is decided, as the pump does it: by every second bit of these
    bytes. When they run out, what is due is decided after every chunk.
    """

    def __init__(self, settings: Settings, deferrals: bytes = b"") -> None:
        self.settings = settings
        self.decided_after: list[int] = []
        """How many records and pauses had been taken whenever what was due was decided."""
        self._defers = (bool(byte >> bit & 1) for byte in deferrals for bit in range(0, 8, 2))
        self._taken = 0
        self.maturities = {in_words(maturity): maturity for maturity in settings.maturities}
        self.roles = {topic: Role(role) for topic, role in settings.topics}
        self.engine = Engine(config_of(settings), self.roles)
        self._offsets: Counter[tuple[str, int]] = Counter()
        starts = {
            (topic, partition): Start(0, "", fresh=True, from_beginning=True)
            for topic, role in self.roles.items()
            if role is not Role.JUDGMENTS
            for partition in range(settings.partitions)
        }
        self.engine.assign(starts, settings.clock)

    def take(
        self, records: Iterable[Sent | Idle], now: float | None = None, *, catching_up: bool = False
    ) -> None:
        """Hand over what one poll brings: a chunk for each run of records of the same partition."""
        now = self.settings.clock if now is None else now
        for (topic, partition, _), group in groupby(records, key=lambda one: (*one[:2], type(one))):
            came = list(group)
            if chunk := [self._record(sent) for sent in came if isinstance(sent, Sent)]:
                self.engine.ingest(Chunk(topic, partition, chunk, catching_up), now)
                self._decide_or_defer(len(chunk))
            for pause in came:
                if isinstance(pause, Idle):
                    self.engine.idle({(topic, partition): pause.now})
                    self._decide_or_defer(1)

    def _decide_or_defer(self, taken: int) -> None:
        self._taken += taken
        if not next(self._defers, False):
            self.engine.advance(self.settings.clock)
            self.decided_after.append(self._taken)

    def finish(self) -> Counted:
        """The end of the file."""
        self.engine.finish(self.settings.clock)
        return self.counted()

    def _record(self, sent: Sent) -> Record:
        offset = self._offsets[sent.topic, sent.partition]
        self._offsets[sent.topic, sent.partition] += 1
        value = msgspec.json.encode(sent.value) if isinstance(sent.value, Mapping) else sent.value
        stamp = -1 if sent.timestamp is None else int(sent.timestamp * 1000)
        return Record(value, sent.key, stamp, offset, sent.timestamp_type)

    # What it counted.

    def counted(self) -> Counted:
        snapshot = self.engine.snapshot()
        judged = {(self.maturities[name], fate): n for (name, fate), n in snapshot.judged.items()}
        return Counted(
            records=sum(snapshot.records.values()),
            rejected=not_zero({reason.value: number for reason, number in snapshot.rejected.items()}),
            fates=not_zero(snapshot.fates),
            judged=not_zero(judged),
            open=snapshot.open_impressions,
            pending=snapshot.pending_interactions,
            watermarks=snapshot.watermarks,
            shown=self._positions(snapshot.positions_shown),
            clicks=self._positions(snapshot.positions_clicked),
            series=added_up(self._histograms(snapshot.columns, snapshot.cells)),
            windows=added_up(
                (Window(window.size, window.start, series), histogram)
                for window in self.engine.windows()
                for series, histogram in self._histograms(window.stage.columns, window.cells)
            ),
        )

    def _positions(self, counts: Ints) -> dict[tuple[int, Labels], int]:
        at = ((int(row), int(place)) for row, place in np.argwhere(counts))
        return {(place + 1, self._labels(row)): int(counts[row, place]) for row, place in at}

    def _labels(self, row: int) -> Labels:
        return tuple(zip(self.settings.labels, self.engine.labels.values[row], strict=True))

    def _histograms(self, columns: Sequence[Column], cells: Cells) -> Iterator[tuple[Series, Histogram]]:
        counts = cells.counts
        for row, number in np.argwhere(counts).tolist():
            column, cell = columns[number], (row, number)
            bounds = (*column.measure.metric.buckets, inf)
            up_to = dict(zip(bounds, cells.buckets[cell].cumsum().tolist(), strict=False))
            histogram = Histogram(
                int(counts[cell]), float(cells.sums[cell]), float(cells.squares[cell]), up_to
            )
            yield self._series(column, row), histogram

    def _series(self, column: Column, row: int) -> Series:
        labels = dict(column.labels)
        k = labels.get("k", "all")
        maturity = self.maturities.get(labels.get("maturity", ""))
        return Series(column.family, None if k == "all" else int(k), maturity, self._labels(row))


def not_zero(counts: Mapping[Key, int]) -> dict[Key, int]:
    return {key: number for key, number in counts.items() if number}


def added_up(found: Iterable[tuple[Key, Histogram]]) -> dict[Key, Histogram]:
    """Several with the same key are one: label delays are observed at the first maturity that has any."""
    total: dict[Key, Histogram] = {}
    for key, histogram in found:
        total[key] = total[key].plus(histogram) if key in total else histogram
    return total


@cache
def config_of(settings: Settings) -> Config:
    topics: dict[str, list[str]] = {}
    for topic, role in settings.topics:
        topics.setdefault(role, []).append(topic)
    return Config.model_validate(
        {
            "kafka": {"topics": topics},
            "attribution_seconds": settings.attribution,
            "lateness_seconds": settings.lateness,
            "windows": settings.windows,
            "labels": settings.labels,
            "metrics": settings.metrics,
            "judgments": {
                "maturities": settings.maturities,
                "combine": settings.combine,
                "unjudged": settings.unjudged,
            },
        }
    )

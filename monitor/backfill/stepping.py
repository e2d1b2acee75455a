"""Stepping: the engine over events of the past, event time as its clock, and a snapshot at every step."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from monitor.backfill.event_files import LineBatch
from monitor.backfill.grid import Grid
from monitor.config import Config
from monitor.events import Judgment, Rejected, decode
from monitor.metrics import Floats
from monitor.stream.engine import Engine
from monitor.stream.records import Chunk, Role, Start
from monitor.stream.snapshot import Snapshot

SILENCE_SECONDS = 86400.0
"""After a day in which nothing comes and nothing is left to decide, steps are left out: one event of 1970
would cost millions of them."""


class Step(NamedTuple):
    """What was counted when the clock stood at a time of the grid."""

    at: int
    snapshot: Snapshot


class Stepper:
    """Feeds an engine and stops the clock at every time of the grid.

    The clock is the event time that was reached. So at time `T` all records are read that move it no further
    than `T`, and the watermark has passed `T - lateness_seconds`: an impression that is decided after a delay
    is counted at the first time of the grid that is not before `ts + delay + lateness_seconds`.
    """

    def __init__(self, config: Config, grid: Grid, since: float = -math.inf) -> None:
        """Steps may begin later than `since`, and do not begin long before."""
        topics = config.kafka.topics
        # A file has every type of event; its records count for the topic that has the impressions.
        self._topic = (topics.events or topics.impressions)[0]
        # Nobody asks for windows.
        self.engine = Engine(config.model_copy(update={"windows": ()}), {self._topic: Role.EVENTS})
        self._grid = grid
        self._lateness = config.lateness_seconds
        plan = self.engine.plan
        self.needed_from = since - plan.last_delay - plan.attribution - 2 * self._lateness - grid.step
        """Events before this have their fate before `since`, whatever their order; judgments count."""
        self._at: int | None = None
        """Where the clock stops next; None before the first event."""
        self._newest = -math.inf
        """The largest `ts` that came."""
        start = Start(0, "", fresh=True, from_beginning=True)
        self.engine.assign({(self._topic, 0): start}, now=0.0)
        self._nothing = self.engine.snapshot()

    @property
    def is_over(self) -> bool:
        """Whether event time has passed the end of the grid: what comes then is ignored."""
        return self._at is not None and self._at > self._grid.until

    def take(self, batch: LineBatch) -> Iterator[Step]:
        """Take events in; the steps that end before the last of them."""
        ts, row = batch.ts.copy(), 0
        if self._at is None and (begin := self._begin(batch)) is not None:
            self._at = begin
            yield Step(begin - self._grid.step, self._nothing)
        while row < len(ts) and not self.is_over:
            end = None if self._at is None else self._next_event(batch, ts, row, self._at)
            self._ingest(batch.only(slice(row, end)))
            if end is None:
                return
            yield from self._stop()
            self._skip_silence(ts[end])
            row = end

    def finish(self, *, goes_on: bool = False) -> Iterator[Step]:
        """The files have ended: the steps until nothing is left to decide, or the grid ends.

        Where it `goes_on`, more events may follow after the grid: a silence has its steps.
        """
        if self._at is not None:
            silence = SILENCE_SECONDS if goes_on else 0.0
            last = min(self._grid.at_or_after(self._decided_at + silence), self._grid.until)
            while self._at <= last:
                yield from self._stop()

    @property
    def _decided_at(self) -> float:
        """When all is decided that has come."""
        return self._newest + self.engine.plan.last_delay + self._lateness

    def _begin(self, batch: LineBatch) -> int | None:
        """The first step. Without a `since`, judgments alone begin nothing: they may be years old."""
        begins_nothing = Rejected | Judgment if math.isinf(self.needed_from) else Rejected
        for line, ts in zip(batch.lines, batch.ts.tolist(), strict=True):
            if not isinstance(decode(line.value, math.inf), begins_nothing):
                # Event time may be ahead already, by a judgment.
                return self._grid.at_or_after(max(ts, self._newest, self.needed_from))
        return None

    @staticmethod
    def _next_event(batch: LineBatch, ts: Floats, first: int, at: float) -> int | None:
        """The first row whose event moves the clock beyond a time; what is rejected moves nothing."""
        for row in (np.flatnonzero(ts[first:] > at) + first).tolist():
            if not isinstance(decode(batch.lines[row].value, math.inf), Rejected):
                return row
            ts[row] = math.nan
        return None

    def _skip_silence(self, next_ts: float) -> None:
        """Leave out what is left of a long silence, but for the step before the next event."""
        assert self._at is not None
        if self._at > self._decided_at + SILENCE_SECONDS:
            self._at = max(self._at, self._grid.at_or_after(next_ts) - self._grid.step)

    def _ingest(self, batch: LineBatch) -> None:
        if batch.lines:
            self._newest = max(self._newest, float(np.fmax.reduce(batch.ts, initial=-math.inf)))
            # Before the first step there is no clock, and nothing but judgments and what is rejected.
            now = self._newest if self._at is None else self._at
            self.engine.ingest(Chunk(self._topic, 0, batch.lines), now=now)

    def _stop(self) -> Iterator[Step]:
        """Let the clock come to the time at which it stops next, and decide what is due by then."""
        assert self._at is not None
        # A deadline has passed when the watermark is beyond it.
        self.engine.idle({(self._topic, 0): math.nextafter(self._at, math.inf)})
        self.engine.advance(now=self._at)
        yield Step(self._at, self.engine.snapshot())
        self._at += self._grid.step

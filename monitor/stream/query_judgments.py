"""The judgments of one query: found by key and assessor, and read as they stood at a deadline."""

import math
from bisect import bisect_left, bisect_right

import numpy as np

from monitor.metrics import Bools, Floats, Ints
from monitor.stream.grade_timeline import GradeTimeline
from monitor.stream.query_grades import ROW, Combine, Qrels, Row, Rows, is_last_of_pair, qrels_at

FEW = 64
"""So many rows are searched one by one; an index would cost more."""
MAX_UNORDERED = 1 << 16
REORDERED_SHARE = 1 / 100
"""From this share of unordered rows on, all rows are sorted; fewer are inserted."""
TIMELINE_FROM = 256
"""Rows from which on a second deadline is read by a timeline."""
QUERY_BYTES, ROW_BYTES, INDEXED_BYTES = 500, ROW.itemsize, 250
"""What a query takes by itself, for each row that there is room for, and for each row that is indexed."""


class QueryJudgments:
    """The judgments of one query, with replaced ones that a deadline may still ask for.

    The first `ordered` rows are in the order of key and assessor, and of one pair in the order in which they
    came; those behind came since, and are found by an index.
    """

    __slots__ = ("_index", "_timeline", "live", "ordered", "rows", "since", "size", "until", "view")

    def __init__(self) -> None:
        self.rows: Rows = np.empty(4, dtype=ROW)
        self.size = 0
        self.live = 0
        """How many of them hold now: neither replaced nor withdrawn."""
        self.ordered = 0
        self._index: dict[tuple[int, int], int] = {}
        """The newest row of a key and assessor, where it is not among the ordered."""
        self._timeline: GradeTimeline | None = None
        self.view: Qrels | None = None
        self.since, self.until = math.inf, -math.inf
        """The deadlines that the cached view is good for: since <= deadline < until."""

    @property
    def size_bytes(self) -> int:
        """About what it takes in memory, without the cached view."""
        return QUERY_BYTES + ROW_BYTES * len(self.rows) + INDEXED_BYTES * len(self._index)

    def newest(self, key: int, assessor: int) -> Row | None:
        """The judgment of a key by an assessor that came last."""
        found: Row | None = None
        if (at := self._newest(key, assessor)) is not None:
            found = self.rows[at].item()
        return found

    def _newest(self, key: int, assessor: int) -> int | None:
        if self.size <= FEW:
            of_key = (self.rows["key"][: self.size] == key).nonzero()[0]
            of_pair = of_key[self.rows["assessor"][of_key] == assessor] if len(of_key) else of_key
            return int(of_pair[-1]) if len(of_pair) else None
        if (at := self._index.get((key, assessor))) is not None:
            return at
        begin, end = self._of_pair(key, assessor)
        return end - 1 if begin < end else None

    def _of_pair(self, key: int, assessor: int) -> tuple[int, int]:
        """Where the rows of a pair begin and end among the ordered, or would."""
        keys, assessors = self.rows["key"], self.rows["assessor"]
        begin = bisect_left(keys, key, 0, self.ordered)
        end = bisect_right(keys, key, begin, self.ordered)
        begin = bisect_left(assessors, assessor, begin, end)
        return begin, bisect_right(assessors, assessor, begin, end)

    def append(self, row: Row, horizon: float) -> None:
        """Take one more; no deadline before the horizon will be asked for."""
        if self.size >= FEW and self.size - self.ordered >= min(self.ordered // 4 + FEW, MAX_UNORDERED):
            self.compact(horizon)
        if self.size == len(self.rows):
            room = 4
            if self.live < self.size:
                self.compact(horizon)
                room = 16  # what is regraded once may be regraded often
            grown = np.empty(max(room, self.size + self.size // 2 + 1), dtype=ROW)
            grown[: self.size] = self.rows[: self.size]
            self.rows = grown
        self.rows[self.size] = row
        if self.size >= FEW:
            if not self._index and self.ordered < self.size:
                self._index = {pair: at for at, pair in self._unordered_pairs()}
            self._index[row[0], row[1]] = self.size
        self.size += 1
        self._timeline = None
        if row[3] > self.since:
            # Deadlines before its time do not see it: what was read of them stays true.
            self.until = min(self.until, row[3])
        else:
            self.forget_view()

    def _unordered_pairs(self) -> list[tuple[int, tuple[int, int]]]:
        pairs = self.rows[["key", "assessor"]][self.ordered : self.size].tolist()
        return list(enumerate(pairs, self.ordered))

    def compact(self, horizon: float) -> None:
        """Put the rows in order, and drop those that no deadline from the horizon on can see."""
        rows = self._in_order()
        needed = _is_needed(rows, horizon)
        self.rows = rows if needed.all() else rows[needed]
        self.size = self.ordered = len(self.rows)
        self._index = {}
        self._timeline = None

    def _in_order(self) -> Rows:
        rows, unordered = self.rows[: self.size], self.size - self.ordered
        if not unordered:
            return rows
        if unordered > self.size * REORDERED_SHARE:
            return rows[np.lexsort((rows["assessor"], rows["key"]))]
        behind = rows[self.ordered :]
        behind = behind[np.lexsort((behind["assessor"], behind["key"]))]
        pairs = behind[["key", "assessor"]].tolist()
        return np.insert(rows[: self.ordered], [self._of_pair(*pair)[1] for pair in pairs], behind)

    def forget_view(self) -> None:
        """Drop what was read before."""
        self.view, self.since, self.until = None, math.inf, -math.inf
        self._timeline = None

    def look(self, deadline: float, combine: Combine) -> None:
        """Let the view be that of a deadline."""
        if self.ordered < self.size:
            # Others may ask for earlier deadlines while this batch is decided: no history goes now.
            self.compact(-math.inf)
        if self._timeline is None and self._was_read_before(deadline) and self.size >= TIMELINE_FROM:
            self._timeline = GradeTimeline(self.rows[: self.size], self.since, combine)
        if self._timeline is not None and self._timeline.deadline <= deadline:
            self.view = self._timeline.advance(deadline)
            self.since, self.until = self._timeline.since, self._timeline.until
            return
        rows = self.rows[: self.size]
        known = rows["ts"] <= deadline
        self.since = rows["ts"][known].max(initial=-math.inf)
        self.until = rows["ts"][~known].min(initial=math.inf)
        self.view = qrels_at(rows, deadline, combine)

    def _was_read_before(self, deadline: float) -> bool:
        """Whether an earlier deadline was read, and nothing has changed since."""
        return self.since < math.inf and self.until <= deadline

    def end_timeline(self) -> None:
        """Drop what only helps to read one deadline after the other."""
        self._timeline = None


def _is_needed(rows: Rows, horizon: float) -> Bools:
    """Which rows some deadline from the horizon on can see; they are in order."""
    hidden_from = _hidden_from(rows)
    seen = (rows["ts"] < hidden_from) & ((hidden_from > horizon) | (hidden_from == math.inf))
    withdrawn = np.isnan(rows["grade"]) & (rows["ts"] <= horizon)
    needed: Bools = seen & ~withdrawn
    return needed


def _hidden_from(rows: Rows) -> Floats:
    """From which deadline on each row is replaced: the earliest time of those of its pair that came later."""
    hidden_from: Floats = np.full(len(rows), math.inf)
    last = is_last_of_pair(rows)
    if last.all():
        return hidden_from
    times = rows["ts"]
    # Ranks of time, those of a later pair above all of this one: so the least of all behind is of this pair.
    ranks: Ints = np.empty(len(rows), dtype=np.int64)
    order = np.argsort(times, kind="stable")
    ranks[order] = np.arange(len(rows))
    pairs: Ints = np.cumsum(last) - last
    least_behind = np.minimum.accumulate((ranks + pairs * len(rows))[::-1])[::-1]
    replaced = (~last).nonzero()[0]
    hidden_from[replaced] = times[order[least_behind[replaced + 1] - pairs[replaced] * len(rows)]]
    return hidden_from

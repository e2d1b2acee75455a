"""Reference for the engine: docs/semantics.md as plain, slow Python over the full list of records.

It shares no code with monitor. Next to nothing is kept up to date: each question goes through the lists.
"""

from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from math import inf

from tests.property.reference_metrics import (
    ALWAYS_CLICKED,
    CLICKED,
    JUDGED,
    Grade,
    click_score,
    combine,
    family,
    judged_score,
    split,
)
from tests.property.reference_model import (
    Arrived,
    Impression,
    Interaction,
    Labels,
    Series,
    Settings,
    Window,
    behaviour,
    rank_of,
    says_of,
)
from tests.property.reference_wire import Event, Idle, Rejection, Sent, read


class Reference:
    """What must be counted after some records, in their order of arrival.

    `decided_after` says after how many records what was due was decided; by default after each.
    """

    def __init__(
        self,
        settings: Settings,
        records: Iterable[Sent | Idle],
        *,
        finished: bool = True,
        decided_after: Iterable[int] | None = None,
    ) -> None:
        self.settings = settings
        self.finished = finished
        records = list(records)
        asked = list(range(len(records) + 1) if decided_after is None else decided_after)
        self.closed_after = asked
        """Windows close only then; impressions are decided then, and before judgments that come too late."""
        self.decided_after = list(asked)
        self.fates: Counter[tuple[str, str]] = Counter()
        self.rejected: Counter[str] = Counter()
        self.judged: Counter[tuple[float, str]] = Counter()
        self.observed: dict[Series, list[float]] = defaultdict(list)
        self.in_windows: dict[Window, list[float]] = defaultdict(list)
        self.shown: Counter[tuple[int, Labels]] = Counter()
        self.clicks: Counter[tuple[int, Labels]] = Counter()
        self.open = 0
        self.pending = 0

        self.watermarks: dict[int, list[float]] = {task: [-inf] for task in range(settings.partitions)}
        """Of each task, before the first record and after each."""
        self.impressions: list[Impression] = []
        self.interactions: list[Interaction] = []
        self.judgments: list[Arrived] = []
        self._read(records)
        self._settle()

    # The watermark.

    def _read(self, records: Sequence[Sent | Idle]) -> None:
        roles = dict(self.settings.topics)
        reached = {
            (topic, task): -inf
            for topic, role in self.settings.topics
            for task in self.watermarks
            if role != "judgments"
        }
        for place, sent in enumerate(records):
            here, until = (sent.topic, sent.partition), -inf
            if isinstance(sent, Idle):
                until = sent.now
            else:
                try:
                    event = read(sent, roles[sent.topic], self.settings.clock)
                except Rejection as rejection:
                    self.rejected[str(rejection)] += 1
                else:
                    if event["type"] == "judgment" and here in reached:
                        self._decide_before_late_judgment(Arrived(place, sent.partition, event))
                    self._take(Arrived(place, sent.partition, event))
                    until = event["ts"]
            if here in reached:
                reached[here] = max(reached[here], until)
            for task, course in self.watermarks.items():
                least = min(ts for (_, partition), ts in reached.items() if partition == task)
                course.append(max(course[-1], least - self.settings.lateness))

    def _before(self, arrived: Arrived) -> float:
        """The watermark of the record's task before the record moves it."""
        return self.watermarks[arrived.task][arrived.place]

    def _decide_before_late_judgment(self, new: Arrived) -> None:
        """A judgment among the events that comes after its time: what has passed is decided without it."""
        if self._before(new) > new.event["ts"]:
            insort(self.decided_after, new.place)

    def _decided_at(self, task: int, deadline: float) -> int | None:
        """How many records had come when the deadline was decided; None while it is not."""
        tasks = list(self.watermarks) if "events" in dict(self.settings.topics).values() else [task]
        return self._after(deadline, tasks, self.decided_after)

    def _after(self, deadline: float, tasks: Sequence[int], moments: Sequence[int]) -> int | None:
        """The first of some moments, as numbers of records, at which all tasks have passed the deadline."""
        records = len(self.watermarks[0]) - 1
        for count in range(records + 1):
            if min(self.watermarks[task][count] for task in tasks) > deadline:
                first = bisect_left(moments, count)
                if first < len(moments):
                    return moments[first]
        return records if self.finished else None

    # Fates on arrival.

    def _take(self, arrived: Arrived) -> None:
        match arrived.event["type"]:
            case "impression":
                self._take_impression(Impression(arrived))
            case "judgment":
                self._take_judgment(arrived)
            case _:
                self._take_interaction(Interaction(arrived))

    def _take_impression(self, new: Impression) -> None:
        watermark = self._before(new.arrived)
        if any(old.id == new.id and self._held(old, watermark) for old in self.impressions):
            self.fates["impression", "duplicate"] += 1
        elif new.ts < watermark:
            self.fates["impression", "late"] += 1
        else:
            self.impressions.append(new)
            for one in self._waiting(new.arrived):
                if one.identity[:2] == new.id and abs(one.ts - new.ts) <= self.settings.attribution:
                    one.taken = True
                    new.interactions.append(one)

    def _held(self, impression: Impression, watermark: float) -> bool:
        return watermark <= impression.ts + max(self.settings.delays)

    def _waiting(self, arrived: Arrived) -> list[Interaction]:
        """The interactions of the task that wait for an impression when this record comes."""
        return [
            one
            for one in self.interactions
            if one.fate is None
            and not one.taken
            and one.arrived.task == arrived.task
            and self._before(arrived) <= one.ts + self.settings.attribution
        ]

    def _take_interaction(self, new: Interaction) -> None:
        self.interactions.append(new)
        watermark, attribution = self._before(new.arrived), self.settings.attribution
        for impression in self.impressions:
            if (
                impression.id == new.identity[:2]
                and self._held(impression, watermark)
                and watermark <= impression.ts + attribution
                and abs(new.ts - impression.ts) <= attribution
            ):
                if any(old.identity == new.identity for old in impression.interactions):
                    new.fate = "duplicate"
                else:
                    new.taken = True
                    impression.interactions.append(new)
                return
        shown = [one.ts for one in self.impressions if one.id == new.identity[:2]]
        has_missed_it = bool(shown) and abs(new.ts - shown[-1]) <= attribution
        if has_missed_it or watermark > new.ts + attribution:
            new.fate = "unmatched"
        elif any(old.identity == new.identity for old in self._waiting(new.arrived) if old is not new):
            new.fate = "duplicate"

    def _take_judgment(self, new: Arrived) -> None:
        earlier = [old for old in self.judgments if says_of(old) == says_of(new)]
        before, after = earlier[-1].event if earlier else {"grade": None}, new.event
        if before["grade"] is None:
            fate = "duplicate" if after["grade"] is None else "applied"
        elif after["grade"] is None:
            fate = "withdrawn"
        elif (
            after["grade"] == before["grade"]
            and after.get("target") == before.get("target")
            and after["ts"] >= before["ts"]
        ):
            fate = "duplicate"
        else:
            fate = "regraded"
        self.fates["judgment", fate] += 1
        if fate != "duplicate":
            self.judgments.append(new)

    # Deadlines.

    def _settle(self) -> None:
        for impression in self.impressions:
            self._decide_impression(impression)
            self._decide_clicks(impression)
            self._decide_judged(impression)
            if self._decided_at(impression.arrived.task, impression.ts + max(self.settings.delays)) is None:
                self.open += 1
            else:
                self.fates["impression", "settled"] += 1
        for one in self.interactions:
            if one.fate is None and not one.taken:
                passed = self._decided_at(one.arrived.task, one.ts + self.settings.attribution)
                one.fate = None if passed is None else "unmatched"
            if one.fate is None:
                self.pending += 1
            else:
                self.fates[one.arrived.event["type"], one.fate] += 1

    def _decide_impression(self, impression: Impression) -> None:
        if self._decided_at(impression.arrived.task, impression.ts) is None:
            return
        shown = len(impression.ranked)
        self._observe(impression, "results", None, 0, shown)
        self._observe(impression, "empty", None, 0, 1 if shown == 0 else 0)
        self._observe(impression, "latency", None, 0, impression.arrived.event.get("latency_seconds"))

    def _decide_clicks(self, impression: Impression) -> None:
        attribution = self.settings.attribution
        if self._decided_at(impression.arrived.task, impression.ts + attribution) is None:
            return
        for one in impression.interactions:
            is_outcome = one.arrived.event["type"] == "outcome"
            one.fate = "joined" if is_outcome or rank_of(one.arrived.event, impression) else "unmatched"
        did = behaviour(impression)
        for name in [*self.settings.metrics, *ALWAYS_CLICKED]:
            metric, k = split(name)
            if metric in CLICKED or metric in ALWAYS_CLICKED:
                self._observe(impression, metric, k, attribution, click_score(metric, k, did))
        for rank in range(1, did.shown + 1):
            self.shown[rank, self._labels(impression)] += 1
            self.clicks[rank, self._labels(impression)] += rank in did.clicked

    def _decide_judged(self, impression: Impression) -> None:
        judged_before = False
        for maturity in sorted(self.settings.maturities):
            deadline = impression.ts + maturity
            count = self._decided_at(impression.arrived.task, deadline)
            if count is None:
                continue
            table = self._table(impression.arrived.event["query_id"], deadline, count)
            self.judged[maturity, "judged" if table else "unjudged"] += 1
            if not table:
                continue
            if not judged_before:
                delay = min(given["ts"] for grades in table.values() for given in grades) - impression.ts
                self._observe(impression, "label_delay", None, maturity, max(delay, 0))
            judged_before = True
            grades = {
                key: combine([given["grade"] for given in grades], self.settings.combine)
                for key, grades in table.items()
            }
            ranking: list[Grade] = [grades.get(key) for key in impression.ranked]
            condensed = [grade for grade in ranking if grade is not None]
            for name in self.settings.metrics:
                metric, k = split(name)
                if metric in JUDGED:
                    condense = self.settings.unjudged == "condensed" and metric != "judged"
                    score = judged_score(
                        metric, k, list(condensed) if condense else ranking, list(grades.values())
                    )
                    self._observe(impression, metric, k, maturity, score)

    def _table(self, query: str, deadline: float, count: int) -> dict[str, list[Event]]:
        """The judgments of a query that hold at a deadline, by key, of the first so many records."""
        newest = {
            says_of(one): one.event
            for one in self.judgments
            if one.place < count and one.event["ts"] <= deadline and one.event["query_id"] == query
        }
        table: dict[str, list[Event]] = defaultdict(list)
        for event in newest.values():
            if event["grade"] is not None:
                table[event["key"]].append(event)
        return table

    # Series and windows.

    def _labels(self, impression: Impression) -> Labels:
        sent = impression.arrived.event.get("labels") or {}
        return tuple((name, sent.get(name, "unknown")) for name in self.settings.labels)

    def _observe(
        self, impression: Impression, metric: str, k: int | None, delay: float, score: float | None
    ) -> None:
        if score is None:
            return
        maturity = delay if metric in JUDGED else None
        series = Series(family(metric), k, maturity, self._labels(impression))
        self.observed[series].append(score)
        for size in self.settings.windows:
            start = impression.ts // size * size
            if self._after(start + size + delay, list(self.watermarks), self.closed_after) is not None:
                self.in_windows[Window(size, start, series)].append(score)

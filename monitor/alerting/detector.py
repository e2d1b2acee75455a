"""The detector: what each label set's quality usually is, what it loses against that, and how sure that is.

Each rule records one series for all watched metrics at once (label `metric`), for the job as a whole and for
each value of the configured label. Values are turned so that less is worse: of abandonment and empty results
the rules watch the share without. The first series are recorded by `quality_inputs.py`; everything here reads
what was recorded before. docs/alerting.md explains the method.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from monitor.alerting.detection_values import LeftOut
from monitor.alerting.evaluation_grid import Function
from monitor.alerting.expressions import (
    Call,
    CountOfJob,
    Except,
    Expression,
    Labelled,
    OfBaseline,
    OfJob,
    OfMetric,
    OfOthers,
    Range,
    Series,
    Unlabelled,
    larger,
    smaller,
    total,
)
from monitor.alerting.values import Values
from monitor.durations import in_words

PREFIX = "vector_quality:"
MAX_SURPRISE = 16.0
"""What is learned from the past takes a single change for four standard errors at most."""
MIN_VARIANCE = 1e-9
MIN_EVENTS = 30.0
"""Of a share, this many impressions of a window must be bad ones: a few can all be of one user."""
STILL_WORSE = 2.0
"""A window reports a change while its last quarter still has half of it: else the trouble is over."""
WEEKDAY_ERRORS = 0.5
"""Standard errors that the weekday factor allows for chance in the week before."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What is recorded, under which name and with which labels of its own."""

    name: str
    expression: Expression
    labels: Mapping[str, str] = field(default_factory=dict)
    slow: bool = False
    """Whether the slow interval is often enough."""

    @property
    def record(self) -> str:
        return PREFIX + self.name

    @property
    def key(self) -> str:
        """What tells it apart from every other rule."""
        return ":".join([self.record, *self.labels.values()])


class Detector:
    """The recording rules for one set of values, in the order in which they build on each other."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.settings = values.detection
        self.interval = values.evaluation_interval

    def rules(self) -> list[Rule]:
        """All of them; they begin where the inputs have been recorded."""
        windows = self.settings.windows
        rules = [*self._sums(), self._variance_of_one(), *self._usual(), *self._losses(), *self._noise()]
        rules += [rule for window in windows for rule in self._changes(window)]
        rules += self._learned()
        rules += [self._history_zscore(window) for window in windows]
        if self.values.label is not None:
            for window in self.settings.baseline_windows:
                rules += self._against_baseline(window)
        return [*rules, *self._bounds(), *self._references(), self._missing_impressions()]

    # How series are named and read.

    def series(self, name: str) -> Series:
        """A series of the detector."""
        return Series(PREFIX + name, self.values.job)

    def over(self, function: Function, name: str, seconds: int, *, step: int = 0, ago: int = 0) -> Range:
        """A function of a range of one."""
        return Range(function, self.series(name).offset(ago), seconds, self.interval, step)

    def newest(self, name: str, *, ago: int = 0) -> Range:
        """The newest sample of one that is recorded at the slow interval."""
        return self.over("last", name, self.settings.slow_interval + 5 * self.interval, ago=ago)

    def sum(self, name: str, seconds: int) -> Series:
        """A recorded sum over a range."""
        return self.series(f"{name}:{in_words(seconds)}")

    def is_slow(self, seconds: int) -> bool:
        """Whether a range is long enough to add up chunks, at the slow interval."""
        return seconds > self.settings.fast_up_to

    def _summing(self, name: str, seconds: int) -> Rule:
        """Records a sum over a range; a long one adds up chunks, which is cheaper."""
        chunk, slow = self.settings.chunk, self.is_slow(seconds)
        expression = (
            self.over("sum", f"{name}:{in_words(chunk)}", seconds, step=chunk)
            if slow
            else self.over("sum", name, seconds)
        )
        return Rule(f"{name}:{in_words(seconds)}", expression, slow=slow)

    def _of_metric(self, name: str) -> OfMetric:
        """A constant of the metric."""
        return OfMetric(self.series(name))

    def _of_baseline(self, value: Series | Range) -> OfBaseline:
        assert self.values.label is not None
        return OfBaseline(value, self.values.label, self.values.baseline)

    def _label_of(self, span: LeftOut) -> tuple[str, str] | None:
        """The value of the label that a time left out applies to; none for all."""
        return (self.values.label, span.value) if self.values.label and span.value else None

    # What is usual.

    def _sums(self) -> Iterator[Rule]:
        settings = self.settings
        yield self._summing("squares", settings.chunk)
        for seconds in sorted({settings.chunk, settings.around, settings.weekday_around, *settings.windows}):
            for name in ("impressions", "value"):
                yield self._summing(name, seconds)

    def _as_standard(self, past: Expression, seconds: int, ago: int) -> Expression:
        """A sum of the past, unless it reaches into a time that is no standard."""
        for span in self.settings.left_out:
            past = Except(past, span.since, span.until + seconds, ago, self._label_of(span))
        return past

    def _days(self, name: str, seconds: int) -> Expression:
        """Sums of that length around this time of the day, over all days of the past."""
        now, settings = self.sum(name, seconds), self.settings
        days = []
        for number in range(1, settings.days + 1):
            ago = number * settings.day - seconds // 2
            past: Expression = (
                self.newest(f"{name}:{in_words(seconds)}", ago=ago)
                if self.is_slow(seconds)
                else now.offset(ago)
            )
            past = self._as_standard(past, seconds, ago)
            # A day without data is left out; it does not empty the others.
            days.append(past.otherwise(now * 0.0))
        return total(*days)

    def _usual(self) -> Iterator[Rule]:
        around, weekday = self.settings.around, self.settings.weekday_around
        for name in ("impressions", "value"):
            yield Rule(f"{name}:base", self._days(name, around))
            yield Rule(f"{name}:weekday_base", self._days(name, weekday), slow=True)
        yield self._weekday_factor(weekday)
        usual = self.series("value:base") / self.series("impressions:base").where(">=", 1.0)
        factor = self.newest("weekday_factor").otherwise(self.sum("impressions", around) * 0.0 + 1.0)
        yield Rule("usual", usual * factor)

    def _weekday_factor(self, seconds: int) -> Rule:
        """The mean around this time a week ago beside that of all days; it can only lower the standard."""
        ago = self.settings.days * self.settings.day - seconds // 2
        count, value = (
            self.newest(f"{name}:{in_words(seconds)}", ago=ago) for name in ("impressions", "value")
        )
        there = self._as_standard(count, seconds, ago).where(">=", 1.0)
        base = self.series("impressions:weekday_base").where(">=", 1.0)
        error = Call("sqrt", self.newest("variance") * (1.0 / there + 1.0 / base)) * WEEKDAY_ERRORS
        factor = (value / there + error) / (self.series("value:weekday_base") / base)
        unknown = self.sum("impressions", seconds) * 0.0 + 1.0
        return Rule("weekday_factor", Call("clamp_max", factor, 1.0).otherwise(unknown), slow=True)

    # What is lost, and how far it can be chance.

    def _losses(self) -> Iterator[Rule]:
        yield Rule("expected", self.series("impressions") * self.series("usual"))
        yield Rule("loss", self.series("expected") - self.series("value"))
        for seconds in sorted({self.settings.chunk, *self.settings.windows}):
            for name in ("expected", "loss"):
                yield self._summing(name, seconds)

    def _variance_of_one(self) -> Rule:
        """That of a single impression, over a day."""
        day, chunk = self.settings.day, self.settings.chunk
        count, value, squares = (
            self.over("sum", f"{name}:{in_words(chunk)}", day, step=chunk)
            for name in ("impressions", "value", "squares")
        )
        there = count.where(">=", 1.0)
        spread = squares / there - (value / there).squared()
        return Rule("variance", Call("clamp_min", spread, MIN_VARIANCE), slow=True)

    def _noise(self) -> Iterator[Rule]:
        """The variance before a change, and the factor for the sampling error of `usual`."""
        before = self.newest("variance", ago=self.settings.around)
        yield Rule("variance_before", before.otherwise(self.newest("variance")))
        base = self.series("impressions:base").where(">=", 1.0)
        here = self.sum("impressions", self.settings.around)
        yield Rule("base_noise", Call("clamp_max", here / base, 1.0) + 1.0)

    def _variance(self, mean: Expression) -> Expression:
        """Of one impression. A share has it from its mean: when a rare event gets less rare, it grows."""
        score, share = self.series("variance_before"), mean * (1.0 - mean)
        return score + (share - score) * self._of_metric("is_share")

    def _in_unit(self, reference: Expression) -> Expression:
        """What a change is divided by: the reference, or 1 for changes in points."""
        return ((reference - 1.0) * self._of_metric("is_relative") + 1.0).where(">", 0.0)

    def _changes(self, window: int) -> Iterator[Rule]:
        """By how much it is worse than usual, and the variance of that if impressions are independent."""
        slow, suffix = self.is_slow(window), in_words(window)
        count, expected, loss = (self.sum(name, window) for name in ("impressions", "expected", "loss"))
        enough = count.where(">=", float(self.settings.min_samples))
        yield Rule(f"unit:{suffix}", self._in_unit(expected / enough), slow=slow)
        yield Rule(f"middle:{suffix}", (expected - loss / 2.0) / enough, slow=slow)
        unit, middle = self.sum("unit", window), self.sum("middle", window)
        change = self._if_enough_bad(loss / count / unit, count - expected + loss)
        for span in self.settings.accepted_spans:
            # A window that reaches back before the new level was accepted would still see the old one.
            change = Except(change, 0, span.until + window, 0, self._label_of(span))
        yield Rule("change", change, {"against": "history", "window": suffix}, slow)
        variance = self._variance(middle) * self.series("base_noise") / count / unit.squared()
        yield Rule(f"variance_of_change:{suffix}", variance, slow=slow)

    def _if_enough_bad(self, change: Expression, bad: Expression) -> Expression:
        """A change of a share where enough impressions are bad; any change of other metrics."""
        return change.only_with((bad / MIN_EVENTS).where(">=", self._of_metric("is_share")))

    def _learned(self) -> Iterator[Rule]:
        """How much larger changes usually are than independent impressions would make them."""
        settings = self.settings
        for scale in settings.scales:
            count, unit = self.sum("impressions", scale), self.sum("unit", scale)
            change = self.sum("loss", scale) / count / unit
            # With the variance before it: a burst of a rare event is to be learned, not to hide in its own.
            variance = self.series("variance_before") * self.series("base_noise") / count / unit.squared()
            size = self._of_metric("warning_size")
            surprise, too_small = change.squared() / variance, 1.0 / variance * size * size
            most = Call("clamp_min", too_small, MAX_SURPRISE)
            yield Rule(f"surprise:{in_words(scale)}", smaller(surprise, most), slow=True)
            yield Rule(f"small_surprise:{in_words(scale)}", smaller(surprise, too_small), slow=True)
        unknown = self.series("variance") * 0.0 + 1.0
        shorter: Expression | None = None
        for scale in settings.scales:
            average = self._usual_surprise(scale)
            inflation = average
            if shorter is not None and scale == settings.scales[-1]:
                # A week has few of the longest windows: what chance adds to their mean is taken off.
                inflation = larger(average - 0.5, shorter).otherwise(shorter)
            shorter = average
            if self.values.label is not None:
                # A value of the label without a past borrows the baseline's.
                borrowed = self._week(f"surprise:{in_words(scale)}", settings.around)
                inflation = inflation.otherwise(unknown * self._of_baseline(borrowed))
            known = Call("clamp_min", inflation.otherwise(unknown), 1.0)
            yield Rule(f"inflation:{in_words(scale)}", known, slow=True)

    def _week(self, name: str, ago: int) -> Range:
        """The mean over a week that ended some time ago."""
        settings = self.settings
        week, interval = settings.days * settings.day, settings.slow_interval
        series, lookback = self.series(name).offset(ago), interval + 5 * self.interval
        return Range("avg", series, week, self.interval, interval, lookback)

    def _usual_surprise(self, scale: int) -> Expression:
        """Over a week until yesterday: a drop that takes long to find must not pass for noise meanwhile.

        Changes that are too small to matter are learned at once.
        """
        settings, suffix = self.settings, in_words(scale)
        until_yesterday = self._week(f"surprise:{suffix}", settings.day)
        small = self._week(f"small_surprise:{suffix}", settings.around)
        at_first = self._week(f"surprise:{suffix}", settings.around)
        return larger(until_yesterday, small).only_with(until_yesterday).otherwise(at_first)

    def _inflation(self, window: int) -> Range:
        return self.newest(f"inflation:{in_words(self.settings.scale_of(window))}")

    def _history_zscore(self, window: int) -> Rule:
        labels = {"against": "history", "window": in_words(window)}
        error: Expression = Call("sqrt", self.sum("variance_of_change", window) * self._inflation(window))
        if (recent := self.settings.recent_part(window, self.settings.windows)) is not None:
            count = self.sum("impressions", recent).where(">=", float(self.settings.min_samples))
            altogether = self.sum("loss", window) / self.sum("impressions", window).where(">", 0.0)
            lately = (self.sum("loss", recent) / count).otherwise(altogether)
            error = error.only_with(self._still_worse(lately, altogether))
        return Rule("zscore", Labelled(self.series("change"), labels) / error, labels, self.is_slow(window))

    def _still_worse(self, lately: Expression, altogether: Expression) -> Expression:
        """Present unless what was lost in a window has come back in the last part of it."""
        return (lately * STILL_WORSE).where(">=", altogether).otherwise(altogether.where("<=", 0.0))

    def _against_baseline(self, window: int) -> Iterator[Rule]:
        """Each value of the label beside the baseline, in the same window."""
        assert self.values.label is not None
        slow, suffix = self.is_slow(window), in_words(window)
        least, count = float(self.settings.min_samples), self.sum("impressions", window)
        others = OfOthers(count, self.values.label, self.values.baseline).where(">=", least)
        theirs = (others * 0.0 + self._of_baseline(count)).where(">=", least)
        yield Rule(f"base_impressions:{suffix}", theirs, slow=slow)
        base_count, value = self.sum("base_impressions", window), self.sum("value", window)
        their_mean = (base_count * 0.0 + self._of_baseline(value)) / base_count
        yield Rule(f"base_mean:{suffix}", their_mean, slow=slow)
        base_mean = self.sum("base_mean", window)
        yield Rule(f"base_middle:{suffix}", (base_mean + value / count) / 2.0, slow=slow)
        middle = self.sum("base_middle", window)
        labels, unit = {"against": "baseline", "window": suffix}, self._in_unit(base_mean)
        change = self._if_enough_bad((base_mean - middle) * 2.0 / unit, count - value)
        yield Rule("change", change, labels, slow)
        variance = self._variance(middle) * (1.0 / count + 1.0 / base_count) * self._inflation(window)
        error = Call("sqrt", variance) / unit
        if (recent := self.settings.recent_part(window, self.settings.baseline_windows)) is not None:
            altogether = (base_mean - middle) * 2.0
            mine = self.sum("value", recent) / self.sum("impressions", recent).where(">=", least)
            lately = (self.sum("base_mean", recent) - mine).otherwise(altogether)
            error = error.only_with(self._still_worse(lately, altogether))
        yield Rule("zscore", Labelled(self.series("change"), labels) / error, labels, slow)

    # What is enough.

    def _bounds(self) -> Iterator[Rule]:
        """The more is compared, the surer each has to be; without a week of history surer still."""
        settings, here = self.settings, self.sum("impressions", self.settings.around)
        yield Rule("compared", CountOfJob(here))
        kinds = 1.0 if self.values.label is None else 2.0
        chance = Call("ln", self.series("compared") * kinds) * 2.0
        a_week_ago = here.offset(settings.first_week - settings.around // 2)
        nothing = here * 0.0
        known: dict[str, Expression] = {"history": a_week_ago.where(">", 0.0)}
        if self.values.label is not None:
            known["baseline"] = (nothing + self._of_baseline(a_week_ago)).where(">", 0.0)
        for against, past in known.items():
            usually = nothing.only_with(past)
            squared = (usually + settings.min_zscore**2).otherwise(nothing + settings.first_week_zscore**2)
            yield Rule("min_zscore", Call("sqrt", squared + OfJob(chance)), {"against": against})
            size = (usually + self._of_metric("warning_size")).otherwise(
                nothing + self._of_metric("critical_size")
            )
            standard: Expression = self.series("usual")
            if against == "baseline":
                value = nothing + self._of_baseline(self.sum("value", settings.around))
                standard = value / (nothing + self._of_baseline(here)).where(">=", 1.0)
            floor = (nothing + self._of_metric("min_points")) / standard.where(">", 0.0)
            yield Rule("min_change", larger(size, floor.otherwise(nothing)), {"against": against})

    def _references(self) -> Iterator[Rule]:
        """What the metric itself should be: what it usually is, or what it is at the baseline."""
        around = self.settings.around
        found: dict[str, Expression] = {"history": self.series("usual")}
        if self.values.label is not None:
            count = self.sum("impressions", around)
            nothing = OfOthers(count, self.values.label, self.values.baseline) * 0.0
            value = nothing + self._of_baseline(self.sum("value", around))
            found["baseline"] = value / (nothing + self._of_baseline(count)).where(">=", 1.0)
        for against, usual in found.items():
            # Those that are in points are watched as the share without.
            without = 1.0 - usual
            relative = self._of_metric("is_relative")
            yield Rule("reference", usual * relative + (without - without * relative), {"against": against})

    def _missing_impressions(self) -> Rule:
        """How many more impressions the longest window needs to be sure of a critical change."""
        longest = self.settings.windows[-1]
        usual = self.series("usual")
        size = self._in_unit(usual) * self._of_metric("critical_size")
        bound = Unlabelled(Labelled(self.series("min_zscore"), {"against": "history"}))
        variance = self._variance(usual) * self.series("base_noise")
        least = float(self.settings.min_samples)
        needed = Call("clamp_min", (bound / size).squared() * variance * self._inflation(longest), least)
        have = self.newest(f"impressions:{in_words(longest)}").otherwise(usual * 0.0)
        return Rule("missing_impressions", Call("clamp_min", needed - have, 0.0))

"""The values behind the rules: every threshold, range and delay, documented where it stands."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ModelWrapValidatorHandler, PrivateAttr, ValidationError, model_validator

from monitor.alerting.detection_values import Detection
from monitor.alerting.fields import (
    Address,
    Block,
    Bound,
    Compared,
    Count,
    Delay,
    Name,
    Number,
    Points,
    Share,
    Span,
)
from monitor.config import ConfigError, problems, read_yaml
from monitor.durations import in_words
from monitor.visible import one_line

REFERENCE = "deploy/prometheus/values.yaml"
MINUTE, HOUR, DAY = 60, 3600, 86400
Severity = Literal["critical", "warning", "info"]
SAMPLES = 4
"""A range must hold so many evaluations, or a missed one empties it."""


class Comparison(Block):
    range: Span = 30 * MINUTE
    """Over what a mean is taken, now and then; longer is surer and slower."""
    yesterday: Span = DAY
    """How far back "the same time yesterday" is."""
    last_week: Span = 7 * DAY
    """How far back "the same time last week" is."""
    min_zscore: Number = 4.0
    """Standard errors that a difference must have; 4 is chance about once in 30,000 looks."""
    min_samples: Annotated[Count, Field(ge=30)] = 500
    """Impressions that a mean must have, now and then; below it nothing is compared."""

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if self.last_week <= self.yesterday:
            raise ValueError("last_week must be further back than yesterday")
        if self.yesterday < self.range:
            raise ValueError("yesterday must be at least as far back as range, or both are of the same time")
        return self


class Timing(Block):
    severity: Severity = "warning"
    """For routing in Alertmanager."""
    for_: Annotated[Delay, Field(alias="for")] = 10 * MINUTE
    """How long the condition must hold before it fires."""
    keep_firing_for: Delay = 15 * MINUTE
    """How long it goes on firing when the condition ends or data are missing."""


class Lasting(Block):
    keep_firing_for: Delay = 15 * MINUTE
    """How long it goes on firing when the condition ends or data are missing."""


class Drop(Lasting):
    min_drop: Share = 0.025
    """A drop of this size is a warning, as a share of what is usual: 0.025 is from 0.80 to 0.78."""
    critical_drop: Share = 0.05
    """A drop of this size is critical: 0.05 is from 0.80 to 0.76."""
    min_points: Points = 0.0
    """Points that it must be as well, for where the usual value is small: 0.005 is from 0.100 to 0.095."""

    @model_validator(mode="after")
    def _grows(self) -> Self:
        if self.critical_drop < self.min_drop:
            raise ValueError(f"critical_drop must be at least min_drop ({self.min_drop:g})")
        return self


class Rise(Lasting):
    min_rise: Share
    """A rise of this size is a warning, in points: 0.02 is from 0.20 to 0.22."""
    critical_rise: Share
    """A rise of this size is critical."""

    @model_validator(mode="after")
    def _grows(self) -> Self:
        if self.critical_rise < self.min_rise:
            raise ValueError(f"critical_rise must be at least min_rise ({self.min_rise:g})")
        return self


class TrafficDrop(Timing):
    min_drop: Share = 0.5
    """Smallest drop that matters, as a share of what it was: 0.5 is half of the traffic."""


class CoverageDrop(Timing):
    min_drop: Share = 0.1
    """Smallest drop that matters, in points: 0.1 is from 0.80 to 0.70."""
    min_relative_drop: Share = 0.3
    """Or so much of what it was, for where little is judged: 0.3 is from 0.20 to 0.14."""


class BurnRate(Block):
    severity: Severity
    """For routing in Alertmanager."""
    factor: Number
    """How many times as fast as allowed the budget burns."""
    long: Span
    """Over so long, so that a blip does not fire."""
    short: Span
    """And over so short, so that it ends soon after the trouble does."""


class BudgetBurn(Block):
    low: Bound = 0.5
    """An impression with this NDCG or less is a bad one; a bound of the histogram."""
    objective: Annotated[Share, Field(le=0.9999)] | None = None
    """Share of impressions that must be better, such as 0.9; while it is null there is no such alert."""
    fast: BurnRate = BurnRate(severity="critical", factor=5, long=HOUR, short=5 * MINUTE)
    """Much is bad: at an objective of 0.9 a factor of 5 is half of all impressions."""
    slow: BurnRate = BurnRate(severity="warning", factor=2.5, long=6 * HOUR, short=30 * MINUTE)
    """Less is bad, for longer."""
    for_: Annotated[Delay, Field(alias="for")] = 2 * MINUTE
    """How long the condition must hold before it fires."""
    keep_firing_for: Delay = 15 * MINUTE
    """How long it goes on firing when the condition ends or data are missing."""

    @property
    def budget(self) -> float:
        return round(1 - (self.objective or 0.0), 6)

    @model_validator(mode="after")
    def _can_fire(self) -> Self:
        if self.objective is None:
            return self
        worst = 1 / self.budget
        for name, rate in (("fast", self.fast), ("slow", self.slow)):
            if rate.factor >= worst:
                raise ValueError(
                    f"{name}.factor {rate.factor:g} can never fire: with all impressions bad an objective of "
                    f"{self.objective:g} burns {worst:.3g} times as fast; give less than that"
                )
            if rate.short >= rate.long:
                raise ValueError(f"{name}.short must be less than {name}.long")
        return self


class Down(Timing):
    not_ready_for: Delay = 15 * MINUTE
    """How long a replica may be up and not ready: it reads judgments or a backlog, or waits for Kafka."""


class NoEvents(Timing):
    range: Span = 15 * MINUTE
    """No record in so long."""
    before: Span = HOUR
    """There were records within so long, or at this time yesterday or last week."""
    min_records: Count = 100
    """How many there were in one `range` then; below it silence is nothing new."""


class LagGrowing(Timing):
    range: Span = 15 * MINUTE
    """Over what it grows: its least in so long is above the least in as long before."""
    min_lag: Count = 10_000
    """By so many records; less than that nobody minds."""


class WatermarkStuck(Timing):
    range: Span = 10 * MINUTE
    """Over what event time stands still."""
    max_delay: Span = 10 * MINUTE
    """How far event time may be behind the clock."""
    min_speed: Share = 0.1
    """Event seconds a second; below it event time stands still, above it a backlog is being read."""


class RejectionsHigh(Timing):
    range: Span = 15 * MINUTE
    """Over what rejections are counted."""
    max_share: Share = 0.01
    """Share of the records."""
    min_records: Count = 100
    """Records that must have come in."""


class Evicting(Timing):
    range: Span = 15 * MINUTE
    """Over what evictions are counted."""
    min_evicted: Count = 10
    """How many matter."""


class CommitsStopped(Timing):
    max_age: Span = 15 * MINUTE
    """How long ago the last commit may be: several scrape intervals, and `commit_seconds`."""


class Skipping(Timing):
    range: Span = HOUR
    """Over what skipped records are counted."""
    min_skipped: Count = 1
    """How many matter, of one topic."""


class CrashLooping(Timing):
    range: Span = 30 * MINUTE
    """Over what restarts are counted."""
    min_restarts: Count = 3
    """How many are too many."""


class SenderAhead(Timing):
    max_lead: Span = MINUTE
    """How far an event's `ts` may be ahead of the log's clock; with a `for` under 10m one event fires it."""


class LateImpressions(Timing):
    range: Span = 15 * MINUTE
    """Over what late impressions are counted."""
    max_share: Share = 0.01
    """Share of the impressions."""
    min_impressions: Count = 100
    """Impressions that must have come in."""


class ClockSkew(Timing):
    max_skew: Span = 5
    """How far a replica's clock may be ahead of the broker's, or behind it."""


class Values(Block):
    """Everything that the rules can be told. The defaults make an empty file valid.

    An alert that is null is left out; what is recorded for it stays, by its defaults, for the dashboards.
    """

    _left_out: frozenset[str] = PrivateAttr(default=frozenset())

    job: Name = "ranking-monitor"
    """The `job` label of the monitor's targets."""
    label: Compared | None = "variant"
    """The configured label whose values are compared with each other; null for none."""
    baseline: Name = "control"
    """The value of that label which the others are compared with."""
    k: Count = 10
    """Cut-off of the metrics that are watched; it must be among the configured metrics."""
    maturity: Span = MINUTE
    """Age at which judged metrics are watched; one of `judgments.maturities`."""
    evaluation_interval: Span = MINUTE
    """How often the rules are evaluated."""
    runbooks: Address = "docs/runbooks"
    """Where the runbooks are; set it to the address at which your team reads them."""
    dashboards: Address = "http://localhost:3000/d"
    """Grafana's address of dashboards, before the uid."""
    comparison: Comparison = Comparison()
    """How traffic and judged coverage are compared with yesterday and last week."""
    detection: Detection = Detection()
    """How NDCG, MRR, CTR, abandonment and empty results are compared with their own past and the baseline."""
    VectorNDCGRegression: Drop = Drop()
    """NDCG is lower than it usually is, or than the baseline's."""
    VectorNDCGBudgetBurn: BudgetBurn = BudgetBurn()
    """Too many impressions have a low NDCG, whatever it was yesterday."""
    VectorMRRRegression: Drop = Drop()
    """MRR is lower than it usually is, or than the baseline's."""
    VectorCTRRegression: Drop = Drop(min_points=0.005)
    """Click-through rate is lower than it usually is, or than the baseline's."""
    VectorAbandonmentRise: Rise = Rise(min_rise=0.02, critical_rise=0.05)
    """More searches end without a click than usually, or than at the baseline."""
    VectorEmptyResultsRise: Rise = Rise(min_rise=0.01, critical_rise=0.03)
    """More searches find nothing than usually, or than at the baseline."""
    VectorJudgedCoverageDrop: CoverageDrop = CoverageDrop()
    """Fewer impressions, or fewer of the ranked documents, are judged."""
    VectorTrafficDrop: TrafficDrop = TrafficDrop(for_=15 * MINUTE)
    """Fewer impressions than yesterday and last week."""
    RankingMonitorDown: Down = Down(severity="critical", for_=5 * MINUTE, keep_firing_for=5 * MINUTE)
    """A replica cannot be scraped, is not ready, or there is none."""
    RankingMonitorNoEvents: NoEvents = NoEvents(severity="critical", for_=5 * MINUTE)
    """Nothing is read any more."""
    RankingMonitorLagGrowing: LagGrowing = LagGrowing()
    """The monitor reads slower than records come."""
    RankingMonitorWatermarkStuck: WatermarkStuck = WatermarkStuck(severity="critical", for_=5 * MINUTE)
    """Event time stands still, so nothing is decided."""
    RankingMonitorRejectionsHigh: RejectionsHigh = RejectionsHigh(for_=5 * MINUTE)
    """Producers send what is no event."""
    RankingMonitorEvicting: Evicting = Evicting(for_=5 * MINUTE)
    """A bound is reached, and the oldest are decided early or forgotten."""
    RankingMonitorCommitsStopped: CommitsStopped = CommitsStopped(
        for_=5 * MINUTE, keep_firing_for=25 * MINUTE
    )
    """No scrape acknowledges what it was shown, or Kafka takes no commits; kept through a restart."""
    RankingMonitorSkipping: Skipping = Skipping(for_=0)
    """Records were gone before they were read, or cannot be decoded."""
    RankingMonitorCrashLooping: CrashLooping = CrashLooping(for_=0)
    """A replica starts again and again."""
    RankingMonitorSenderAhead: SenderAhead = SenderAhead()
    """The clock of a sender is ahead, so its events get the wrong time or are rejected."""
    RankingMonitorLateImpressions: LateImpressions = LateImpressions(for_=5 * MINUTE)
    """Impressions come more than `lateness_seconds` out of order and count in no metric."""
    RankingMonitorClockSkew: ClockSkew = ClockSkew()
    """The clock of a replica differs from the broker's; only for topics with `LogAppendTime`."""

    @model_validator(mode="wrap")
    @classmethod
    def _leave_out(cls, given: Any, read: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(given, dict):
            return read(given)
        alerts = {name for name in cls.model_fields if name.startswith(("Vector", "RankingMonitor"))}
        null = frozenset(name for name in alerts & given.keys() if given[name] is None)
        values = read({name: value for name, value in given.items() if name not in null})
        values._left_out = null  # noqa: SLF001 (its own)
        return values

    @property
    def left_out(self) -> frozenset[str]:
        """Names of the alerts that are not wanted."""
        return self._left_out

    @model_validator(mode="after")
    def _ranges_hold_samples(self) -> Self:
        least = SAMPLES * self.evaluation_interval
        for name, seconds in self._ranges():
            if seconds < least:
                raise ValueError(
                    f"{name} must be at least {in_words(least)}, {SAMPLES} times the evaluation_interval, "
                    f"not {in_words(seconds)}"
                )
        for name, seconds in (
            *((f"detection.windows[{i}]", window) for i, window in enumerate(self.detection.windows)),
            *((f"detection.{n}", getattr(self.detection, n)) for n in ("chunk", "around", "slow_interval")),
        ):
            if seconds % self.evaluation_interval:
                raise ValueError(
                    f"{name} must be a multiple of evaluation_interval, "
                    f"{in_words(self.evaluation_interval)}, not {in_words(seconds)}"
                )
        return self

    def _ranges(self) -> Iterator[tuple[str, int]]:
        for name in type(self).model_fields:
            block = getattr(self, name)
            if isinstance(getattr(block, "range", None), int):
                yield f"{name}.range", block.range
        yield "detection.windows[0]", self.detection.windows[0]
        yield "RankingMonitorCommitsStopped.max_age", self.RankingMonitorCommitsStopped.max_age
        for speed in ("fast", "slow"):
            rate: BurnRate = getattr(self.VectorNDCGBudgetBurn, speed)
            yield f"VectorNDCGBudgetBurn.{speed}.short", rate.short


def load_values(path: Path | None) -> Values:
    """The values from a YAML file (or none), which may hold any part of them."""
    try:
        return Values.model_validate(read_yaml(path))
    except ValidationError as error:
        where = f"{path}: " if path else ""
        raise ConfigError(
            "\n".join(one_line(where + line) for line in problems(error, see=REFERENCE))
        ) from None

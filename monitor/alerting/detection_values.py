"""The values of the detector: which windows it looks at, what it compares them with, and when it is sure."""

from datetime import UTC, datetime
from typing import Annotated, NamedTuple, Self

from pydantic import AliasChoices, AwareDatetime, Field, model_validator

from monitor.alerting.fields import Block, Count, Name, Number, Span
from monitor.durations import in_words

MINUTE, HOUR, DAY = 60, 3600, 86400
FOREVER = 1 << 40


class LeftOut(NamedTuple):
    """A time that is no standard for anything, in Unix seconds; for one value of the label, or for all."""

    since: int
    until: int
    value: str | None


class Accepted(Block):
    since: AwareDatetime
    """From when on the level is the new standard; what was before is left out."""
    value: Annotated[Name | None, Field(validation_alias=AliasChoices("value", "variant"))] = None
    """The value of the label that it holds for; null for the job and all values."""


class Ignored(Block):
    since: Annotated[AwareDatetime, Field(alias="from")]
    """When the incident began."""
    until: Annotated[AwareDatetime, Field(alias="to")]
    """When it ended."""

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.until <= self.since:
            raise ValueError(f"to ({self.until.isoformat()}) must be after from ({self.since.isoformat()})")
        return self


class Detection(Block):
    windows: tuple[Span, ...] = (
        5 * MINUTE,
        10 * MINUTE,
        20 * MINUTE,
        45 * MINUTE,
        90 * MINUTE,
        3 * HOUR,
        6 * HOUR,
        12 * HOUR,
        DAY,
        2 * DAY,
    )
    """The windows that are compared: short ones find large drops soon, long ones find small drops at all."""
    day: Span = DAY
    """The cycle of the traffic: the same time one, two, three of them ago is what now is compared with."""
    days: Annotated[Count, Field(le=28)] = 7
    """How many of them make up what is usual; the last one is the same weekday."""
    around: Span = HOUR
    """How much around the same time of a day counts."""
    weekday_around: Span = 6 * HOUR
    """How much around the same time counts for whether this weekday is usually worse."""
    min_zscore: Number = 5.0
    """Standard errors that one comparison needs; the more are made, the more each needs."""
    first_week_zscore: Number = 7.0
    """The same while there is no week of history."""
    min_samples: Annotated[Count, Field(ge=30)] = 50
    """Impressions that a window must have; below it nothing is compared."""
    chunk: Span = 10 * MINUTE
    """Windows of more than ten of these add up sums of this length, which is cheaper."""
    slow_interval: Span = 10 * MINUTE
    """How often long windows, variances and what is learned from the past are evaluated."""
    max_delay: Span = 5 * MINUTE
    """How far event time may be behind the clock; what is read later is in no comparison."""
    judgments_changed: Number = 0.1
    """If at least this share of the judgments changes in `weekday_around`, a drop is a warning at most."""
    accepted: tuple[Accepted, ...] = ()
    """Levels that are the new standard, such as `[{since: 2026-11-01T12:00:00Z, value: candidate}]`."""
    ignore: tuple[Ignored, ...] = ()
    """Incidents that are no standard, such as `[{from: 2026-11-01T12:00:00Z, to: 2026-11-01T15:00:00Z}]`."""

    @property
    def fast_up_to(self) -> int:
        """The longest range that is summed by evaluations, not by chunks."""
        return 10 * self.chunk

    @property
    def first_week(self) -> int:
        """How long the stricter rule holds: a day more, because windows reach back before the first week."""
        return (self.days + 1) * self.day

    @property
    def scales(self) -> tuple[int, ...]:
        """The windows for which the usual size of changes is learned."""
        return self.windows[: max(1, len(self.windows) - 3) : 2]

    @property
    def baseline_windows(self) -> tuple[int, ...]:
        """The windows in which values of the label are compared with the baseline: every other one."""
        return (*self.windows[:-1:2], self.windows[-1])

    def recent_part(self, window: int, windows: tuple[int, ...]) -> int | None:
        """The window that must still see a change for a longer one to report it: about a quarter of it."""
        return next((part for part in reversed(windows) if 4 * part <= window), None)

    def scale_of(self, window: int) -> int:
        """The one that stands for a window: the next longer one, or the longest."""
        return next((scale for scale in self.scales if scale >= window), self.scales[-1])

    @property
    def accepted_spans(self) -> tuple[LeftOut, ...]:
        """What was before a level was accepted."""
        return tuple(LeftOut(0, int(one.since.timestamp()), one.value) for one in self.accepted)

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """All times that are no standard."""
        ignored = (LeftOut(_seconds(i.since), _seconds(i.until), None) for i in self.ignore)
        return (*self.accepted_spans, *ignored)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if list(self.windows) != sorted(set(self.windows)) or not self.windows:
            raise ValueError("windows must be given once each, from the shortest to the longest")
        for window in self.windows:
            if window % self.chunk and window > self.fast_up_to:
                raise ValueError(
                    f"the window {in_words(window)} must be a multiple of chunk ({in_words(self.chunk)}), "
                    f"because it is longer than {in_words(self.fast_up_to)}"
                )
        if self.windows[-1] > self.days * self.day:
            raise ValueError(
                f"the window {in_words(self.windows[-1])} is longer than the "
                f"{in_words(self.days * self.day)} it would be compared with; give fewer windows or more days"
            )
        if self.around > self.fast_up_to:
            raise ValueError(f"around must be at most ten times chunk: {in_words(self.fast_up_to)}")
        if self.day < 2 * max(self.around, self.weekday_around):
            raise ValueError("day must be at least twice as long as around and weekday_around")
        return self


def _seconds(time: datetime) -> int:
    return int(time.astimezone(UTC).timestamp())

"""Expressions that can be written as PromQL and computed with numpy, so that both say the same.

Prometheus evaluates what `promql` writes. The bench and `backfill` compute `over` a grid of evaluations: an
array with a row for each label set and a column for each evaluation, NaN where a series has no sample.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from monitor.alerting.promql import quoted
from monitor.durations import in_words

Floats = NDArray[np.float64]
Function = Literal["sum", "avg", "last", "max"]
BASELINE_MATCHING = "on (job, metric, k, maturity) group_left ()"
METRIC_MATCHING = "on (job, metric) group_left ()"
JOB_MATCHING = "on (job) group_left ()"


@dataclass(slots=True)
class Grid:
    """Evaluations at a fixed interval, and the series that were recorded at them."""

    start: int
    """Unix time of the first evaluation: a multiple of the longest step."""
    interval: int
    """Seconds between two evaluations."""
    baseline_rows: NDArray[np.intp]
    """For each row, the row of the baseline for the same metric; its own where it has none."""
    label_values: tuple[str | None, ...] = ()
    """For each row, its value of the compared label; none for the whole job."""
    recorded: dict[str, Floats] = field(default_factory=dict)
    at: slice = field(default_factory=lambda: slice(None))
    """The evaluations that are computed now."""
    slow_columns: dict[str, slice] = field(default_factory=dict)
    """For each series that is not recorded at every evaluation, at which ones it is."""
    newest: dict[tuple[str, int, int, int], Floats] = field(default_factory=dict)
    """The newest samples that were looked up: many rules read the same ones."""
    latest: tuple["Expression", Floats] | None = None
    """The expression that was computed last, and its result: often a part of the next one."""

    def record(self, name: str, values: Floats, slow_columns: slice | None = None) -> None:
        """Keep the samples of a series."""
        self.recorded[name] = values
        if slow_columns is not None:
            self.slow_columns[name] = slow_columns
        for key in [key for key in self.newest if key[0] == name]:
            del self.newest[key]

    def samples(self, name: str, ago: int = 0) -> Floats:
        """Those of a series some time before the evaluations that are computed now."""
        return _shifted(self.recorded[name], self.columns(ago), self.at)

    def rows_with(self, label: tuple[str, str] | None) -> NDArray[np.bool_]:
        """Which rows have that value of the label; all of them if none is given."""
        if label is None:
            return np.ones(len(self.baseline_rows), dtype=bool)
        return np.array([value == label[1] for value in self.label_values])

    def columns(self, seconds: int) -> int:
        """How many evaluations there are in a time."""
        return seconds // self.interval


class Expression(ABC):
    """What a rule records."""

    @abstractmethod
    def promql(self) -> str:
        """As Prometheus reads it; in parentheses where it needs them inside another one."""

    @abstractmethod
    def over(self, grid: Grid) -> Floats:
        """Its value for each label set at each evaluation."""

    def __add__(self, other: "Operand") -> "Expression":
        return Arithmetic("+", self, other)

    def __sub__(self, other: "Operand") -> "Expression":
        return Arithmetic("-", self, other)

    def __mul__(self, other: "Operand") -> "Expression":
        return Arithmetic("*", self, other)

    def __truediv__(self, other: "Operand") -> "Expression":
        return Arithmetic("/", self, other)

    def __rsub__(self, other: float) -> "Expression":
        return Arithmetic("-", other, self)

    def __rtruediv__(self, other: float) -> "Expression":
        return Arithmetic("/", other, self)

    def squared(self) -> "Expression":
        return Arithmetic("^", self, 2.0)

    def where(self, comparison: str, bound: "Operand") -> "Expression":
        """Only the samples that compare so, such as `> 0`."""
        return Filtered(self, comparison, bound)

    def otherwise(self, other: "Expression") -> "Expression":
        """`other` where there is no sample."""
        return Otherwise(self, other)

    def only_with(self, other: "Expression") -> "Expression":
        """Only the samples for which `other` has one too."""
        return OnlyWith(self, other)


Operand = Expression | float
OPERATIONS: Mapping[str, Callable[..., Floats]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "^": np.power,
}
COMPARISONS: Mapping[str, Callable[..., NDArray[np.bool_]]] = {
    ">": np.greater,
    ">=": np.greater_equal,
    "<=": np.less_equal,
}


def _promql(operand: Operand) -> str:
    return operand.promql() if isinstance(operand, Expression) else f"{operand:g}"


def _over(operand: Operand, grid: Grid) -> Floats | float:
    if not isinstance(operand, Expression):
        return operand
    if grid.latest is not None and grid.latest[0] is operand:
        return grid.latest[1]
    return operand.over(grid)


def _matching(left: Operand, right: Operand) -> str:
    if isinstance(right, OfBaseline | OfMetric | OfJob):
        return f"{right.matching} "
    return f"ignoring ({', '.join(left.labels)}) " if isinstance(left, Labelled) else ""


@dataclass(frozen=True, slots=True)
class Arithmetic(Expression):
    operator: str
    left: Operand
    right: Operand

    def promql(self) -> str:
        return (
            f"({_promql(self.left)} {self.operator} {_matching(self.left, self.right)}{_promql(self.right)})"
        )

    def over(self, grid: Grid) -> Floats:
        left, right = _over(self.left, grid), _over(self.right, grid)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.operator == "^" and right == 2.0:
                return np.square(left)
            return OPERATIONS[self.operator](left, right)


@dataclass(frozen=True, slots=True)
class Filtered(Expression):
    value: Expression
    comparison: str
    bound: Operand

    def promql(self) -> str:
        bound = _matching(self.value, self.bound) + _promql(self.bound)
        return f"({self.value.promql()} {self.comparison} {bound})"

    def over(self, grid: Grid) -> Floats:
        value = self.value.over(grid)
        return np.where(COMPARISONS[self.comparison](value, _over(self.bound, grid)), value, np.nan)


@dataclass(frozen=True, slots=True)
class Otherwise(Expression):
    first: Expression
    second: Expression

    def promql(self) -> str:
        return f"({self.first.promql()} or {self.second.promql()})"

    def over(self, grid: Grid) -> Floats:
        first = self.first.over(grid)
        missing = np.isnan(first)
        return np.where(missing, self.second.over(grid), first) if missing.any() else first


@dataclass(frozen=True, slots=True)
class OnlyWith(Expression):
    value: Expression
    other: Expression

    def promql(self) -> str:
        matching = _matching(self.value, self.other).replace(" group_left ()", "")
        return f"({self.value.promql()} and {matching}{self.other.promql()})"

    def over(self, grid: Grid) -> Floats:
        return np.where(np.isnan(self.other.over(grid)), np.nan, self.value.over(grid))


@dataclass(frozen=True, slots=True)
class Series(Expression):
    """A recorded series, now or some time ago."""

    name: str
    job: str
    ago: int = 0
    matchers: str = ""

    def promql(self) -> str:
        offset = f" offset {in_words(self.ago)}" if self.ago else ""
        return f"{self.name}{{job={quoted(self.job)}{self.matchers}}}{offset}"

    def over(self, grid: Grid) -> Floats:
        return grid.samples(self.name, self.ago)

    def offset(self, seconds: int) -> "Series":
        return Series(self.name, self.job, seconds, self.matchers)


@dataclass(frozen=True, slots=True)
class Labelled(Expression):
    """A recorded series with labels that its rule gave it; as a left operand it keeps them."""

    series: Series
    labels: Mapping[str, str]

    def promql(self) -> str:
        matchers = "".join(f", {name}={quoted(value)}" for name, value in self.labels.items())
        return Series(self.series.name, self.series.job, matchers=matchers).promql()

    def over(self, grid: Grid) -> Floats:
        return grid.samples(":".join([self.series.name, *self.labels.values()]))


@dataclass(frozen=True, slots=True)
class Unlabelled(Expression):
    """The same without them."""

    value: Labelled

    def promql(self) -> str:
        return f"max without ({', '.join(self.value.labels)}) ({self.value.promql()})"

    def over(self, grid: Grid) -> Floats:
        return self.value.over(grid)


@dataclass(frozen=True, slots=True)
class OfOthers(Expression):
    """A recorded series of every value of the label but the baseline, and not of the whole job."""

    series: Series
    label: str
    baseline: str

    def promql(self) -> str:
        others = f', {self.label}!="", {self.label}!={quoted(self.baseline)}'
        return Series(self.series.name, self.series.job, matchers=others).promql()

    def over(self, grid: Grid) -> Floats:
        others = np.array([value not in (None, self.baseline) for value in grid.label_values])
        return np.where(others[:, None], self.series.over(grid), np.nan)


@dataclass(frozen=True, slots=True)
class Range(Expression):
    """A function of the samples of a recorded series in a range of time; every `step`, if one is given."""

    function: Function
    series: Series
    seconds: int
    interval: int
    """Seconds between the samples of the series."""
    step: int = 0
    lookback: int = 0
    """How old the sample at a step may be: steps are whole multiples of time, evaluations need not be."""

    def promql(self) -> str:
        offset = f" offset {in_words(self.series.ago)}" if self.series.ago else ""
        series = self.series.offset(0).promql()
        # A little less: as many samples, whether a range includes its left end (Prometheus 2) or not (3).
        if not self.step:
            span = in_words(self.seconds - self.interval // 2)
            return f"{self.function}_over_time({series}[{span}]{offset})"
        if self.lookback:
            series = f"last_over_time({series}[{in_words(self.lookback - self.interval // 2)}])"
        return f"{self.function}_over_time({series}[{self.seconds - 1}s:{in_words(self.step)}]{offset})"

    def over(self, grid: Grid) -> Floats:
        values, ago = grid.recorded[self.series.name], grid.columns(self.series.ago)
        columns, every = grid.columns(self.seconds), grid.columns(self.step) if self.step else 1
        if self.function == "last":
            return self._last(grid, columns, ago)
        if self.lookback:
            values = _last(values, grid.columns(self.lookback))
        if (grid.at.start or 0) % every == 0 and (grid.at.step or 1) % every == 0:
            # All that is needed are the samples at the steps.
            steps = _shifted(values, ago, slice(0, None, every))
            chosen = slice((grid.at.start or 0) // every, None, (grid.at.step or 1) // every)
            return _windows(self.function, steps, -(-columns // every))[:, chosen]
        values = _shifted(values, ago).copy()
        values[:, np.arange(values.shape[1]) % every != 0] = np.nan
        return _windows(self.function, values, columns)[:, grid.at]

    def _last(self, grid: Grid, columns: int, ago: int) -> Floats:
        name = self.series.name
        key = (name, ago, columns, grid.at.step or 1)
        if (found := grid.newest.get(key)) is None:
            values = grid.recorded[name]
            if name in grid.slow_columns:
                found = _last_of_slow(values, grid.slow_columns[name], columns, ago, grid.at)
            else:
                found = _last(_shifted(values, ago), columns)[:, grid.at]
            grid.newest[key] = found
        return found


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """A function of each sample: `sqrt`, `ln`, `clamp_min`, `clamp_max`."""

    function: Literal["sqrt", "ln", "clamp_min", "clamp_max"]
    value: Expression
    bound: float | None = None

    def promql(self) -> str:
        bound = "" if self.bound is None else f", {self.bound:g}"
        return f"{self.function}({self.value.promql()}{bound})"

    def over(self, grid: Grid) -> Floats:
        value = self.value.over(grid)
        with np.errstate(invalid="ignore", divide="ignore"):
            match self.function:
                case "sqrt":
                    return np.sqrt(value)
                case "ln":
                    return np.log(value)
                case "clamp_min":
                    return np.maximum(value, self.bound)  # type: ignore[arg-type]
                case "clamp_max":
                    return np.minimum(value, self.bound)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class OfBaseline(Expression):
    """The baseline's sample, beside every value of the label; only as a right operand."""

    value: Series | Range
    label: str
    baseline: str
    matching: str = BASELINE_MATCHING

    def promql(self) -> str:
        text = self.value.promql()
        selector = f", {self.label}={quoted(self.baseline)}}}"
        return text.replace("}", selector, 1)

    def over(self, grid: Grid) -> Floats:
        return self.value.over(grid)[grid.baseline_rows]


@dataclass(frozen=True, slots=True)
class OfMetric(Expression):
    """A constant of the metric, beside every label set; only as a right operand."""

    value: Series
    matching: str = METRIC_MATCHING

    def promql(self) -> str:
        return self.value.promql()

    def over(self, grid: Grid) -> Floats:
        return self.value.over(grid)


@dataclass(frozen=True, slots=True)
class OfJob(Expression):
    """A sample of the whole job, beside every label set; only as a right operand."""

    value: Expression
    matching: str = JOB_MATCHING

    def promql(self) -> str:
        return self.value.promql()

    def over(self, grid: Grid) -> Floats:
        return self.value.over(grid)


@dataclass(frozen=True, slots=True)
class CountOfJob(Expression):
    """How many label sets of the job have a sample."""

    value: Expression

    def promql(self) -> str:
        return f"count by (job) ({self.value.promql()})"

    def over(self, grid: Grid) -> Floats:
        present = ~np.isnan(self.value.over(grid))
        counts = np.broadcast_to(present.sum(axis=0), present.shape).astype(float)
        return np.where(counts > 0, counts, np.nan)


@dataclass(frozen=True, slots=True)
class Except(Expression):
    """Not at times from `since` to `until`: for one value of the label, or for all label sets."""

    value: Expression
    since: int
    until: int
    ago: int = 0
    """How old the value is: its own time counts."""
    label: tuple[str, str] | None = None

    def promql(self) -> str:
        clock = f"vector(time() - {self.ago})" if self.ago else "vector(time())"
        then = f"({clock} >= {self.since} <= {self.until})"
        if self.label is None:
            return f"({self.value.promql()} unless on () {then})"
        name, value = self.label
        replacement = quoted(value.replace("$", "$$"))
        only = f'label_replace({then}, {quoted(name)}, {replacement}, "", "")'
        return f"({self.value.promql()} unless on ({name}) {only})"

    def over(self, grid: Grid) -> Floats:
        value = self.value.over(grid)
        first, step = grid.at.start or 0, grid.at.step or 1
        then = grid.start + grid.interval * (first + step * np.arange(value.shape[1])) - self.ago
        left_out = (then >= self.since) & (then <= self.until)
        rows = grid.rows_with(self.label)
        return np.where(rows[:, None] & left_out, np.nan, value)


def larger(one: Expression, other: Expression) -> Expression:
    """The larger of two samples."""
    return one.where(">=", other).otherwise(other)


def smaller(one: Expression, other: Expression) -> Expression:
    """The smaller of two samples."""
    return one.where("<=", other).otherwise(other)


def total(first: Expression, *rest: Expression) -> Expression:
    """The sum of several."""
    for one in rest:
        first = first + one
    return first


def _shifted(values: Floats, columns: int, at: slice = slice(None)) -> Floats:
    """Some columns, of what was that many columns before."""
    if values.shape[1] == 1:
        return values  # a constant
    if columns == 0:
        return values[:, at]
    chosen = range(values.shape[1])[at]
    shifted = np.full((values.shape[0], len(chosen)), np.nan)
    before = max(0, -(-(columns - chosen.start) // chosen.step))
    if before < len(chosen):
        first = chosen[before] - columns
        shifted[:, before:] = values[:, first : chosen[-1] - columns + 1 : chosen.step]
    return shifted


def _windows(function: Function, values: Floats, columns: int) -> Floats:
    """Over the last `columns` at each column; NaN without a sample."""
    missing = np.isnan(values)
    some = bool(missing.any())
    if function == "max":
        return _highest(np.where(missing, -np.inf, values) if some else values, columns)
    sums = _moving_sum(np.where(missing, 0.0, values) if some else values, columns)
    if not some and function == "sum":
        return sums
    counts = _moving_sum((~missing).astype(np.int32), columns)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(counts > 0, sums / counts if function == "avg" else sums, np.nan)


def _moving_sum(values: NDArray[Any], columns: int) -> NDArray[Any]:
    sums = np.cumsum(values, axis=1)
    moving = sums.copy()
    moving[:, columns:] -= sums[:, :-columns]
    return moving


def _last(values: Floats, columns: int) -> Floats:
    """The newest sample of the last `columns` at each column."""
    missing = np.isnan(values)
    if not missing.any():
        return values
    numbers = np.arange(values.shape[1], dtype=np.int32)
    latest = np.maximum.accumulate(np.where(missing, np.int32(-1), numbers), axis=1)
    recent = (latest >= 0) & (numbers - latest < columns)
    return np.where(recent, np.take_along_axis(values, np.maximum(latest, 0), axis=1), np.nan)


def _last_of_slow(values: Floats, recorded: slice, columns: int, ago: int, at: slice) -> Floats:
    """The same for a series that has samples only at every so many columns."""
    first, every = recorded.start or 0, recorded.step or 1
    samples = values[:, recorded]
    wanted = np.arange(values.shape[1])[at] - ago
    number = (wanted - first) // every
    age = wanted - first - number * every
    found = np.full((values.shape[0], len(wanted)), np.nan)
    for back in range(-(-columns // every)):
        usable = (number >= back) & (age + back * every < columns)
        chosen = samples[:, np.where(usable, number - back, 0)]
        chosen = np.where(usable, chosen, np.nan)
        found = chosen if back == 0 else np.where(np.isnan(found), chosen, found)
    return found


def _highest(values: Floats, columns: int) -> Floats:
    padded = np.concatenate([np.full((values.shape[0], columns - 1), -np.inf), values], axis=1)
    highest = np.lib.stride_tricks.sliding_window_view(padded, columns, axis=1).max(axis=2)
    return np.where(np.isinf(highest), np.nan, highest)

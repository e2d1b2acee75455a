"""Expressions that can be written as PromQL and computed with numpy, so that both say the same.

Prometheus evaluates what `promql` writes. The bench and `backfill` compute `over` a grid of evaluations: an
array with a row for each label set and a column for each evaluation, NaN where a series has no sample.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from monitor.alerting.evaluation_grid import (
    EvaluationGrid,
    Floats,
    Function,
    newest_of_slow,
    newest_sample,
    over_windows,
    shifted,
)
from monitor.alerting.promql import quoted
from monitor.durations import in_words

BASELINE_MATCHING = "on (job, metric, k, maturity) group_left ()"
METRIC_MATCHING = "on (job, metric) group_left ()"
JOB_MATCHING = "on (job) group_left ()"


class Expression(ABC):
    """What a rule records."""

    @abstractmethod
    def promql(self) -> str:
        """As Prometheus reads it; in parentheses where it needs them inside another one."""

    @abstractmethod
    def over(self, grid: EvaluationGrid) -> Floats:
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


def _over(operand: Operand, grid: EvaluationGrid) -> Floats | float:
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

    def over(self, grid: EvaluationGrid) -> Floats:
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

    def over(self, grid: EvaluationGrid) -> Floats:
        value = self.value.over(grid)
        return np.where(COMPARISONS[self.comparison](value, _over(self.bound, grid)), value, np.nan)


@dataclass(frozen=True, slots=True)
class Otherwise(Expression):
    first: Expression
    second: Expression

    def promql(self) -> str:
        return f"({self.first.promql()} or {self.second.promql()})"

    def over(self, grid: EvaluationGrid) -> Floats:
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

    def over(self, grid: EvaluationGrid) -> Floats:
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

    def over(self, grid: EvaluationGrid) -> Floats:
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

    def over(self, grid: EvaluationGrid) -> Floats:
        return grid.samples(":".join([self.series.name, *self.labels.values()]))


@dataclass(frozen=True, slots=True)
class Unlabelled(Expression):
    """The same without them."""

    value: Labelled

    def promql(self) -> str:
        return f"max without ({', '.join(self.value.labels)}) ({self.value.promql()})"

    def over(self, grid: EvaluationGrid) -> Floats:
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

    def over(self, grid: EvaluationGrid) -> Floats:
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

    def over(self, grid: EvaluationGrid) -> Floats:
        values, ago = grid.recorded[self.series.name], grid.columns(self.series.ago)
        columns, every = grid.columns(self.seconds), grid.columns(self.step) if self.step else 1
        if self.function == "last":
            return self._last(grid, columns, ago)
        if self.lookback:
            values = newest_sample(values, grid.columns(self.lookback))
        if (grid.at.start or 0) % every == 0 and (grid.at.step or 1) % every == 0:
            # All that is needed are the samples at the steps.
            steps = shifted(values, ago, slice(0, None, every))
            chosen = slice((grid.at.start or 0) // every, None, (grid.at.step or 1) // every)
            return over_windows(self.function, steps, -(-columns // every))[:, chosen]
        values = shifted(values, ago).copy()
        values[:, np.arange(values.shape[1]) % every != 0] = np.nan
        return over_windows(self.function, values, columns)[:, grid.at]

    def _last(self, grid: EvaluationGrid, columns: int, ago: int) -> Floats:
        name = self.series.name
        key = (name, ago, columns, grid.at.step or 1)
        if (found := grid.newest.get(key)) is None:
            values = grid.recorded[name]
            if name in grid.slow_columns:
                found = newest_of_slow(values, grid.slow_columns[name], columns, ago, grid.at)
            else:
                found = newest_sample(shifted(values, ago), columns)[:, grid.at]
            grid.newest[key] = found
        return found


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """A function of each sample: `sqrt`, `ln`, `clamp_min`, `clamp_max`."""

    function: Literal["sqrt", "ln", "clamp_min", "clamp_max"]
    value: Expression
    bound: float = 0.0
    """Of the two that clamp."""

    def promql(self) -> str:
        bound = f", {self.bound:g}" if self.function.startswith("clamp") else ""
        return f"{self.function}({self.value.promql()}{bound})"

    def over(self, grid: EvaluationGrid) -> Floats:
        value = self.value.over(grid)
        with np.errstate(invalid="ignore", divide="ignore"):
            match self.function:
                case "sqrt":
                    return np.sqrt(value)
                case "ln":
                    return np.log(value)
                case "clamp_min":
                    return np.maximum(value, self.bound)
                case "clamp_max":
                    return np.minimum(value, self.bound)


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

    def over(self, grid: EvaluationGrid) -> Floats:
        return self.value.over(grid)[grid.baseline_rows]


@dataclass(frozen=True, slots=True)
class OfMetric(Expression):
    """A constant of the metric, beside every label set; only as a right operand."""

    value: Series
    matching: str = METRIC_MATCHING

    def promql(self) -> str:
        return self.value.promql()

    def over(self, grid: EvaluationGrid) -> Floats:
        return self.value.over(grid)


@dataclass(frozen=True, slots=True)
class OfJob(Expression):
    """A sample of the whole job, beside every label set; only as a right operand."""

    value: Expression
    matching: str = JOB_MATCHING

    def promql(self) -> str:
        return self.value.promql()

    def over(self, grid: EvaluationGrid) -> Floats:
        return self.value.over(grid)


@dataclass(frozen=True, slots=True)
class CountOfJob(Expression):
    """How many label sets of the job have a sample."""

    value: Expression

    def promql(self) -> str:
        return f"count by (job) ({self.value.promql()})"

    def over(self, grid: EvaluationGrid) -> Floats:
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

    def over(self, grid: EvaluationGrid) -> Floats:
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

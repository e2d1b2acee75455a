"""A metric's parameters, read off its kernel's signature."""

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

Value: TypeAlias = str | float


@dataclass(frozen=True, slots=True)
class Interval:
    """The numbers that a parameter may be, as in `p: Annotated[float, Interval(0, 1, below=True)]`."""

    low: float
    high: float
    above: bool = False
    """The lower end itself is not allowed."""
    below: bool = False
    """The upper end itself is not allowed."""

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high and not (
            (self.above and value == self.low) or (self.below and value == self.high)
        )

    def __str__(self) -> str:
        lower, upper = "above" if self.above else "at least", "below" if self.below else "at most"
        return f"a number {lower} {self.low:g} and {upper} {self.high:g}"


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a metric: what it may be, and what it is where nobody says."""

    name: str
    allowed: tuple[str, ...] | Interval
    default: Value | None
    """`None`: the parameter must be given."""

    def read(self, text: str) -> Value:
        """Return the value that a text stands for; ValueError where it is not allowed."""
        if isinstance(self.allowed, tuple):
            if text not in self.allowed:
                raise ValueError(text)
            return text
        number = float(text)
        if not math.isfinite(number) or number not in self.allowed:
            raise ValueError(text)
        return number

    @property
    def allowed_text(self) -> str:
        """What the parameter may be, in words."""
        return " or ".join(self.allowed) if isinstance(self.allowed, tuple) else str(self.allowed)


def parameters_of(kernel: Callable[..., Any]) -> dict[str, Parameter]:
    """Return the keyword-only parameters of a kernel: a `Literal`, or a float `Annotated` with its interval.

    >>> def rbp(batch, k, *, p: Annotated[float, Interval(0, 1, below=True)] = 0.8): ...
    >>> parameters_of(rbp)["p"].allowed_text
    'a number at least 0 and below 1'
    """
    hints = get_type_hints(kernel, include_extras=True)
    return {
        name: Parameter(
            name, _allowed(hints[name]), None if declared.default is declared.empty else declared.default
        )
        for name, declared in inspect.signature(kernel).parameters.items()
        if declared.kind is declared.KEYWORD_ONLY
    }


def _allowed(hint: object) -> tuple[str, ...] | Interval:
    if get_origin(hint) is Literal:
        return get_args(hint)
    if get_origin(hint) is Annotated:
        interval = get_args(hint)[1]
        assert isinstance(interval, Interval)
        return interval
    raise TypeError(f"a kernel's parameter is a Literal, or a float Annotated with an Interval, not {hint}")

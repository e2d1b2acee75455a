"""What a value can be: durations as Prometheus writes them, shares, counts, and blocks of values."""

from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, PlainSerializer, model_validator

from monitor.config import LabelName, Section
from monitor.durations import in_seconds, in_words
from monitor.fields import number
from monitor.metrics import UNIT_BUCKETS
from monitor.visible import short

MAX_SECONDS = 100 * 365 * 86400
OWN_LABELS = frozenset(
    ("against", "alertname", "judgments", "metric", "of", "reason", "severity", "speed", "window")
)
"""Those that the rules set themselves."""


def _seconds(value: Any) -> int:
    """Seconds from a duration as Prometheus writes it.

    >>> [_seconds(text) for text in ("90s", "1h30m", "7d", 15)]
    [90, 5400, 604800, 15]
    """
    seconds = in_seconds(value) if isinstance(value, str) else value
    if not isinstance(seconds, int) or isinstance(seconds, bool) or not 0 <= seconds <= MAX_SECONDS:
        raise ValueError(
            f"must be a duration in whole seconds, up to 100 years, such as 30s, 5m, 1h30m or 7d,"
            f' not "{short(str(value))}"'
        )
    return seconds


def _not_zero(seconds: int) -> int:
    if seconds == 0:
        raise ValueError("must be at least 1s")
    return seconds


def _bound(bound: float) -> float:
    if bound not in UNIT_BUCKETS[:-1]:
        raise ValueError(f"must be a bound of the histograms below 1: 0.0, 0.1 .. 0.9, not {bound}")
    return bound


def _not_ours(name: str) -> str:
    if name in OWN_LABELS:
        raise ValueError(f'label "{name}" is set by the rules themselves; rename it')
    return name


def _address(text: str) -> str:
    """It stands before a slash, in the templates of the annotations."""
    if "{{" in text:
        raise ValueError('must be an address without "{{"')
    return text.rstrip("/")


Delay = Annotated[int, BeforeValidator(_seconds), PlainSerializer(in_words, return_type=str)]
Span = Annotated[Delay, AfterValidator(_not_zero)]
Share = Annotated[float, BeforeValidator(number), Field(gt=0, lt=1)]
Points = Annotated[float, BeforeValidator(number), Field(ge=0, lt=1)]
Number = Annotated[float, BeforeValidator(number), Field(gt=0, allow_inf_nan=False)]
Count = Annotated[int, BeforeValidator(number), Field(ge=1)]
Bound = Annotated[float, AfterValidator(_bound)]
Address = Annotated[str, Field(min_length=1), AfterValidator(_address)]
Compared = Annotated[LabelName, AfterValidator(_not_ours)]
Name = Annotated[str, Field(pattern=r"^[^`%{}]+$")]
"""A label value that also stands in the templates of the annotations."""


class Block(Section):
    """A part of the values; what a file leaves out of it keeps the default of just that part."""

    model_config = ConfigDict(populate_by_name=True, use_attribute_docstrings=True)

    @model_validator(mode="before")
    @classmethod
    def _keep_other_defaults(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        defaults = {name: field.default for name, field in cls.model_fields.items()}
        return {
            key: {**default.model_dump(by_alias=True), **value}
            if isinstance(value, dict) and isinstance(default := defaults.get(key), Block)
            else value
            for key, value in given.items()
        }

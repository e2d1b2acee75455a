"""What a value of the configuration can be, where Python's types do not say it."""

import re
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, ValidatorFunctionWrapHandler

from monitor.environment import Variable
from monitor.strict_yaml import MAX_INTEGER
from monitor.visible import short

T = TypeVar("T")
MIN_SECONDS = 0.001
MAX_SECONDS = 1e9
"""A window or a delay of 30 years; beyond, calendars end."""


def unique(values: tuple[T, ...]) -> tuple[T, ...]:
    """Refuse a list that has a value twice."""
    if len(set(values)) != len(values):
        raise ValueError(f"stands twice: {', '.join(map(str, values))}")
    return values


def address(value: str) -> str:
    """Refuse what is not host:port."""
    found = re.fullmatch(r"(?:\[[0-9a-fA-F:]+\]|[^:\s,]+):([0-9]{1,5})", value)
    if not found or int(found[1]) > 65535:
        raise ValueError(f'must be host:port with a port up to 65535, not "{short(value)}"')
    return value


def servers(value: str) -> str:
    """Refuse what is not a list of brokers."""
    for server in value.split(","):
        try:
            address(server.strip())
        except ValueError:
            raise ValueError(f'must be host:port, several with commas, not "{short(value)}"') from None
    return value


def topic(name: str) -> str:
    """Refuse a name that Kafka gives to no topic."""
    if not re.fullmatch(r"[a-zA-Z0-9._-]{1,249}", name) or name in {".", ".."}:
        raise ValueError(f'topic "{short(name)}" must be 1 to 249 of a-z, A-Z, 0-9, ".", "_" and "-"')
    return name


def start(value: Any, parsed: ValidatorFunctionWrapHandler) -> Any:
    """Say in one line what a starting position can be."""
    try:
        return parsed(value)
    except ValidationError:
        allowed = "latest, earliest or an RFC 3339 time with an offset"
        raise ValueError(f'must be {allowed}, not "{short(str(value))}"') from None


def _file(path: Path) -> Path:
    try:
        found = path.is_file()
    except OSError:  # a name that is too long, or a folder that may not be entered
        found = False
    if not found:
        raise ValueError(f'no such file: "{short(str(path))}"')
    return path


def number(value: Any) -> Any:
    """A number is not in quotes and not a boolean; a variable has no other form than text."""
    # pydantic makes a line of a ValueError, not of a TypeError.
    if isinstance(value, bool):
        raise ValueError(f"must be a number, not {str(value).lower()}")  # noqa: TRY004
    if isinstance(value, str) and not isinstance(value, Variable):
        raise ValueError(f'must be a number, not the text "{short(value)}"')  # noqa: TRY004
    return value


UNITS = {"": 1, "k": 1000, "M": 1000**2, "G": 1000**3, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30}


def size_bytes(value: Any) -> Any:
    """Read a size: a number of bytes, or a number with a unit.

    >>> size_bytes("512MiB"), size_bytes("1.5G"), size_bytes(1000)
    (536870912, 1500000000, 1000)
    """
    if isinstance(value, str) and (found := re.fullmatch(r"([0-9]+(?:\.[0-9]+)?) ?([kMG]?|[KMG]i)B?", value)):
        return int(float(found[1]) * UNITS[found[2]])
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f'must be a size as 536870912 or "512MiB", not "{short(str(value))}"')  # noqa: TRY004
    return value


def _truth(value: Any) -> Any:
    if not isinstance(value, bool | Variable):
        raise ValueError(f'must be true or false, not "{short(str(value))}"')  # noqa: TRY004
    return value


def _measurable(seconds: float) -> float:
    if seconds < MIN_SECONDS:
        raise ValueError(f"must be at least {MIN_SECONDS} seconds, not {seconds:g}")
    return seconds


_Number = BeforeValidator(number)
NotNegative = Annotated[float, Field(ge=0, le=MAX_SECONDS, allow_inf_nan=False), _Number]
Positive = Annotated[
    float, Field(gt=0, le=MAX_SECONDS, allow_inf_nan=False), AfterValidator(_measurable), _Number
]
Count = Annotated[int, Field(ge=1, le=MAX_INTEGER), _Number]
Size = Annotated[int, Field(le=MAX_INTEGER), BeforeValidator(size_bytes)]
Truth = Annotated[bool, BeforeValidator(_truth)]
File = Annotated[Path, AfterValidator(_file)]
Address = Annotated[str, AfterValidator(address)]
Servers = Annotated[str, AfterValidator(servers)]
Topics = Annotated[tuple[Annotated[str, AfterValidator(topic)], ...], AfterValidator(unique)]

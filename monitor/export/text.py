"""The text formats of Prometheus, written in bulk, byte for byte as prometheus_client writes them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from prometheus_client.openmetrics.exposition import (
    DOTS,
    UNDERSCORES,
    escape_label_name,
    escape_metric_name,
)
from prometheus_client.utils import floatToGoString

from monitor.export.catalogue import Family, Kind

END_OF_OPENMETRICS = "# EOF\n"


@dataclass(frozen=True, slots=True)
class Format:
    """Which of the formats, and how names are escaped in it."""

    openmetrics: bool = False
    escaping: str = UNDERSCORES
    """Ours need it in no scheme but `dots`, which doubles every underscore."""


def format_of(content_type: str) -> Format:
    """The format that a content type names.

    >>> format_of("text/plain; version=0.0.4; charset=utf-8")
    Format(openmetrics=False, escaping='underscores')
    >>> format_of("application/openmetrics-text; version=1.0.0; charset=utf-8; escaping=dots")
    Format(openmetrics=True, escaping='dots')
    """
    openmetrics = content_type.startswith("application/openmetrics-text")
    return Format(openmetrics, DOTS if content_type.endswith(f"escaping={DOTS}") else UNDERSCORES)


@dataclass(frozen=True, slots=True)
class Filled:
    """A family with its lines: how each begins, and the number that it ends in."""

    family: Family
    lines: Sequence[str]
    numbers: Sequence[str]


@dataclass(frozen=True, slots=True)
class Counted:
    """A family with its lines and the values of its series, before they are text."""

    family: Family
    lines: Sequence[str]
    values: NDArray[np.float64]

    def filled(self) -> Filled:
        return Filled(self.family, self.lines, numbers(self.values))


def write(families: Iterable[Filled], form: Format) -> str:
    """Families one after the other."""
    return "".join(_write(filled, form) for filled in families)


def _write(filled: Filled, form: Format) -> str:
    pieces = [""] * (2 * len(filled.lines))
    pieces[::2] = filled.lines
    pieces[1::2] = filled.numbers
    return f"{_header(filled.family, form)}{''.join(pieces)}\n"


def _header(family: Family, form: Format) -> str:
    name, text = family.name, family.help.replace("\\", r"\\").replace("\n", r"\n")
    if form.openmetrics:
        name = name.removesuffix("_total") if family.kind is Kind.COUNTER else name
        text = text.replace('"', r"\"")
    name = escape_metric_name(name, form.escaping)
    return f"# HELP {name} {text}\n# TYPE {name} {family.kind}"


def beginning(name: str, labels: Mapping[str, str], escaping: str = UNDERSCORES) -> str:
    r"""A line up to its number, and the end of the line before it.

    >>> beginning("up", {}), beginning("up", {"job": "x", "instance": 'say "hi"'})
    ('\nup ', '\nup{instance="say \\"hi\\"",job="x"} ')
    """
    pairs = ",".join(f'{escape_label_name(k, escaping)}="{_escaped(v)}"' for k, v in sorted(labels.items()))
    return f"\n{escape_metric_name(name, escaping)}{f'{{{pairs}}}' if pairs else ''} "


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def numbers(values: NDArray[np.float64]) -> list[str]:
    """Numbers as Go writes them; below a million that is how Python does.

    >>> numbers(np.array([0.0, 0.1, 999_999.0, 1_000_000.0, np.inf]))
    ['0.0', '0.1', '999999.0', '1e+06', '+Inf']
    """
    return [repr(value) if -1e6 < value < 1e6 else number(value) for value in values.ravel().tolist()]


def number(value: float) -> str:
    """A single one.

    >>> number(5), number(12_500_000)
    ('5.0', '1.25e+07')
    """
    return str(floatToGoString(value))  # type: ignore[no-untyped-call]

"""The grammar of a metric's name: `name`, `name@k`, `name(parameter=value, ...)@k`."""

import json
import re
from typing import NamedTuple

from monitor.mistakes import Mistake

_SPEC = re.compile(
    r"\s*(?P<name>[A-Za-z][\w-]*)\s*(?:\((?P<arguments>[^()]*)\))?\s*(?:@\s*(?P<k>[^()@]*?))?\s*", re.ASCII
)
_CUT_OFF = re.compile(r"[0-9]{1,9}")


class MetricError(Mistake, ValueError):
    """A metric that a user wrote and that cannot be; its text is one line for the user."""


class UnknownMetric(MetricError):  # noqa: N818 - reads as what happened
    """No metric has this name."""


class Spec(NamedTuple):
    """The parts of a metric's name, not yet checked against the registry."""

    name: str
    arguments: tuple[tuple[str, str], ...]
    k: int | None


def read_spec(text: str) -> Spec:
    """Split a metric's name into its parts.

    >>> read_spec("ndcg(gain=exponential)@10")
    Spec(name='ndcg', arguments=(('gain', 'exponential'),), k=10)
    """
    match = _SPEC.fullmatch(text)
    if match is None:
        raise MetricError(
            f'cannot read metric {quote(text)}; write it as name@k or name(parameter=value)@k, say "ndcg@10"'
        )
    arguments = tuple(
        _read_argument(part, text) for part in (match["arguments"] or "").split(",") if part.strip()
    )
    return Spec(match["name"], arguments, _read_cut_off(match["k"], text))


def _read_argument(part: str, text: str) -> tuple[str, str]:
    name, equals, value = (piece.strip() for piece in part.partition("="))
    if not (name and equals and value):
        raise MetricError(f"cannot read {quote(part.strip())} in metric {quote(text)}; write parameter=value")
    return name, value


def _read_cut_off(text: str | None, whole: str) -> int | None:
    if text is None:
        return None
    if not _CUT_OFF.fullmatch(text) or int(text) < 1:
        raise MetricError(f"metric {quote(whole)}: k must be a whole number, 1 or more, not {quote(text)}")
    return int(text)


def quote(text: str) -> str:
    """Return a user's text in double quotes, on one line and not too long."""
    return json.dumps(text if len(text) <= 80 else text[:79] + "…", ensure_ascii=False)

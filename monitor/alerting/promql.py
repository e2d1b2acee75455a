"""Pieces of PromQL: selectors, sums over replicas, and series that the rules recorded."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from monitor.durations import in_words


def quoted(text: str) -> str:
    r"""As PromQL and Go templates quote it.

    >>> print(quoted('the "old" one'))
    "the \"old\" one"
    """
    return json.dumps(text, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Selector:
    """A series by its name and the labels it must have."""

    name: str
    matchers: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name}{{{', '.join(self.matchers)}}}"

    def where(self, *matchers: str) -> "Selector":
        """The same with more matchers."""
        return Selector(self.name, self.matchers + matchers)

    def ago(self, seconds: int) -> str:
        """What it was that long ago."""
        return f"{self} offset {in_words(seconds)}"


def select(name: str, **labels: str) -> Selector:
    """Series whose labels are so.

    >>> str(select("up", job="ranking-monitor").where('instance!=""'))
    'up{job="ranking-monitor", instance!=""}'
    """
    return Selector(name, tuple(f"{label}={quoted(value)}" for label, value in labels.items()))


def summed_increase(series: Selector, seconds: int, by: Sequence[str]) -> str:
    """Growth of counters, over replicas and all labels but these.

    >>> summed_increase(select("x_total", job="j"), 300, ["job"])
    'sum by (job) (increase(x_total{job="j"}[5m]))'
    """
    return f"sum by ({', '.join(by)}) (increase({series}[{in_words(seconds)}]))"


def lines(first: str, *rest: str) -> str:
    """An expression over several lines, the later ones indented.

    >>> print(lines("a", "and b", ""))
    a
      and b
    """
    return "\n  ".join([first, *(line for line in rest if line)])

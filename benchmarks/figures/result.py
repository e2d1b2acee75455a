"""What a figure leaves behind: .cache/bench/<name>.json, with its goals and whether they were met."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import msgspec

FOLDER = Path(__file__).parents[2] / ".cache" / "bench"


@dataclass(frozen=True)
class Goal:
    """A number that was set beforehand, and what was measured."""

    what: str
    limit: float
    """At most so much, or at least."""
    measured: float
    unit: str = ""
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether it was reached.

        >>> Goal("bytes of an impression", 400, 512.4, "bytes").met
        False
        """
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit

    def __str__(self) -> str:
        verdict = "met" if self.met else "SHORT"
        return f"{verdict}: {self.what}: {self.measured:,.4g} {self.unit}, goal {self.limit:,.4g}"


@dataclass(frozen=True)
class Printed:
    """The result of a program that prints all the rest."""

    ran: str
    goals: list[Goal]


class Result(Protocol):
    """What every figure has; the rest is its own."""

    @property
    def ran(self) -> str:
        """What was run, in words: sizes, rounds."""
        ...

    @property
    def goals(self) -> Sequence[Goal]: ...


def save(name: str, result: Result) -> None:
    """Write a result for the report, and print its goals."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.json").write_bytes(msgspec.json.format(msgspec.json.encode(result)))
    print(result.ran)
    for goal in result.goals:
        print(goal, flush=True)

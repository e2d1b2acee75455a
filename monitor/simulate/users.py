"""Users: they read a list from the top, click what looks good, and stop when satisfied (a cascade model)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

CLICKS = (0.03, 0.12, 0.40, 0.75)
"""The chance that an examined result of grade 0, 1, 2, 3 is clicked."""
SATISFIES = (0.02, 0.20, 0.55, 0.85)
"""The chance that a clicked one ends the search."""
DWELL_SECONDS = (4.0, 12.0, 35.0, 80.0)
"""How long a clicked one is read: the median of a lognormal distribution."""
DWELL_SIGMA = 0.6
GOES_ON = 0.85
"""The chance to look at the next result after one that did not satisfy."""
READING_SECONDS = 1.2


class Click(NamedTuple):
    """A click at a 1-based position, seconds after the list was shown, and how long the user stayed there."""

    position: int
    after: float
    dwell_seconds: float


@dataclass(frozen=True, slots=True)
class Visit:
    """What one user did with one list."""

    clicks: Sequence[Click]
    seconds: float
    """When the user was done, after the list was shown."""
    scrolled_to: int
    """The last position examined; 0 for an empty list."""
    satisfied: bool


def visit(grades: Sequence[int], rng: Random) -> Visit:
    """Send one user down a list of results with these grades."""
    clicks = []
    seconds = READING_SECONDS
    position = 0
    for position, grade in enumerate(grades, start=1):
        seconds += rng.expovariate(1 / READING_SECONDS)
        if rng.random() < CLICKS[grade]:
            dwell = rng.lognormvariate(math.log(DWELL_SECONDS[grade]), DWELL_SIGMA)
            clicks.append(Click(position, seconds, dwell))
            seconds += dwell
            if rng.random() < SATISFIES[grade]:
                return Visit(clicks, seconds, position, satisfied=True)
        if rng.random() > GOES_ON:
            break
    return Visit(clicks, seconds, position, satisfied=False)

"""The scrape grid: the times of samples, whole steps since the epoch."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Grid:
    """Times that are a whole number of steps after the epoch, up to a last one."""

    step: int
    """Seconds between two samples."""
    until: int
    """The last time that has a sample."""

    @classmethod
    def ending(cls, until: float, step: int) -> "Grid":
        """The grid up to a time, which is cut down to a whole step.

        >>> Grid.ending(1_000_000_059.5, 60)
        Grid(step=60, until=1000000020)
        """
        return cls(step, math.floor(until / step) * step)

    def at_or_after(self, time: float) -> int:
        """The first time of the grid that is not before another time.

        >>> grid = Grid.ending(1000, 60)
        >>> grid.at_or_after(119.9), grid.at_or_after(120.0), grid.at_or_after(120.1)
        (120, 120, 180)
        """
        return math.ceil(time / self.step) * self.step

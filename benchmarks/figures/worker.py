"""A process of its own with one population in it, filled once and measured as often as one likes."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Self

from benchmarks.figures.population import Population, Shape

HERE: list[Population] = []
"""In that process."""


class Worker:
    """The handle of the process; it ends with the block."""

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown()

    def fill(self) -> None:
        """Feed the population until it is in its steady state."""
        self._pool.submit(_fill, self._shape).result()

    def micros(self) -> float:
        """Feed more events; CPU microseconds of one."""
        return self._pool.submit(_stretch).result() * 1e6

    def open(self) -> int:
        """How many impressions are open."""
        return self._pool.submit(_open).result()


def _fill(shape: Shape) -> None:
    HERE.append(Population(shape))
    HERE[0].fill()


def _stretch() -> float:
    return HERE[0].stretch()


def _open() -> int:
    return HERE[0].engine.open_impressions

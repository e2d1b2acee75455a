"""Simulations for tests: short, cached, decoded."""

import math
from functools import lru_cache
from itertools import takewhile
from typing import Any

import msgspec

from monitor.simulate.scenarios import SCENARIOS
from monitor.simulate.stream import Simulation
from monitor.simulate.wire import SimulatedEvent
from monitor.simulate.world import World

START = 1_767_225_600.0


@lru_cache(maxsize=8)
def events(
    scenario: str = "steady", *, seed: int = 1, rate: float = 10.0, seconds: float = 600.0, **options: Any
) -> tuple[SimulatedEvent, ...]:
    simulation = Simulation(SCENARIOS[scenario], seed=seed, queries_per_second=rate, start=START, **options)
    return tuple(takewhile(lambda event: event.ts < START + seconds, simulation.events()))


def decoded(*types: str, **options: Any) -> list[dict[str, Any]]:
    """The events of these types, as dicts."""
    found = (msgspec.json.decode(event.value) for event in events(**options))
    return [event for event in found if event["type"] in types]


class Truth:
    """True NDCG@10 in plain Python, from what the world knows and nobody had to judge."""

    def __init__(self, seed: int = 1) -> None:
        self._world = World(seed)
        self._grades: dict[str, dict[str, int]] = {}

    def ndcg(self, impression: dict[str, Any]) -> float:
        query_id = impression["query_id"]
        if query_id not in self._grades:
            self._grades[query_id] = self._world.query(int(query_id.rpartition("-")[2])).grades
        grades = self._grades[query_id]
        ideal = _dcg(sorted(grades.values(), reverse=True))
        return _dcg([grades.get(key, 0) for key in impression["ranked"]]) / ideal if ideal else 0.0


def _dcg(grades: list[int]) -> float:
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades[:10], start=1))

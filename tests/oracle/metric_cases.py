"""Random impressions with all that is known of them, and the batch that they make."""

import math
import random
from dataclasses import dataclass, field

import numpy as np

from monitor.metrics import Batch


@dataclass
class Case:
    """One impression, in plain Python: what the references read."""

    ranking: list[str] = field(default_factory=list)
    judgments: dict[str, float] = field(default_factory=dict)
    targets: dict[str, str] = field(default_factory=dict)
    """What judgments name as targets; a document without one is its own target."""
    vectors: dict[str, list[float]] | None = None
    clicked: set[str] = field(default_factory=set)
    dwell: dict[str, float] = field(default_factory=dict)
    outcome: float = math.nan
    scroll: float = math.nan
    latency: float = math.nan
    label_delay: float = math.nan

    @property
    def grades(self) -> list[float]:
        """The grade at each rank; unjudged and negative count as 0."""
        return [max(self.judgments.get(key, 0.0), 0.0) for key in self.ranking]

    @property
    def relevant(self) -> list[str]:
        return [key for key, grade in self.judgments.items() if grade > 0]

    def target(self, key: str) -> str:
        return self.targets.get(key, key)

    def condensed(self) -> "Case":
        return Case(**{**vars(self), "ranking": [key for key in self.ranking if key in self.judgments]})


def random_case(rng: random.Random, grades: list[float], documents: int, judgments: int) -> Case:
    pool = [f"d{i}" for i in range(rng.randint(1, documents))]
    ranking = rng.sample(pool, rng.randint(0, len(pool)))
    judged = rng.sample(pool, rng.randint(0, min(len(pool), judgments)))
    directions = [[rng.gauss(0, 1) for _ in range(3)] for _ in range(3)] + [[0.0, 0.0, 0.0]]

    def maybe(value: float) -> float:
        return value if rng.random() < 0.7 else math.nan

    return Case(
        ranking=ranking,
        judgments={key: rng.choice(grades) for key in judged},
        targets={key: rng.choice("AB") for key in pool if rng.random() < 0.5} if rng.random() < 0.8 else {},
        vectors={key: [x + rng.gauss(0, 0.2) for x in rng.choice(directions)] for key in ranking}
        if rng.random() < 0.9
        else None,
        clicked={key for key in ranking if rng.random() < 0.2},
        dwell={key: rng.choice([0.0, 3.5, 29.9, 30.0, 95.0]) for key in ranking if rng.random() < 0.3},
        outcome=maybe(float(rng.random() < 0.5)),
        scroll=maybe(float(rng.randint(0, 20))),
        latency=maybe(rng.random()),
        label_delay=maybe(rng.uniform(0, 4000)),
    )


def make_cases(
    seed: int, count: int, grades: list[float], documents: int = 14, judgments: int = 9
) -> list[Case]:
    rng = random.Random(seed)
    return [
        Case(),
        Case(ranking=["d0"], judgments={"d0": 1}, vectors={"d0": [0.0, 0.0]}),
        Case(ranking=["d0", "d1"]),
        Case(judgments={"d0": 1, "d1": 0}),
        Case(
            ranking=["d0", "d1"], judgments={"d0": 0, "d1": 0}, vectors={"d0": [1.0, 0.0], "d1": [-1.0, 0.0]}
        ),
        *(random_case(rng, grades, documents, judgments) for _ in range(count)),
    ]


def batch_of(cases: list[Case]) -> Batch:
    depth = max((len(case.ranking) for case in cases), default=0)
    judged = max((len(case.judgments) for case in cases), default=0)
    identities = {}

    def matrix(read, padding, width=depth):
        rows = [[*values, *[padding] * (width - len(values))] for values in map(read, cases)]
        return np.array(rows).reshape(len(cases), width)

    def column(read):
        return np.array([read(case) for case in cases], dtype=float)

    def whole(read):
        return np.array([read(case) for case in cases], dtype=np.int64)

    return Batch(
        lengths=whole(lambda case: len(case.ranking)),
        grades=matrix(lambda case: [case.judgments.get(key, math.nan) for key in case.ranking], math.nan),
        ideal=matrix(lambda case: sorted(case.judgments.values(), reverse=True), 0.0, judged),
        relevant=whole(lambda case: len(case.relevant)),
        targets=matrix(
            lambda case: [identities.setdefault(case.target(key), len(identities)) for key in case.ranking], 0
        ).astype(np.int64),
        relevant_targets=whole(
            lambda case: len({case.target(key) for key in case.relevant}) if named_target(case) else -1
        ),
        embeddings=[
            None
            if case.vectors is None
            else np.array([case.vectors[key] for key in case.ranking], dtype=np.float32).reshape(
                len(case.ranking), -1 if case.ranking else 0
            )
            for case in cases
        ],
        label_delay=column(lambda case: case.label_delay),
        clicks=matrix(lambda case: [key in case.clicked for key in case.ranking], padding=False).astype(bool),
        dwell=matrix(lambda case: [case.dwell.get(key, math.nan) for key in case.ranking], math.nan),
        outcome=column(lambda case: case.outcome),
        scroll=column(lambda case: case.scroll),
        latency=column(lambda case: case.latency),
    )


def named_target(case: Case) -> bool:
    """Whether any judgment of the query names a target."""
    return any(key in case.targets for key in case.judgments)

"""Queries as users hand them to a library: scores and grades by document; edge cases and random ones."""

import random
from dataclasses import dataclass, field, replace

import numpy as np

from monitor.metrics import parse
from tests.oracle.metric_cases import Case, batch_of


@dataclass(frozen=True)
class Topic:
    """What a run and the judgments say about one query."""

    scores: dict[str, float] = field(default_factory=dict)
    grades: dict[str, float] = field(default_factory=dict)

    @property
    def ranking(self) -> list[str]:
        """The documents as trec_eval ranks them: by score as float32, then by name, both descending."""
        with np.errstate(over="ignore"):
            return sorted(self.scores, key=lambda key: (np.float32(self.scores[key]), key), reverse=True)

    def graded(self, grade) -> "Topic":
        return replace(self, grades={key: grade(given) for key, given in self.grades.items()})

    def ranked(self, order: list[str]) -> "Topic":
        """The same documents in this order, by scores without ties."""
        return replace(self, scores={key: float(-rank) for rank, key in enumerate(order)})

    def first(self, k: int) -> "Topic":
        return self.ranked(self.ranking[:k])


Topics = dict[str, Topic]


def listed(*keys: str) -> dict[str, float]:
    """Scores that rank the documents in this order."""
    return {key: float(len(keys) - rank) for rank, key in enumerate(keys)}


EDGES: Topics = {
    "no ranking": Topic({}, {"a": 1, "b": 0}),
    "no judgments": Topic(listed("a", "b"), {}),
    "neither": Topic(),
    "one document, relevant": Topic({"a": 1.0}, {"a": 1}),
    "one document, of a high grade": Topic({"a": 1.0}, {"a": 4}),
    "one document, not relevant": Topic({"a": 1.0}, {"a": 0, "b": 1}),
    "one document, unjudged": Topic({"a": 1.0}, {"b": 1}),
    "nothing relevant": Topic(listed("a", "b"), {"a": 0, "b": 0}),
    "only negative grades": Topic(listed("a", "b"), {"a": -1, "b": -2}),
    "negative above positive": Topic(listed("a", "b", "c"), {"a": -1, "b": 2, "c": 0, "d": -3, "e": 1}),
    "nothing judged was retrieved": Topic(listed("a", "b", "c"), {"x": 1, "y": 2}),
    "shorter than any cut-off": Topic(listed("a", "b"), {"a": 0, "b": 3, "c": 1}),
    "more relevant than any cut-off": Topic(
        listed(*(f"d{i:02}" for i in range(30))), {f"d{i:02}": 1 + i % 3 for i in range(0, 60, 2)}
    ),
    "grades above 1, worst first": Topic(listed("a", "b", "c", "d"), {"a": 1, "b": 2, "c": 3, "d": 4}),
    "all scores tied": Topic(dict.fromkeys("badc", 1.0), {"a": 1, "d": 2}),
    "all scores 0": Topic(dict.fromkeys("abcd", 0.0), {"b": 1}),
    "tied as float32 alone": Topic({"a": 1.00000001, "b": 1.0, "c": 0.5}, {"a": 1}),
    "beyond float32": Topic({"a": 2e39, "b": 1e39, "c": -1e39, "d": -2e39, "e": 1e-60}, {"a": 1, "c": 2}),
    "two zeros": Topic({"a": 0.0, "b": -0.0}, {"a": 1}),
    "negative scores": Topic({"a": -3.0, "b": -1.0, "c": -2.0}, {"c": 2, "a": 1}),
    "names that sort as text": Topic({"d10": 1.0, "d9": 1.0, "D9": 1.0, "é": 1.0}, {"d9": 1, "é": 2}),
}


def random_topics(seed: int, count: int, grades: list[float], *, ties: bool = True) -> Topics:
    rng = random.Random(seed)
    topics = {}
    for number in range(count):
        pool = [f"d{i}" for i in range(rng.randint(1, 40))]
        retrieved = rng.sample(pool, rng.randint(1, len(pool)))
        judged = rng.sample(pool, rng.randint(1, min(len(pool), 15)))
        topic = Topic(
            {key: rng.randint(0, 12) / 4 for key in retrieved}, {key: rng.choice(grades) for key in judged}
        )
        topics[str(number)] = topic if ties else topic.ranked(topic.ranking)
    return topics


def numbered(*parts: Topics) -> Topics:
    """All topics under names that every library takes: gdeval wants numbers."""
    return {str(i): topic for i, topic in enumerate(topic for part in parts for topic in part.values())}


WHOLE = numbered(EDGES, random_topics(11, 150, [-1, 0, 0, 1, 2, 3, 4]))
BINARY = numbered(random_topics(12, 60, [0, 1]))
FRACTIONAL = numbered(random_topics(13, 80, [0.0, 0.25, 0.5, 1.0, 1.5, 2.75]))
ONE_RELEVANT = {
    str(i): Topic(listed(*(f"d{j}" for j in range(12))), {f"d{i}": 1 + i % 3, "d11": 0}) for i in range(11)
}


def here(spec: str, topics: Topics) -> dict[str, float]:
    """Score the topics with this project's kernels."""
    cases = [Case(ranking=topic.ranking, judgments=topic.graded(float).grades) for topic in topics.values()]
    return dict(zip(topics, parse(spec).score(batch_of(cases)).tolist(), strict=True))

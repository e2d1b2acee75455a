"""The world: documents in topics, queries with graded truth, a search that is good until it breaks."""

from dataclasses import dataclass

import numpy as np

from monitor.simulate.backend import Floats, Hit, get_vector_backend

TOPICS = 25
DOCUMENTS = 400
DIMENSION = 48
RESULTS = 20
GRADE_AT = (0.32, 0.45, 0.58)
"""The true cosine from which a document has grade 1, 2 and 3."""


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """What someone looks for. Its meaning decides the truth; its embedding is what the search sees of it."""

    query_id: str
    embedding: Floats
    grades: dict[str, int]
    """The true grade of each relevant document; 0 for all others."""

    def grade(self, key: str) -> int:
        return self.grades.get(key, 0)


class World:
    """All of it follows from the seed. Queries are numbered without end, so that new ones can always come."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        rng = np.random.default_rng(seed)
        self._topics = _near(rng, np.zeros((TOPICS, DIMENSION)), 1.0)
        self._broken = np.linalg.qr(rng.standard_normal((DIMENSION, DIMENSION))).Q
        meanings = _near(rng, self._topics[np.arange(DOCUMENTS) % TOPICS], 1.2)
        # Every eighth document says what the one before it says: something for de-duplication to find.
        self.keys = [f"d{number:03}" for number in range(DOCUMENTS)]
        self.targets = dict(zip(self.keys, self.keys, strict=True))
        for copy in range(7, DOCUMENTS, 8):
            meanings[copy] = _near(rng, meanings[copy - 1], 0.1)
            self.targets[self.keys[copy]] = self.keys[copy - 1]
        self._meanings = meanings
        embeddings = _near(rng, meanings, 0.5)
        self.embeddings = dict(zip(self.keys, embeddings, strict=True))
        self._backend = get_vector_backend({"type": "in_memory", "metrics_callback": None})
        self._backend.upsert("documents", self.embeddings.items())

    def query(self, number: int) -> Query:
        rng = np.random.default_rng([self.seed, number])
        meaning = _near(rng, self._topics[rng.integers(TOPICS)], 1.0)
        grades = np.searchsorted(GRADE_AT, self._meanings @ meaning, side="right")
        relevant = {self.keys[row]: int(grades[row]) for row in np.flatnonzero(grades)}
        return Query(f"q{self.seed}-{number:03}", _near(rng, meaning, 0.5), relevant)

    def search(self, query: Query, *, broken: bool = False) -> list[Hit]:
        """What the backend ranks. A broken encoder has turned half away from the space of the documents."""
        embedding = query.embedding
        if broken:
            embedding = 0.5 * embedding + 0.5 * (self._broken @ embedding)
        return self._backend.query("documents", embedding, RESULTS)


def _near(rng: np.random.Generator, centres: Floats, spread: float) -> Floats:
    """Unit vectors around the centres; the spread is the length of the noise, where a centre's is 1."""
    noisy = centres + rng.standard_normal(centres.shape) * (spread / np.sqrt(DIMENSION))
    unit: Floats = noisy / np.linalg.norm(noisy, axis=-1, keepdims=True)
    return unit

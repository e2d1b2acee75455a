"""Made-up documents, a query and judgments, to try an evaluation on."""

from typing import TypedDict

import numpy as np

from monitor.metrics import Floats, Floats32

RELEVANT_COSINES = (0.5, 0.95)
LOOKALIKE_COSINES = (0.3, 0.7)
NOISE = 0.1


class SyntheticItem(TypedDict):
    """One document: its key, its embedding at length 1, and its cosine with the query as score."""

    key: str
    embedding: Floats32
    score: float


def create_synthetic_evaluation_data(
    num_items: int = 100, embedding_dim: int = 384, num_relevant: int = 10, seed: int | None = None
) -> tuple[list[SyntheticItem], Floats32, dict[str, float]]:
    """Return items in no order, the embedding of a query, and the grade of every item.

    Relevant items have grades from 0.1 to 1.0 and lie the nearer to the query, the higher the grade, with
    some noise; as many others look alike but have grade 0; the rest points anywhere. So ranking by score is
    good and not perfect. One seed gives one data set; without a seed each call gives another.

    >>> items, query, judgments = create_synthetic_evaluation_data(num_items=50, num_relevant=5, seed=1)
    >>> len(items), query.shape, sum(grade > 0 for grade in judgments.values())
    (50, (384,), 5)
    >>> from monitor.evaluation import ndcg_at_k
    >>> by_score = sorted(items, key=lambda item: item["score"], reverse=True)
    >>> 0.5 < ndcg_at_k(by_score, judgments, 10) < 1.0
    True
    """
    if not 0 <= num_relevant <= num_items:
        raise ValueError(f"num_relevant must be from 0 to num_items ({num_items}), not {num_relevant}")
    if embedding_dim < 2:
        raise ValueError(f"embedding_dim must be 2 or more, not {embedding_dim}")
    random = np.random.default_rng(seed)
    grades = np.zeros(num_items)
    grades[:num_relevant] = random.integers(1, 11, num_relevant) / 10
    cosines = _cosines(grades, num_relevant, embedding_dim, random)

    query = _directions(random.normal(size=(1, embedding_dim)))[0]
    aside = random.normal(size=(num_items, embedding_dim))
    aside = _directions(aside - np.outer(aside @ query, query))
    vectors = np.outer(cosines, query) + np.sqrt(1 - cosines**2)[:, np.newaxis] * aside

    order = random.permutation(num_items)
    width = len(str(max(num_items - 1, 0)))
    keys = [f"item-{number:0{width}}" for number in range(num_items)]
    items = [
        SyntheticItem(key=key, embedding=vectors[row].astype(np.float32), score=float(cosines[row]))
        for key, row in zip(keys, order, strict=True)
    ]
    return items, query.astype(np.float32), dict(zip(keys, grades[order].tolist(), strict=True))


def _cosines(grades: Floats, num_relevant: int, dimensions: int, random: np.random.Generator) -> Floats:
    """Return how near each item lies to the query: relevant ones, lookalikes, the rest."""
    anywhere = random.normal(scale=1 / np.sqrt(dimensions), size=len(grades))
    low, high = RELEVANT_COSINES
    anywhere[:num_relevant] = low + (high - low) * grades[:num_relevant]
    alike = anywhere[num_relevant : 2 * num_relevant]
    alike[:] = random.uniform(*LOOKALIKE_COSINES, size=len(alike))
    anywhere[: 2 * num_relevant] += random.normal(scale=NOISE, size=len(anywhere[: 2 * num_relevant]))
    return np.clip(anywhere, -1.0, 1.0)


def _directions(vectors: Floats) -> Floats:
    scaled: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled

"""A vector backend in memory: exact cosine search, nothing approximate to explain."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
MetricsCallback = Callable[[str, float, int], None]
"""Called with the operation, the seconds it took, and how many results it gave (items, for `upsert`)."""
Item = tuple[str, ArrayLike] | Mapping[str, Any]


class BackendError(ValueError):
    """The backend was asked for something it cannot do; the message is one line."""


class Hit(NamedTuple):
    """One result: a document's key and its cosine to the query."""

    key: str
    score: float


class InMemoryBackend:
    """Namespaces of unit vectors, searched exhaustively.

    >>> backend = InMemoryBackend()
    >>> backend.upsert("pets", [("cat", [1.0, 0.0]), ("dog", [0.6, 0.8])])
    >>> backend.query("pets", [2.0, 0.0], k=2)
    [Hit(key='cat', score=1.0), Hit(key='dog', score=0.6)]
    """

    def __init__(self, metrics_callback: MetricsCallback | None = None) -> None:
        self._callback = metrics_callback
        self._rows: dict[str, dict[str, Floats]] = {}
        self._matrices: dict[str, tuple[Sequence[str], Floats]] = {}

    def upsert(self, namespace: str, items: Iterable[Item]) -> None:
        """Add or replace documents: pairs (key, embedding), or dicts with "key" and "embedding".

        All of them or, if one is refused, none. A replaced document keeps its place in the order.
        """
        began = time.perf_counter()
        rows = self._rows.get(namespace, {})
        dimension = len(next(iter(rows.values()))) if rows else None
        fresh: dict[str, Floats] = {}
        for item in items:
            key, embedding = _pair(item)
            fresh[key] = _unit(embedding, f'the embedding of "{key}"', dimension)
            dimension = len(fresh[key])
        if fresh:
            self._rows[namespace] = rows | fresh
            self._matrices.pop(namespace, None)
        self._report("upsert", began, len(fresh))

    def query(self, namespace: str, embedding: ArrayLike, k: int) -> list[Hit]:
        """The k nearest by cosine, best first, equal scores in order of insertion; fewer if there are."""
        began = time.perf_counter()
        if k < 1:
            raise BackendError(f"k is {k}; it must be 1 or more")
        keys, matrix = self._matrix(namespace)
        # Equal rows may differ in the last bit, by where they stand in the product: rounding makes them tie.
        scores = (matrix @ _unit(embedding, "the query embedding", matrix.shape[1])).round(12)
        rows = np.arange(len(keys))
        if k < len(keys):
            cut = scores[np.argpartition(scores, -k)[-k]]
            rows = np.flatnonzero(scores >= cut)
        best = rows[np.argsort(-scores[rows], kind="stable")][:k]
        hits = [Hit(keys[row], float(scores[row])) for row in best]
        self._report("query", began, len(hits))
        return hits

    def _matrix(self, namespace: str) -> tuple[Sequence[str], Floats]:
        if namespace not in self._rows:
            known = ", ".join(self._rows) or "none yet; upsert makes one"
            raise BackendError(f'unknown namespace "{namespace}"; known: {known}')
        if namespace not in self._matrices:
            rows = self._rows[namespace]
            self._matrices[namespace] = (tuple(rows), np.stack(list(rows.values())))
        return self._matrices[namespace]

    def _report(self, operation: str, began: float, results: int) -> None:
        if self._callback is not None:
            self._callback(operation, time.perf_counter() - began, results)


BACKENDS = {"in_memory": InMemoryBackend}


def get_vector_backend(config: Mapping[str, Any]) -> InMemoryBackend:
    """The backend that a config names, say `{"type": "in_memory", "metrics_callback": None}`."""
    kind = config.get("type")
    if kind not in BACKENDS:
        raise BackendError(f'unknown vector backend type "{kind}"; one of: {", ".join(BACKENDS)}')
    unknown = sorted(config.keys() - {"type", "metrics_callback"})
    if unknown:
        raise BackendError(f'unknown vector backend option "{unknown[0]}"; one of: type, metrics_callback')
    return BACKENDS[kind](metrics_callback=config.get("metrics_callback"))


def _pair(item: Item) -> tuple[str, ArrayLike]:
    try:
        if isinstance(item, Mapping):
            return item["key"], item["embedding"]
        key, embedding = item
    except (KeyError, TypeError, ValueError):
        message = f'cannot upsert {item!r:.60}; give (key, embedding) or {{"key": ..., "embedding": ...}}'
        raise BackendError(message) from None
    return key, embedding


def _unit(embedding: ArrayLike, what: str, dimension: int | None) -> Floats:
    try:
        vector = np.asarray(embedding, dtype=np.float64)
    except (TypeError, ValueError):
        raise BackendError(f"{what} is not a list of numbers") from None
    if vector.ndim != 1 or vector.size == 0:
        raise BackendError(f"{what} has shape {vector.shape}; it must be one list of numbers")
    if dimension is not None and len(vector) != dimension:
        raise BackendError(f"{what} has {len(vector)} dimensions; the namespace has {dimension}")
    largest = np.abs(vector).max()
    if not np.isfinite(largest):
        raise BackendError(f"{what} has a number that is not finite")
    if largest == 0:
        raise BackendError(f"{what} is all zeros; a vector without a direction has no cosine")
    scaled = vector / largest  # squares of very large or very small numbers would leave the range of floats
    unit: Floats = scaled / np.linalg.norm(scaled)
    return unit

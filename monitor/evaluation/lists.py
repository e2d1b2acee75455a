"""Lists and dicts of Python callers, checked and made into the arrays that the kernels work on."""

import math
import operator
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, repeat
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from monitor.metrics import METRICS, Batch, Floats, Measure, judged_batch
from monitor.metrics.batch import best_order, lengths_of, padded

Key = TypeVar("Key", bound=Hashable)
Query = TypeVar("Query", bound=Hashable)

RankedItem: TypeAlias = Mapping[str, Any]
"""A ranked document with what else is known of it: `{"key": ..., "score": ...}`; only the key counts."""
Results: TypeAlias = Sequence[Key] | Sequence[RankedItem]
"""A ranking, best first: keys, or items with a key."""
Judged: TypeAlias = Mapping[Key, float] | Collection[Key]
"""What is known of a query's documents: a grade by key, or the keys of the relevant ones (grade 1)."""


def keys_of(results: Results[Key]) -> list[Any]:
    """Return the ranked keys; one that stands twice counts at its first rank, and the ranks below close up.

    >>> keys_of(["b", "a", "b"]), keys_of([{"key": "b", "score": 0.9}, {"key": "a"}])
    (['b', 'a'], ['b', 'a'])
    """
    if type(results) is not list and isinstance(results, str | bytes | AbstractSet | Mapping):
        raise TypeError(f"results must be a list of keys, best first, not a {type(results).__name__}")
    ranked = results if isinstance(results, list) else list(results)  # an iterator can be read only once
    try:
        return list(dict.fromkeys(ranked))
    except TypeError:  # not hashable, so not keys
        return list(dict.fromkeys(_key_of(item, rank) for rank, item in enumerate(ranked, start=1)))


def _key_of(item: Any, rank: int) -> Any:
    key = item.get("key") if isinstance(item, Mapping) else item
    if key is None or not isinstance(key, Hashable):
        raise ValueError(f'rank {rank} of the results is {item!r}; give a key, or a dict with a "key"')
    return key


def grades_of(relevant_docs: Judged[Key]) -> dict[Any, float]:
    """Return the grade of each judged key.

    >>> grades_of(["a", "b"]), grades_of({"a": 2, "b": 0.5})
    ({'a': 1.0, 'b': 1.0}, {'a': 2, 'b': 0.5})
    """
    if isinstance(relevant_docs, str | bytes):
        raise TypeError("relevant_docs must be a list or set of keys, or grades by key, not one text")
    if type(relevant_docs) is not dict and not isinstance(relevant_docs, Mapping):
        return dict.fromkeys(relevant_docs, 1.0)
    if _are_finite(relevant_docs.values()):
        return dict(relevant_docs)
    return {key: finite_grade(grade, repr(key)) for key, grade in relevant_docs.items()}


def _are_finite(grades: Collection[Any]) -> bool:
    """Whether no grade needs a closer look; the quick way, for many."""
    try:
        return {int, float}.issuperset(map(type, grades)) and all(map(math.isfinite, grades))
    except OverflowError:
        return False


def finite_grade(grade: Any, where: str) -> float:
    """Return a grade that a caller gave as a float."""
    try:
        number = math.nan if isinstance(grade, str) else float(grade)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"the grade of {where} must be a finite number, not {grade!r}")
    return number


def batch_of_one(keys: Sequence[Any], judged: Mapping[Any, float]) -> Batch:
    """Build the batch of one ranking."""
    return judged_batch([[*map(judged.get, keys)]], [[*judged.values()]])


def batch_of(rankings: Sequence[Sequence[Any]], judgments: Sequence[Mapping[Any, float]]) -> Batch:
    """Build the batch of many rankings, each with the grades of its query; the work of each row is in C."""
    ranked = chain.from_iterable(
        map(judged.get, keys, repeat(np.nan)) for keys, judged in zip(rankings, judgments, strict=True)
    )
    lengths = lengths_of(rankings)
    known = chain.from_iterable(judged.values() for judged in judgments)
    ideal, relevant = best_order(known, lengths_of(judgments))
    return Batch(lengths=lengths, grades=padded(ranked, lengths, np.nan), ideal=ideal, relevant=relevant)


def measure(name: str, k: int | None) -> Measure:
    """Return a metric of the registry cut at a k that a caller gave; `None` reads the whole list."""
    return Measure(METRICS[name], None if k is None else cut_off(k))


def cut_off(k: int) -> int:
    """Return a k that a caller gave as an int."""
    try:
        number = operator.index(k)
    except TypeError:
        number = 0
    if number < 1 or isinstance(k, bool):
        raise ValueError(f"k must be a whole number, 1 or more, not {k!r}")
    return number


def cut_offs(k_values: Iterable[int]) -> list[int]:
    """Return several of them, each once, in the caller's order."""
    found = list(dict.fromkeys(map(cut_off, k_values)))
    if not found:
        raise ValueError("k_values is empty; give at least one k, say (1, 5, 10)")
    return found


def vectors_of(keys: Sequence[Any], embeddings: Mapping[Any, Sequence[float] | NDArray[Any]]) -> Floats:
    """Return one row a key: its embedding, or zeros, which resemble nothing, where it has none."""
    rows = {key: np.asarray(embeddings[key], dtype=np.float64) for key in keys if key in embeddings}
    shapes = {row.shape for row in rows.values()} or {(1,)}
    if len(shapes) > 1 or len(next(iter(shapes))) != 1:
        raise ValueError(f"embeddings must be vectors of one length, not of {_listed(shapes)}")
    for key, row in rows.items():
        if not np.isfinite(row).all():
            raise ValueError(f"the embedding of {key!r} has a number that is not finite")
    vectors = np.zeros((len(keys), *shapes.pop()))
    for vector, key in zip(vectors, keys, strict=True):
        if key in rows:
            vector[:] = rows[key]
    return vectors


def _listed(shapes: Collection[tuple[int, ...]]) -> str:
    return " and ".join(" x ".join(map(str, shape)) or "a single number" for shape in sorted(shapes))

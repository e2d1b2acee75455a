"""The vector backend: exact, deterministic, and clear about what it refuses."""

import math

import numpy as np
import pytest

from monitor.simulate.backend import BackendError, Hit, InMemoryBackend, get_vector_backend


def backend_with(items, namespace="n") -> InMemoryBackend:
    backend = get_vector_backend({"type": "in_memory", "metrics_callback": None})
    backend.upsert(namespace, items)
    return backend


def cosine(one, other) -> float:
    dot = sum(a * b for a, b in zip(one, other, strict=True))
    return dot / math.sqrt(sum(a * a for a in one) * sum(b * b for b in other))


@pytest.mark.parametrize("k", [1, 7, 199, 200, 500])
def test_a_query_equals_brute_force(k):
    rng = np.random.default_rng(3)
    vectors = {f"d{i}": rng.standard_normal(24) * 10.0 ** rng.integers(-3, 4) for i in range(200)}
    query = rng.standard_normal(24)
    hits = backend_with(vectors.items()).query("n", query, k)
    expected = sorted(vectors, key=lambda key: -cosine(vectors[key].tolist(), query.tolist()))[:k]
    assert [hit.key for hit in hits] == expected
    assert [hit.score for hit in hits] == pytest.approx([cosine(vectors[key], query) for key in expected])


@pytest.mark.parametrize("k", [1, 2, 40, 150, 301])
def test_equal_scores_come_in_order_of_insertion(k):
    rng = np.random.default_rng(5)
    vectors = rng.standard_normal((3, 33))
    kinds = rng.integers(3, size=301)
    backend = backend_with((str(i), vectors[kind] * rng.uniform(0.1, 9)) for i, kind in enumerate(kinds))
    best = sorted(range(3), key=lambda kind: -cosine(vectors[kind], vectors[0]))
    expected = sorted(range(301), key=lambda i: (best.index(kinds[i]), i))
    assert [hit.key for hit in backend.query("n", vectors[0], k)] == [str(i) for i in expected[:k]]


def test_upserting_again_replaces_and_keeps_the_place():
    backend = backend_with([("a", [1, 0]), ("b", [1, 0])])
    backend.query("n", [1, 0], 2)
    backend.upsert("n", [{"key": "a", "embedding": [0, 1]}])
    assert backend.query("n", [1, 0], 5) == [Hit("b", 1.0), Hit("a", 0.0)]
    backend.upsert("n", [("a", [1, 0])])
    assert [hit.key for hit in backend.query("n", [1, 0], 5)] == ["a", "b"]


def test_namespaces_do_not_see_each_other():
    backend = backend_with([("a", [1, 0])])
    backend.upsert("other", [("b", [1, 0, 0])])
    assert [hit.key for hit in backend.query("n", [1, 0], 9)] == ["a"]


def test_opposite_directions_have_cosine_minus_one():
    assert backend_with([("a", [1e200, 0])]).query("n", [-1e-300, 0], 1) == [Hit("a", -1.0)]


def test_the_callback_hears_of_each_operation():
    calls = []
    backend = get_vector_backend({"type": "in_memory", "metrics_callback": lambda *call: calls.append(call)})
    backend.upsert("n", [("a", [1, 0]), ("b", [0, 1])])
    backend.query("n", [1, 0], 1)
    assert [(operation, results) for operation, _, results in calls] == [("upsert", 2), ("query", 1)]
    assert all(0 <= seconds < 5 for _, seconds, _ in calls)


def test_a_refused_item_leaves_everything_as_it_was():
    backend = backend_with([("a", [1, 0])])
    with pytest.raises(BackendError):
        backend.upsert("n", [("b", [1, 0]), ("c", [1, 0, 0])])
    assert [hit.key for hit in backend.query("n", [1, 0], 9)] == ["a"]


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([("b", [1, 2, 3])], 'the embedding of "b" has 3 dimensions; the namespace has 2'),
        ([("b", [0, 0])], 'the embedding of "b" is all zeros; a vector without a direction has no cosine'),
        ([("b", [1, math.nan])], 'the embedding of "b" has a number that is not finite'),
        ([("b", [math.inf, 1])], 'the embedding of "b" has a number that is not finite'),
        ([("b", [[1, 2]])], 'the embedding of "b" has shape (1, 2); it must be one list of numbers'),
        ([("b", [])], 'the embedding of "b" has shape (0,); it must be one list of numbers'),
        ([("b", ["x", "y"])], 'the embedding of "b" is not a list of numbers'),
        ([{"key": "b"}], "cannot upsert {'key': 'b'}; give (key, embedding) or"),
        ([7], "cannot upsert 7; give (key, embedding) or"),
    ],
)
def test_what_cannot_be_stored_is_refused_in_one_line(items, message):
    with pytest.raises(BackendError) as refused:
        backend_with([("a", [1, 0])]).upsert("n", items)
    assert str(refused.value).startswith(message)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("namespace", "embedding", "k", "message"),
    [
        ("m", [1, 0], 1, 'unknown namespace "m"; known: n'),
        ("n", [1, 0], 0, "k is 0; it must be 1 or more"),
        ("n", [1, 0, 0], 1, "the query embedding has 3 dimensions; the namespace has 2"),
        ("n", [0, 0], 1, "the query embedding is all zeros; a vector without a direction has no cosine"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_one_line(namespace, embedding, k, message):
    with pytest.raises(BackendError) as refused:
        backend_with([("a", [1, 0])]).query(namespace, embedding, k)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"type": "faiss"}, 'unknown vector backend type "faiss"; one of: in_memory'),
        ({}, 'unknown vector backend type "None"; one of: in_memory'),
        ({"type": "in_memory", "x": 1}, 'unknown vector backend option "x"; one of: type, metrics_callback'),
    ],
)
def test_an_unknown_backend_is_refused(config, message):
    with pytest.raises(BackendError) as refused:
        get_vector_backend(config)
    assert str(refused.value) == message

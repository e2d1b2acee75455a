"""When what the engine counted is what the reference counted."""

from collections.abc import Mapping, Sequence
from math import isclose
from typing import TypeVar

from tests.property.engine_run import Counted, Histogram
from tests.property.reference import Reference
from tests.property.reference_metrics import sums, up_to
from tests.property.reference_model import Series, Window

Key = TypeVar("Key", Series, Window)

ROUNDING = 1e-9
ADDED_UP = {"vector_ndcg_avg", "vector_ap_avg"}
"""Scores that are sums of fractions: added in another order they may fall on the other side of a bound."""


def assert_equal(found: Counted, reference: Reference) -> None:
    assert found.rejected == reference.rejected
    assert found.fates == reference.fates
    assert found.judged == reference.judged
    assert (found.open, found.pending) == (reference.open, reference.pending)
    assert found.shown == reference.shown
    assert found.clicks == +reference.clicks
    assert_observed(found.series, reference.observed)
    assert_observed(found.windows, reference.in_windows)


def assert_observed(found: Mapping[Key, Histogram], expected: Mapping[Key, Sequence[float]]) -> None:
    assert found.keys() == expected.keys()
    for key, histogram in found.items():
        observed = expected[key]
        family = key.family if isinstance(key, Series) else key.series.family
        assert_close(histogram[:3], sums(observed), key)
        for bound, number in histogram.up_to.items():
            slack = ROUNDING if family in ADDED_UP and 0 < bound < 1 else 0
            assert up_to(bound - slack, observed) <= number <= up_to(bound + slack, observed), (key, bound)


def assert_same(one: Counted, other: Counted) -> None:
    """Equal, but for the order in which floats were added up."""
    assert one[:-2] == other[:-2]
    assert_same_histograms(one.series, other.series)
    assert_same_histograms(one.windows, other.windows)


def assert_same_histograms(found: Mapping[Key, Histogram], other: Mapping[Key, Histogram]) -> None:
    assert found.keys() == other.keys()
    for key, histogram in found.items():
        assert_close(histogram[:3], other[key][:3], key)
        assert histogram.up_to == other[key].up_to, key


def assert_close(found: tuple[float, ...], expected: tuple[float, ...], key: object) -> None:
    for one, other in zip(found, expected, strict=True):
        assert isclose(one, other, rel_tol=ROUNDING, abs_tol=ROUNDING), (key, found, expected)

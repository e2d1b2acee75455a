"""Accumulators: what was observed, in buckets, sums and squares, and added up in any parts."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.config import Config
from monitor.stream.cells import Cells, Observer
from monitor.stream.plan import make_plan

drawn = settings(max_examples=60, deadline=None, derandomize=True, database=None)
STAGES = make_plan(Config()).stages
SHOWN = STAGES[0].columns
FAMILIES = [column.family for column in SHOWN]
RESULTS, EMPTY, LATENCY = (
    FAMILIES.index(name) for name in ("vector_results", "vector_empty_avg", "vector_search_latency_seconds")
)


def observed(label_sets, rows, columns=SHOWN):
    cells = Cells(columns)
    cells.add(Observer(columns).observe(np.array(label_sets), np.array(rows, dtype=float)))
    return cells


def row(**values):
    return [values.get(family.removeprefix("vector_"), math.nan) for family in FAMILIES]


def assert_equal(one, other):
    assert one.buckets.tolist() == other.buckets.tolist()
    np.testing.assert_allclose(one.sums, other.sums, rtol=1e-12)
    np.testing.assert_allclose(one.squares, other.squares, rtol=1e-12)


def test_a_value_is_counted_summed_and_squared():
    cells = observed([0, 0], [row(results=3), row(results=4)])
    assert cells.counts[0, RESULTS] == 2
    assert cells.sums[0, RESULTS] == 7
    assert cells.squares[0, RESULTS] == 25


def test_nan_is_nothing_to_observe():
    cells = observed([0], [row(results=3)])
    assert cells.counts[0, EMPTY] == cells.counts[0, LATENCY] == 0
    assert not np.isnan(cells.sums).any()
    assert not np.isnan(cells.squares).any()


@pytest.mark.parametrize(
    ("value", "bucket"), [(0.0, 0), (1e-9, 1), (0.1, 1), (0.1000001, 2), (0.95, 10), (1.0, 10)]
)
def test_a_value_on_a_bound_falls_below_it(value, bucket):
    cells = observed([0], [row(empty_avg=value)])
    assert np.flatnonzero(cells.buckets[0, EMPTY]).tolist() == [bucket]


def test_a_value_beyond_the_last_bound_is_in_the_bucket_behind_it():
    bounds = SHOWN[RESULTS].measure.metric.buckets
    cells = observed([0], [row(results=bounds[-1] + 1)])
    assert np.flatnonzero(cells.buckets[0, RESULTS]).tolist() == [len(bounds)]


def test_label_sets_do_not_mix():
    cells = observed([2, 0, 2], [row(results=1), row(results=10), row(results=2)])
    assert cells.sums[:, RESULTS].tolist() == [10, 0, 3]
    assert cells.counts[:, RESULTS].tolist() == [1, 0, 2]


def test_growing_makes_empty_rows_and_never_takes_any_away():
    cells = observed([0], [row(results=1)])
    cells.grow(3)
    cells.grow(1)
    assert cells.counts[:, RESULTS].tolist() == [1, 0, 0]


def test_the_columns_of_a_stage_are_added_where_they_stand_in_the_whole_plan():
    plan = make_plan(Config())
    whole = Cells(plan.columns)
    stage = plan.stages[-1]
    found = Observer(stage.columns).observe(np.array([1]), np.full((1, len(stage.columns)), 0.5))
    whole.add(found, stage.first_column)
    place = slice(stage.first_column, stage.first_column + len(stage.columns))
    assert whole.counts[1, place].tolist() == [1] * len(stage.columns)
    assert whole.counts.sum() == len(stage.columns)


numbers = st.floats(0, 1e6) | st.just(math.nan)
rows = st.tuples(st.integers(0, 4), st.tuples(*(numbers for _ in SHOWN)))


@drawn
@given(st.lists(st.lists(rows, min_size=1, max_size=6), min_size=1, max_size=5), st.randoms())
def test_parts_added_up_in_any_order_equal_the_whole(parts, random):
    whole = observed(*zip(*(row for part in parts for row in part), strict=True))
    random.shuffle(parts)
    merged = Cells(SHOWN)
    for part in parts:
        merged.merge(observed(*zip(*part, strict=True)))
    assert_equal(merged, whole)


def test_adding_leaves_what_was_added_as_it_was():
    part = observed([0], [row(results=1)])
    whole = Cells(SHOWN)
    whole.merge(part)
    whole.add(Observer(SHOWN).observe(np.array([0]), np.array([row(results=5)])))
    assert part.sums[0, RESULTS] == 1

"""What holds for every metric of the registry."""

import doctest
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from monitor.metrics import ALIASES, METRICS, UNIT_BUCKETS, Batch, Need, judged_batch, metric, parse
from tests.unit.metrics.batches import MEASURES, PADDING, SPECS, cut, padded, random_batch, taken

every_metric = pytest.mark.parametrize("metric", METRICS.values(), ids=list(METRICS))
every_measure = pytest.mark.parametrize("measure", MEASURES, ids=list(SPECS))


def measures_where(fits):
    return pytest.mark.parametrize("measure", [measure for measure in MEASURES if fits(measure)], ids=str)


OWN_FAMILIES = {
    "results": "vector_results",
    "latency": "vector_search_latency_seconds",
    "dwell_seconds": "vector_dwell_seconds",
    "click_depth": "vector_click_depth",
    "scroll_depth": "vector_scroll_depth",
    "label_delay": "vector_label_delay_seconds",
}
EMPTY_RANKING = {
    "abandonment": 1.0,
    "empty": 1.0,
    "ild": np.nan,
    "position_ctr": np.nan,
    "dwell_seconds": np.nan,
    "click_depth": np.nan,
}
GRADED_ONLY = [
    measure
    for measure in MEASURES
    if "undefined" in measure.metric.params and not measure.metric.uses and "skip" not in measure.name
]
TOLD_BY_OTHERS = {"outcome_success", "scroll_depth", "latency", "label_delay"}


@pytest.fixture(scope="module")
def batch() -> Batch:
    return random_batch()


@every_metric
def test_a_metric_says_what_it_is(metric):
    assert metric.summary.endswith(".")
    for heading in ("Definition: ", "Range: ", "Edge cases: ", "Reference: "):
        assert f"\n{heading}" in metric.doc
    assert doctest.DocTestParser().get_examples(metric.doc)


@every_metric
def test_a_metric_has_a_family_and_rising_buckets_within_its_bounds(metric):
    assert metric.family == OWN_FAMILIES.get(metric.name, f"vector_{metric.name}_avg")
    assert list(metric.buckets) == sorted(set(metric.buckets))
    assert all(metric.bounds[0] <= bucket <= metric.bounds[1] for bucket in metric.buckets[1:])
    assert (metric.buckets == UNIT_BUCKETS) == (metric.bounds == (0.0, 1.0))


@every_metric
def test_a_metric_waits_for_what_it_reads(metric):
    fields = {
        Need.IMPRESSION: {"latency"},
        Need.CLICKS: {"clicks", "dwell", "outcome", "scroll"},
        Need.JUDGMENTS: {"grades", "ideal", "relevant", "relevant_targets", "label_delay"},
    }
    everything = random_batch(rows=5)
    told = {name: getattr(everything, name) for name in fields[metric.need] | metric.uses}
    measure = next(measure for measure in MEASURES if measure.metric is metric)
    assert len(measure.score(Batch(lengths=everything.lengths, **told))) == len(everything)


@every_measure
def test_scores_stay_within_bounds(measure, batch):
    scores = measure.score(batch)
    low, high = measure.metric.bounds
    known = scores[~np.isnan(scores)]
    assert scores.shape == (len(batch),)
    assert scores.dtype == np.float64
    assert known.size or measure.name in {"ild@1", "position_ctr@50"}
    assert np.isfinite(known).all()
    assert (known >= low).all()
    assert (known <= high).all()


@every_measure
def test_more_padding_changes_nothing(measure, batch):
    np.testing.assert_allclose(measure.score(padded(batch, 7)), measure.score(batch), rtol=1e-12)


@measures_where(lambda measure: measure.depth is not None)
def test_ranks_below_a_measures_depth_change_nothing(measure, batch):
    np.testing.assert_allclose(measure.score(cut(batch, measure.depth)), measure.score(batch), rtol=1e-12)


@measures_where(lambda measure: measure.depth is None and measure.k in {3, 5})
def test_a_measure_of_the_whole_list_reads_below_its_cut_off(measure, batch):
    assert not np.array_equal(measure.score(cut(batch, measure.k)), measure.score(batch), equal_nan=True)


@every_measure
def test_the_order_of_rows_changes_nothing(measure, batch):
    order = np.random.default_rng(1).permutation(len(batch)).tolist()
    np.testing.assert_allclose(measure.score(taken(batch, order)), measure.score(batch)[order], rtol=1e-12)


@every_measure
def test_a_batch_scores_as_its_rows_do_alone(measure, batch):
    alone = [measure.score(taken(batch, [row]))[0] for row in range(len(batch))]
    np.testing.assert_allclose(measure.score(batch), alone, rtol=1e-12)


@every_measure
def test_no_rows_give_no_scores(measure, batch):
    assert measure.score(taken(batch, [])).shape == (0,)


@measures_where(
    lambda measure: (
        measure.k == 50 and measure.metric.name not in {"precision", "f1"} and not measure.metric.needs_k
    )
)
def test_a_cut_off_beyond_the_list_takes_the_whole_list(measure, batch):
    whole = replace(measure, k=None)
    np.testing.assert_allclose(measure.score(batch), whole.score(batch), rtol=1e-12)


@every_measure
def test_a_batch_of_depth_0_scores_as_a_padded_one(measure):
    narrow = unjudged_row(depth=0)
    np.testing.assert_array_equal(measure.score(narrow), measure.score(padded(narrow, 4)))


@measures_where(lambda measure: measure.metric.name not in TOLD_BY_OTHERS)
def test_an_empty_ranking_has_its_documented_score(measure):
    expected = EMPTY_RANKING.get(measure.metric.name, 0.0)
    np.testing.assert_array_equal(measure.score(unjudged_row(depth=0)), [expected])


@measures_where(
    lambda measure: (
        measure.metric.need is Need.JUDGMENTS
        and measure.metric.name not in {"label_delay", "diversity_count"}
    )
)
def test_a_ranking_of_unjudged_documents_earns_nothing(measure):
    assert measure.score(unjudged_row(depth=3)).tolist() == [0.0]


@every_measure
def test_a_canonical_name_reads_back_as_the_same_measure(measure):
    again = parse(measure.name)
    assert again == measure
    assert hash(again) == hash(measure)
    assert str(again) == measure.name


@measures_where(
    lambda measure: "undefined" in measure.metric.params and "undefined" not in dict(measure.params)
)
def test_skip_leaves_out_exactly_the_rows_without_a_relevant_judgment(measure, batch):
    skipping = replace(measure, params=(*measure.params, ("undefined", "skip")))
    expected = np.where(batch.relevant == 0, np.nan, measure.score(batch))
    np.testing.assert_array_equal(skipping.score(batch), expected)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False), max_size=6),
        min_size=1,
        max_size=4,
    )
)
@example([[1.7e308] * 6])
@example([[5e-324, 0.0, -1.7e308]])
def test_no_grade_however_odd_makes_a_score_of_relevance_undefined(rankings):
    batch = judged_batch(rankings)
    for measure in GRADED_ONLY:
        scores = measure.score(batch)
        assert np.isfinite(scores).all(), measure
        assert (scores >= 0).all(), measure
        assert (scores <= measure.metric.bounds[1]).all(), measure


def test_an_alias_is_the_metric_it_stands_for():
    assert ALIASES == {
        "map": "ap", "hit": "success", "rr": "mrr", "recip_rank": "mrr", "p": "precision",
    }  # fmt: skip
    assert parse("map@100") == parse("ap@100")


def test_parameters_in_any_order_and_defaults_spelt_out_are_the_same_measure():
    plain, spelt = parse("ndcg(gain=exponential)@10"), parse(" ndcg( ideal=all , gain=exponential ) @10 ")
    assert plain == spelt
    assert len({plain, spelt}) == 1


def test_a_batch_without_what_a_metric_needs_is_refused_by_name():
    with pytest.raises(TypeError, match="the batch has no clicks"):
        parse("ctr@1").score(Batch(lengths=np.array([1])))


def test_a_kernel_parameter_without_choices_or_interval_is_refused():
    def loose(batch, *, weight: float = 1.0): ...

    with pytest.raises(TypeError, match="Literal"):
        metric("loose", need=Need.IMPRESSION)(loose)
    assert "loose" not in METRICS


def test_ndcg_of_100_000_rankings_takes_well_below_50_ms():
    rng = np.random.default_rng(0)
    rows = 100_000
    ideal = -np.sort(-rng.integers(0, 4, (rows, 10)).astype(np.float64), axis=1)
    grades = np.where(rng.random((rows, 20)) < 0.4, rng.integers(0, 4, (rows, 20)), np.nan)
    batch = Batch(lengths=np.full(rows, 20), grades=grades, ideal=ideal, relevant=(ideal > 0).sum(axis=1))
    measure = parse("ndcg@10")

    def seconds() -> float:
        start = time.process_time()
        measure.score(batch)
        return time.process_time() - start

    assert min(seconds() for _ in range(7)) < 0.05


def unjudged_row(depth: int) -> Batch:
    """Return one row whose documents nobody judged, of a query with two relevant judgments elsewhere."""
    widths = {"ideal": 2} | dict.fromkeys(PADDING.keys() - {"ideal"}, depth)
    fields = {name: np.full((1, widths[name]), padding) for name, padding in PADDING.items()}
    fields["ideal"] = np.array([[2.0, 1.0]])
    return Batch(
        lengths=np.array([depth]),
        **fields,
        relevant=np.array([2]),
        relevant_targets=np.array([2]),
        embeddings=[np.ones((depth, 4), dtype=np.float32)],
        outcome=np.array([np.nan]),
        scroll=np.array([np.nan]),
        latency=np.array([np.nan]),
        label_delay=np.array([np.nan]),
    )

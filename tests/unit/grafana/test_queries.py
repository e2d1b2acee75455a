"""Queries: what a family's labels make of them."""

import pytest

from grafana.queries import FAMILIES, Average, Difference, quantile, rate, ratio, select

TARGET = 'job=~"$job",instance=~"$instance"'


def test_a_judged_family_is_selected_by_k_maturity_and_the_label() -> None:
    assert select("vector_ndcg_avg", "_sum") == (
        f'vector_ndcg_avg_sum{{{TARGET},k=~"$k",maturity=~"$maturity",$label=~"$variant"}}'
    )


def test_a_family_without_labels_is_selected_by_its_process_alone() -> None:
    assert select("ranking_monitor_judgments") == f"ranking_monitor_judgments{{{TARGET}}}"


def test_a_name_that_the_catalogue_does_not_have_is_refused() -> None:
    with pytest.raises(KeyError, match="vector_ndgc_avg"):
        select("vector_ndgc_avg")


def test_a_rate_groups_by_what_it_is_told() -> None:
    assert rate("ranking_monitor_rejected_total", "reason", where='reason!=""') == (
        f'sum by (reason) (rate(ranking_monitor_rejected_total{{{TARGET},reason!=""}}[$__rate_interval]))'
    )


def test_a_mean_is_summed_over_replicas_before_it_is_divided_and_never_over_k() -> None:
    selected = f'{TARGET},k=~"$k",$label=~"$variant"'
    assert Average("vector_ctr_avg").mean == ratio(
        f"sum by (k) (rate(vector_ctr_avg_sum{{{selected}}}[$window]))",
        f"sum by (k) (rate(vector_ctr_avg_count{{{selected}}}[$window]))",
    )


def test_every_part_of_a_mean_of_yesterday_is_of_yesterday() -> None:
    margin = Average("vector_ndcg_avg", offset="1d").margin
    assert margin.count("[$window]") == margin.count("[$window] offset 1d)") > 0


@pytest.mark.parametrize(
    "name", [name for name in FAMILIES if name.endswith("_avg") and "window" not in name]
)
def test_every_average_has_the_squares_that_its_interval_needs(name: str) -> None:
    assert f"{name.removesuffix('_avg')}_squares_total" in Average(name).margin


def test_a_share_needs_a_bound_of_the_histogram() -> None:
    assert 'le="0.5"' in Average("vector_ndcg_avg").share_up_to("0.5")
    with pytest.raises(AssertionError):
        Average("vector_ndcg_avg").share_up_to("0.55")


def test_a_difference_to_a_mean_with_fewer_labels_says_how_they_match() -> None:
    pair = Difference(Average("vector_ndcg_avg", by=("$label",)), Average("vector_ndcg_avg"))
    assert " - on (k, maturity) group_left () " in pair.value
    assert " + on (k, maturity) group_left () " in pair.margin


def test_a_difference_to_an_earlier_time_matches_by_all_labels() -> None:
    pair = Difference(Average("vector_ndcg_avg"), Average("vector_ndcg_avg", offset="1w"))
    assert "group_left" not in pair.value + pair.margin


def test_a_quantile_keeps_the_buckets_apart() -> None:
    assert quantile(0.9, "vector_dwell_seconds").startswith("histogram_quantile(0.9, sum by (le) (rate(")

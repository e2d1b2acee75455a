"""The plan: which metric is decided after which delay, and under which labels."""

import pytest

from monitor.config import ALWAYS, Config
from monitor.metrics import METRICS, Need
from monitor.stream.plan import make_plan


def plan(**changes):
    return make_plan(Config.model_validate(changes))


def families(stage):
    return {column.family for column in stage.columns}


def test_the_delays_are_zero_the_attribution_and_the_maturities_in_order():
    found = plan(attribution_seconds=300, judgments={"maturities": [3600, 60]})
    assert [(stage.delay, stage.decides_clicks, stage.maturity) for stage in found.stages] == [
        (0, False, None),
        (60, False, "1m"),
        (300, True, None),
        (3600, False, "1h"),
    ]
    assert found.last_delay == 3600


def test_an_attribution_that_is_also_a_maturity_is_one_stage_for_both():
    found = plan(attribution_seconds=60, judgments={"maturities": [60]}, metrics=["ndcg@10", "ctr@10"])
    assert [stage.delay for stage in found.stages] == [0, 60]
    assert found.stages[1].decides_clicks
    assert found.stages[1].maturity == "1m"
    assert {"vector_ndcg_avg", "vector_ctr_avg"} <= families(found.stages[1])


def test_every_configured_metric_stands_where_what_it_needs_is_known():
    for stage in plan().stages:
        needs = {column.measure.metric.need for column in stage.columns}
        if stage.delay == 0:
            assert needs == {Need.IMPRESSION}
        elif stage.decides_clicks:
            assert needs == {Need.CLICKS}
        else:
            assert needs == {Need.JUDGMENTS}


def test_judged_metrics_are_decided_at_every_maturity():
    found = plan(metrics=["ndcg@10"], judgments={"maturities": [60, 3600]})
    columns = [column for column in found.columns if column.family == "vector_ndcg_avg"]
    assert [column.labels for column in columns] == [
        (("k", "10"), ("maturity", "1m")),
        (("k", "10"), ("maturity", "1h")),
    ]


@pytest.mark.parametrize(
    ("metric", "labels"),
    [
        ("ctr@5", (("k", "5"),)),
        ("ctr", (("k", "all"),)),
        ("abandonment", ()),
        ("ndcg", (("k", "all"), ("maturity", "1m"))),
        ("r_precision", (("k", "all"), ("maturity", "1m"))),
    ],
)
def test_a_column_has_the_labels_of_its_kind(metric, labels):
    found = plan(metrics=[metric], judgments={"maturities": [60]})
    family = f"vector_{metric.partition('@')[0]}_avg"
    assert [column.labels for column in found.columns if column.family == family] == [labels]


def test_some_metrics_are_always_there_and_have_no_labels_of_their_own():
    found = plan(metrics=[])
    assert {column.family for column in found.columns} == {METRICS[name].family for name in ALWAYS}
    assert all(column.labels == () for column in found.columns)


def test_a_named_metric_has_its_own_family():
    found = plan(metrics=[{"metric": "ndcg(gain=exponential)@10", "name": "ndcg_exp"}])
    column = next(column for column in found.columns if column.measure.metric.name == "ndcg")
    assert column.family == "vector_ndcg_exp_avg"
    assert column.window_family == "vector_window_ndcg_exp"
    assert column.averaged


@pytest.mark.parametrize(
    "family", ["vector_results", "vector_search_latency_seconds", "vector_dwell_seconds"]
)
def test_histograms_of_amounts_are_no_averages(family):
    column = next(column for column in plan().columns if column.family == family)
    assert not column.averaged
    assert column.window_family == family.replace("vector_", "vector_window_")


def test_the_columns_of_the_stages_follow_each_other():
    found = plan()
    for stage in found.stages:
        place = slice(stage.first_column, stage.first_column + len(stage.columns))
        assert found.columns[place] == stage.columns


def test_a_stage_tells_where_the_measures_of_a_kind_stand():
    stage = plan(attribution_seconds=60, judgments={"maturities": [60]}, metrics=["ctr@3", "ndcg@5"]).stages[
        1
    ]
    for need in (Need.CLICKS, Need.JUDGMENTS):
        found = stage.measures(need)
        assert [stage.columns[i].measure for i, _ in found] == [measure for _, measure in found]
        assert all(measure.metric.need is need for _, measure in found)


@pytest.mark.parametrize(("metrics", "positions"), [(["ndcg@50"], 10), (["ctr@3"], 10), (["ctr@25"], 25)])
def test_positions_are_told_apart_as_deep_as_a_click_metric_looks(metrics, positions):
    assert plan(metrics=metrics).positions == positions


@pytest.mark.parametrize(("metrics", "kept"), [(["ndcg@10"], False), (["ild@10"], True)])
def test_embeddings_are_kept_only_where_a_metric_uses_them(metrics, kept):
    assert plan(metrics=metrics).keeps_embeddings is kept


def test_condensing_is_for_every_judged_metric_but_the_share_of_judged_documents():
    found = plan(metrics=["ndcg@10", "judged@10", "ctr@10"], judgments={"unjudged": "condensed"})
    names = {column.measure.name for column in found.columns if column.family.endswith("_avg")}
    assert {"ndcg(unjudged=condensed)@10", "judged@10", "ctr@10"} <= names
    assert "ndcg@10" not in names


def test_a_metric_that_says_itself_how_the_unjudged_count_is_left_alone():
    entry = {"metric": "ndcg(unjudged=condensed)@10", "name": "ndcg_condensed"}
    found = plan(metrics=[entry], judgments={"unjudged": "condensed"})
    column = next(column for column in found.columns if column.family == "vector_ndcg_condensed_avg")
    assert column.measure.name == "ndcg(unjudged=condensed)@10"

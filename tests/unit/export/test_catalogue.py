"""The catalogue has every family once, and the collector exports exactly what it declares."""

import re

import pytest

from monitor.config import Config
from monitor.export import catalogue
from monitor.export.beginnings import Beginnings
from monitor.export.catalogue import Kind
from monitor.export.collector import ProcessStatus, SnapshotCollector
from monitor.metrics import METRICS
from monitor.stream.plan import make_plan
from tests.unit.export.snapshots import SMALL, busy_snapshot

FAMILIES = catalogue.families(make_plan(Config()).columns, ("variant",))


def test_families_of_the_design_have_their_names_types_and_labels() -> None:
    assert FAMILIES["vector_ndcg_avg"].labels == ("k", "maturity", "variant")
    assert FAMILIES["vector_ctr_avg"].labels == ("k", "variant")
    assert FAMILIES["vector_abandonment_avg"].labels == ("variant",)
    assert FAMILIES["vector_ndcg_squares_total"].labels == ("k", "maturity", "variant")
    assert FAMILIES["vector_ndcg_squares_total"].kind is Kind.COUNTER
    assert FAMILIES["vector_window_ndcg_avg"].labels == ("k", "maturity", "variant", "window")
    assert FAMILIES["vector_window_start_seconds"].labels == ("window", "delay")
    assert FAMILIES["vector_position_clicks_total"].labels == ("position", "variant")
    assert FAMILIES["vector_dwell_seconds"].kind is Kind.HISTOGRAM


def test_plain_histograms_have_neither_squares_nor_windows() -> None:
    assert "vector_search_latency_seconds" in FAMILIES
    assert not [name for name in FAMILIES if "latency" in name and name != "vector_search_latency_seconds"]


def test_the_help_of_a_score_is_the_summary_of_its_metric() -> None:
    assert FAMILIES["vector_ndcg_avg"].help == METRICS["ndcg"].summary


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_a_family_has_a_help_sentence_and_a_name_that_fits_its_type(family: catalogue.Family) -> None:
    assert family.help.endswith(".")
    assert family.name.endswith("_total") == (family.kind is Kind.COUNTER)
    assert bool(family.buckets) == (family.kind is Kind.HISTOGRAM)
    assert family.name.startswith(("vector_", "ranking_monitor_"))


def test_the_collector_exports_what_the_catalogue_declares_and_nothing_else() -> None:
    declared = catalogue.families(make_plan(SMALL).columns, SMALL.labels)
    unseen = {
        f"vector_window_{name}_{what}"
        for name in ("ctr", "empty", "outcome_success")
        for what in ("avg", "samples")
    }
    collector = SnapshotCollector(busy_snapshot(), Beginnings(SMALL.labels))
    exported = []
    for filled in [*collector.counted(), *collector.momentary(ProcessStatus("1", "c", lag={("t", 0): 1}))]:
        family = filled.family
        exported.append(family.name)
        assert family == declared[family.name]
        for line in filled.lines:
            labels = [label for label in re.findall(r'(\w+)="', line) if label != "le"]
            assert labels == sorted(family.labels)
    assert exported == [name for name in declared if name not in unseen]


def test_the_table_has_a_row_for_each_family() -> None:
    lines = catalogue.markdown(Config()).splitlines()
    assert len(lines) == 2 + len(FAMILIES)
    assert (
        "| `ranking_monitor_consumer_lag` | gauge | `topic`, `partition` "
        "| Records between the processed position and the end of the partition. |"
    ) in lines

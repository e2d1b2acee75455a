"""Dashboards: what Grafana and the person on call need of each of them."""

import re
from collections.abc import Mapping
from itertools import combinations
from typing import Any

import pytest
import yaml

from grafana import runbooks
from grafana.queries import FAMILIES, LABEL
from monitor.alerting.detector import PREFIX
from monitor.alerting.render import groups
from monitor.alerting.values import Values
from tests.support.grafana import BUILT_IN, DASHBOARDS, FOLDER, Target, names_in, panels, targets, variables

Dashboard = Mapping[str, Any]
SELECTOR = re.compile(r"([a-zA-Z_:][\w:]*)\{([^}]*)\}")
RECORDED = {rule.get("record") for group in groups(Values()) for rule in group["rules"]}
NOT_OURS = {
    *("up", "ALERTS", "scrape_duration_seconds", "scrape_samples_scraped"),
    *("process_start_time_seconds", "process_resident_memory_bytes", "process_cpu_seconds_total"),
}
each_dashboard = pytest.mark.parametrize("dashboard", DASHBOARDS.values(), ids=DASHBOARDS.keys())
each_target = pytest.mark.parametrize("target", targets(), ids=str)
each_panel = pytest.mark.parametrize(
    "panel",
    [pytest.param(panel, id=f"{d['uid']}-{panel['id']}") for d in DASHBOARDS.values() for panel in panels(d)],
)


def test_there_are_two_with_fixed_uids() -> None:
    assert {name: dashboard["uid"] for name, dashboard in DASHBOARDS.items()} == {
        "quality": "ranking-quality",
        "pipeline": "ranking-pipeline",
    }


@each_dashboard
def test_it_can_be_provisioned_as_it_is(dashboard: Dashboard) -> None:
    assert dashboard["schemaVersion"] == 41
    assert "__inputs" not in dashboard
    assert dashboard.get("id") is None


@each_dashboard
def test_ids_are_unique(dashboard: Dashboard) -> None:
    ids = [panel["id"] for panel in dashboard["panels"]]
    assert len(set(ids)) == len(ids)
    assert all(ids)


@each_dashboard
def test_panels_fill_the_grid_without_overlapping(dashboard: Dashboard) -> None:
    places = [(panel["title"], panel["gridPos"]) for panel in dashboard["panels"]]
    for title, place in places:
        assert place["x"] + place["w"] <= 24, title
    for (one, a), (other, b) in combinations(places, 2):
        apart = (
            a["x"] + a["w"] <= b["x"]
            or b["x"] + b["w"] <= a["x"]
            or a["y"] + a["h"] <= b["y"]
            or b["y"] + b["h"] <= a["y"]
        )
        assert apart, f"{one} and {other}"


@each_dashboard
def test_every_variable_that_is_named_exists_and_the_other_way_round(dashboard: Dashboard) -> None:
    shown = {key: value for key, value in dashboard.items() if key != "templating"}
    declared = variables(dashboard)
    queries = [str(variable.get("query", "")) for variable in declared.values()]
    named = names_in(str(shown)).union(*(names_in(query) for query in queries)) - set(BUILT_IN) - {"__all"}
    repeated = {panel["repeat"] for panel in dashboard["panels"] if panel.get("repeat")}
    assert named | repeated == set(declared)


@each_dashboard
def test_a_variable_is_declared_before_the_ones_that_need_it(dashboard: Dashboard) -> None:
    before: set[str] = set()
    for name, variable in variables(dashboard).items():
        assert names_in(str(variable.get("query", ""))) <= before
        before.add(name)


@pytest.mark.parametrize("name", ["job", "instance", "variant", "k", "maturity"])
def test_several_values_or_all_can_be_chosen(name: str) -> None:
    variable = variables(DASHBOARDS["quality"])[name]
    assert (variable["multi"], variable["includeAll"], variable["allValue"]) == (True, True, ".*")


@each_panel
def test_a_panel_says_its_unit_what_good_looks_like_and_where_to_read_on(panel: Mapping[str, Any]) -> None:
    assert panel["fieldConfig"]["defaults"]["unit"]
    assert re.search(r"^.{20,}\n\nGood: .+\.$", panel["description"], re.DOTALL)
    pages = [link["url"].removeprefix("${runbooks}/").removesuffix(".md") for link in panel["links"]]
    assert [runbooks.Runbook(page) for page in pages]


@each_panel
def test_a_panel_names_its_data_source_by_the_variable(panel: Mapping[str, Any]) -> None:
    for holder in (panel, *panel["targets"]):
        assert holder["datasource"] == {"type": "prometheus", "uid": "${datasource}"}


@each_panel
def test_the_queries_of_a_panel_have_names_of_their_own(panel: Mapping[str, Any]) -> None:
    refs = [query["refId"] for query in panel["targets"]]
    assert refs
    assert all(refs)
    assert len(set(refs)) == len(refs)


@each_target
def test_a_query_takes_names_from_the_catalogue_and_mixes_no_k_and_no_maturity(target: Target) -> None:
    selectors = SELECTOR.findall(target.expression)
    assert selectors
    for name, matchers in selectors:
        if name in NOT_OURS:
            continue
        if name.startswith(PREFIX):
            assert name in RECORDED
            assert 'job=~"$job"' in matchers
            continue
        family = FAMILIES.get(name) or FAMILIES[re.sub("_(sum|count|bucket)$", "", name)]
        for label in {"k", "maturity"} & set(family.labels):
            assert f'{label}=~"${label}"' in matchers
        assert ("$label" in matchers) == (LABEL in family.labels)
        assert 'job=~"$job"' in matchers


@each_target
def test_a_sum_over_a_family_with_k_or_maturity_keeps_them_apart(target: Target) -> None:
    repeated = {"k", "maturity"} if target.panel["type"] == "heatmap" else set[str]()
    for grouped, name in re.findall(r"sum by \(([^)]*)\) \(\w+\((\w+)\{", target.expression):
        family = FAMILIES.get(name) or FAMILIES[re.sub("_(sum|count|bucket)$", "", name)]
        kept = {label.strip() for label in grouped.split(",")} | repeated
        assert {"k", "maturity"} & set(family.labels) <= kept


def test_the_heatmap_is_repeated_by_what_it_sums_over() -> None:
    rows = {panel["title"]: panel for panel in DASHBOARDS["quality"]["panels"]}
    assert rows["Distribution of NDCG@$k"]["repeat"] == "k"
    assert rows["NDCG@$k after $maturity"]["repeat"] == "maturity"


def test_there_is_a_row_for_each_value_of_the_label() -> None:
    assert [p["repeat"] for p in DASHBOARDS["quality"]["panels"] if p.get("repeat")] == [
        *("k", "maturity"),
        "variant",
    ]


@each_dashboard
def test_alerts_and_restarts_are_marked_on_the_graphs(dashboard: Dashboard) -> None:
    marks = {mark["name"]: mark for mark in dashboard["annotations"]["list"]}
    assert 'alertstate="firing"' in marks["Alerts"]["expr"]
    assert marks["Alerts"]["titleFormat"] == "{{alertname}}"
    assert marks["Restarts"]["useValueForTime"] is True


def test_provisioning_names_a_prometheus_and_a_folder_of_dashboards() -> None:
    sources = yaml.safe_load((FOLDER / "provisioning/datasources/prometheus.yaml").read_text())
    providers = yaml.safe_load((FOLDER / "provisioning/dashboards/ranking-monitor.yaml").read_text())
    assert [source["type"] for source in sources["datasources"]] == ["prometheus"]
    assert [provider["type"] for provider in providers["providers"]] == ["file"]

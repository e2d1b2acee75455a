"""The rendered rules: what every rule must have, and that the committed files are these."""

import re
from typing import Any

import pytest
import yaml

from monitor.alerting.detector import PREFIX
from monitor.alerting.render import rules_file, values_file
from monitor.alerting.values import Values
from monitor.config import Config
from monitor.export.catalogue import Kind, families
from monitor.stream.plan import make_plan
from tests.support.documents import ROOT, text

FOLDER = "deploy/prometheus"
PROMETHEUS_OWN = {"up", "process_start_time_seconds"}
SERIES = {
    f"{family.name}{part}"
    for family in families(make_plan(Config()).columns, Config().labels).values()
    for part in (("_bucket", "_sum", "_count") if family.kind is Kind.HISTOGRAM else ("",))
}
SECTIONS = ["Meaning", "First look", "Likely causes", "What to do"]


def rules(values: Values | None = None) -> list[dict[str, Any]]:
    groups = yaml.safe_load(rules_file(values or Values()))["groups"]
    return [rule for group in groups for rule in group["rules"]]


RECORDS = [rule for rule in rules() if "record" in rule]
ALERTS = [rule for rule in rules() if "alert" in rule]
NAMES = {name for name in Values.model_fields if name.startswith(("Vector", "RankingMonitor"))}
OFF = {"VectorNDCGBudgetBurn"}
"""Those that are off until a value is given."""


def test_the_committed_files_are_what_the_code_renders() -> None:
    remedy = "run python -m monitor.alerting deploy/prometheus"
    assert text(f"{FOLDER}/rules.yaml") == rules_file(Values()), remedy
    assert text(f"{FOLDER}/values.yaml") == values_file(Values()), remedy


def test_the_reference_of_the_values_is_the_defaults() -> None:
    assert Values.model_validate(yaml.safe_load(text(f"{FOLDER}/values.yaml"))) == Values()


def test_every_value_is_explained() -> None:
    lines = text(f"{FOLDER}/values.yaml").splitlines()
    keys = [line for line in lines if re.match(r" *\w+:", line)]
    assert all(" # " in line or line.endswith(":") for line in keys)
    assert not [line for line in lines if line.rstrip().endswith("#")]


def test_there_is_a_rule_for_every_alert_of_the_values() -> None:
    assert {rule["alert"] for rule in ALERTS} == NAMES - OFF
    objective = Values.model_validate({"VectorNDCGBudgetBurn": {"objective": 0.85}})
    assert {rule["alert"] for rule in rules(objective) if "alert" in rule} == NAMES


@pytest.mark.parametrize("rule", ALERTS, ids=lambda rule: str(rule["alert"]))
def test_an_alert_says_how_bad_what_and_where_to_look(rule: dict[str, Any]) -> None:
    assert rule["labels"]["severity"] in ("critical", "warning", "info")
    assert "keep_firing_for" in rule
    annotations = rule["annotations"]
    assert "{{" in annotations["summary"] or rule["labels"].get("reason") == "absent"
    assert annotations["dashboard_url"].startswith("http://localhost:3000/d/ranking-")
    assert annotations["runbook_url"] == f"docs/runbooks/{rule['alert']}.md"


@pytest.mark.parametrize("name", sorted(NAMES))
def test_an_alert_has_a_runbook(name: str) -> None:
    page = text(f"docs/runbooks/{name}.md")
    assert page.startswith(f"# {name}\n")
    assert re.findall(r"^## (.+)$", page, re.MULTILINE) == SECTIONS


def test_there_is_no_runbook_without_an_alert() -> None:
    assert {path.stem for path in (ROOT / "docs/runbooks").glob("*.md")} == NAMES


def test_records_are_named_by_level_metric_and_operation() -> None:
    for rule in RECORDS:
        assert re.fullmatch(
            r"job(_topic|_task)?:[a-z_]+:[a-z_]+|vector_quality:[a-z_]+(:[a-z0-9_]+)?", rule["record"]
        )


def test_the_rules_use_only_what_is_exported_or_was_recorded_before() -> None:
    """Rules of one group are evaluated in their order; of another group they see what it recorded last."""
    groups = yaml.safe_load(rules_file(Values()))["groups"]
    for group in groups:
        others = {rule.get("record") for other in groups if other is not group for rule in other["rules"]}
        known = SERIES | PROMETHEUS_OWN | others
        for rule in group["rules"]:
            used = set(re.findall(r"([a-z][\w:]*)\{", rule["expr"]))
            assert used or rule["expr"].startswith("vector(")
            assert used <= known, rule
            known |= {rule["record"]} if "record" in rule else set()


def test_every_selector_names_the_job() -> None:
    for rule in rules(Values(job="search-quality")):
        for matchers in re.findall(r"[a-z][\w:]*\{([^}]*)\}", rule["expr"]):
            assert matchers.startswith('job="search-quality"'), rule


def test_counters_are_summed_before_they_are_divided() -> None:
    for rule in RECORDS:
        assert not re.search(r"\)\s*/\s*(rate|increase)\(", rule["expr"])
        for found in re.finditer(r"increase\(", rule["expr"]):
            before = rule["expr"][: found.start()].rstrip()
            assert before.endswith(("(", "or")), rule


def test_time_can_be_shortened() -> None:
    """No duration stands in the rules that is not a value; the detector has tests of its own for that."""
    values = yaml.safe_load(text(f"{FOLDER}/values.yaml"))
    seconds = (f"{number}s" for number in range(1001, 2000))

    def shorten(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: shorten(one) for key, one in value.items()}
        return next(seconds) if re.fullmatch(r"\d+[smhd]", str(value)) else value

    shortened = shorten({**values, "detection": {}})
    # It stands in no expression, and every range must hold some of it.
    shortened["evaluation_interval"] = "60s"
    # The only ones that must be in an order.
    for rate in (shortened["VectorNDCGBudgetBurn"][speed] for speed in ("fast", "slow")):
        rate["long"], rate["short"] = rate["short"], rate["long"]
    for rule in rules(Values.model_validate(shortened)):
        if PREFIX in rule["expr"] + rule.get("record", ""):
            continue
        # The first deadline of an impression is at 0s, whatever the values are.
        expr = rule["expr"].replace('delay="0s"', "") + rule.get("for", "") + rule.get("keep_firing_for", "")
        for number, unit in re.findall(r"(?<![\w.:])(\d+)([smhdw])\b", expr):
            assert 1001 <= int(number) < 2000, rule
            assert unit == "s", rule


def test_another_label_and_baseline_can_be_compared() -> None:
    texts = rules_file(Values(label="engine", baseline="v1"))
    assert 'engine="v1"' in texts
    assert "&var-label=engine&var-variant={{ $labels.engine | urlquery }}" in texts
    assert "variant" not in texts.replace("&var-variant=", "")


@pytest.mark.parametrize("name", sorted(NAMES))
def test_an_alert_that_is_null_is_left_out_and_nothing_else(name: str) -> None:
    found = rules(Values.model_validate({name: None}))
    assert found == [rule for rule in rules() if rule.get("alert") != name]


def test_without_a_label_there_is_only_history() -> None:
    found = rules(Values(label=None))
    assert {rule["labels"]["against"] for rule in found if "against" in rule.get("labels", {})} == {
        "history",
        "yesterday",
        "last_week",
    }
    assert {rule["alert"] for rule in found if "alert" in rule} == NAMES - OFF


def test_the_addresses_are_values() -> None:
    values = Values(runbooks="https://wiki.example.com/runbooks", dashboards="https://grafana.example.com/d")
    for rule in rules(values):
        if "alert" in rule:
            assert rule["annotations"]["runbook_url"].startswith("https://wiki.example.com/runbooks/")
            assert rule["annotations"]["dashboard_url"].startswith("https://grafana.example.com/d/ranking-")

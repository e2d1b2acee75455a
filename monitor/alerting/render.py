"""The rules and the values as files."""

from collections.abc import Iterable, Iterator
from typing import Any

import yaml
from pydantic.fields import FieldInfo

from monitor.alerting.alert import Alert
from monitor.alerting.alerts import quality_alerts
from monitor.alerting.change_alerts import verdict_records
from monitor.alerting.detector import Detector, Rule
from monitor.alerting.fields import Block
from monitor.alerting.means import Record
from monitor.alerting.pipeline import pipeline_alerts
from monitor.alerting.quality_inputs import input_records
from monitor.alerting.recording import pipeline_records, quality_records
from monitor.alerting.values import Values
from monitor.durations import in_words

RULES_NOTE = """\
# Rules for Prometheus 2.42 or newer, made by `ranking-monitor rules`.
# Do not edit them: give your values with `ranking-monitor rules --values my.yaml` (docs/alerting.md).
"""
VALUES_NOTE = """\
# Every value of the alert rules with its default (docs/alerting.md says how to choose them).
# Copy what you want to change; `ranking-monitor rules --values my.yaml` renders your rules.
# An alert that you do not want: `VectorCTRRegression: null`.
# Durations are whole seconds: 90s, 5m, 1h30m, 7d.
"""


def groups(values: Values) -> list[dict[str, Any]]:
    """The rules about the ranking, of which long windows need a slower interval, and those about the monitor.

    The rules of a group are evaluated in their order, so an alert sees what was recorded at the same time.
    """
    interval, detected = values.evaluation_interval, Detector(values).rules()
    fast, slow = ([_detected(rule) for rule in detected if rule.slow is slow] for slow in (False, True))
    quality = [*quality_records(values), *input_records(values), *fast, *verdict_records(values)]
    return [
        _group("ranking-quality", interval, quality, quality_alerts(values), values),
        _group("ranking-quality-slow", values.detection.slow_interval, slow, [], values),
        _group("ranking-monitor", interval, pipeline_records(values), pipeline_alerts(values), values),
    ]


def _detected(rule: Rule) -> Record:
    return Record(rule.record, rule.expression.promql(), rule.labels)


def rules_file(values: Values) -> str:
    """The rule file."""
    return RULES_NOTE + yaml.dump({"groups": groups(values)}, Dumper=_Dumper, sort_keys=False, width=1000)


def _group(
    name: str, interval: int, records: Iterable[Record], alerts: Iterable[Alert], values: Values
) -> dict[str, Any]:
    wanted = (alert for alert in alerts if alert.name not in values.left_out)
    rules = [*map(_record, records), *(_alert(alert, values) for alert in wanted)]
    return {"name": name, "interval": in_words(interval), "rules": rules}


def _record(record: Record) -> dict[str, Any]:
    rule: dict[str, Any] = {"record": record.name, "expr": record.expr}
    return rule | ({"labels": dict(record.labels)} if record.labels else {})


def _alert(alert: Alert, values: Values) -> dict[str, Any]:
    dashboard = f"{values.dashboards}/{alert.dashboard}?var-job={{{{ $labels.job | urlquery }}}}"
    value = f"{{{{ $labels.{alert.chosen} | urlquery }}}}"
    chosen = f"&var-label={alert.chosen}&var-variant={value}" if alert.chosen else ""
    return {
        "alert": alert.name,
        "expr": alert.expr,
        **({"for": in_words(alert.wait)} if alert.wait else {}),
        "keep_firing_for": in_words(alert.keep_firing_for),
        "labels": {"severity": alert.severity, **alert.labels},
        "annotations": {
            "summary": alert.summary,
            "description": alert.description,
            "runbook_url": f"{values.runbooks}/{alert.name}.md",
            "dashboard_url": dashboard + chosen,
        },
    }


def values_file(values: Values) -> str:
    """Every value with what it means, as a file that can be edited."""
    return VALUES_NOTE + "\n".join(_block(values, "")) + "\n"


def _block(block: Block, indent: str) -> Iterator[str]:
    shown = block.model_dump(by_alias=True)
    for name, field in type(block).model_fields.items():
        value, key = getattr(block, name), field.alias or name
        if isinstance(value, Block):
            yield f"\n{indent}# {_meaning(field)}" if not indent else f"{indent}# {_meaning(field)}"
            yield f"{indent}{key}:"
            yield from _block(value, indent + "  ")
        else:
            yield f"{indent}{key}: {_scalar(shown[key])}  # {_meaning(field)}"


def _meaning(field: FieldInfo) -> str:
    return " ".join((field.description or "").split())


def _scalar(value: Any) -> str:
    return yaml.safe_dump(value, default_flow_style=True, width=1000).removesuffix("...\n").strip()


class _Dumper(yaml.SafeDumper):
    """Writes expressions of several lines as blocks, and lists indented, as people do."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)

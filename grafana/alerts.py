"""Alerts on a dashboard: what fired when, as a timeline and as marks on every graph."""

from grafana_foundation_sdk.builders import dashboard, statetimeline
from grafana_foundation_sdk.models import dashboard as models

from grafana.panels import DATASOURCE, RED, YELLOW, About, Query, Unit, states
from grafana.queries import TARGET
from grafana.runbooks import Runbook

# An alert over all replicas has no job or instance.
OF_THIS_JOB = 'job=~"$job|"'
# What tells alerts of one name apart: without these a line would show the worst of several.
APART = ("alertname", "severity", "job", "against", "judgments", "speed", "of", "reason")


def alert_timeline(names: str, by: str, *, runbook: Runbook, width: int, height: int) -> statetimeline.Panel:
    """Alerts whose name matches, pending and firing: one line for each rule, job and value of `by`."""
    pending = f'ALERTS{{alertname=~"{names}",alertstate="pending",{OF_THIS_JOB}}}'
    firing = f'ALERTS{{alertname=~"{names}",alertstate="firing",{OF_THIS_JOB}}}'
    about = About(
        title="Alerts",
        says="Alerts of the rules in Prometheus: yellow while the condition has not held for long enough, "
        "red when it fires.",
        good="nothing here. With no rules loaded it is empty as well.",
        unit=Unit.NUMBER,
        runbook=runbook,
    )
    labels = (*APART, by)
    legend = " ".join(f"{{{{{label}}}}}" for label in labels)
    query = Query(f"max by ({', '.join(labels)}) ({pending} or 2 * {firing})", legend)
    shown = {"1": ("pending", YELLOW), "2": ("firing", RED)}
    return states(about, query, shown, width=width, height=height).no_value("no alert is pending or firing")


def alert_marks(names: str) -> dashboard.AnnotationQuery:
    """A region on every graph while an alert fires."""
    expression = f'ALERTS{{alertname=~"{names}",alertstate="firing",{OF_THIS_JOB}}}'
    return _Annotation("Alerts", RED, expression, title="{{alertname}}", tags="alertname,severity")


def restart_marks() -> dashboard.AnnotationQuery:
    """A line on every graph where a monitor started: gaps beside it are its own."""
    expression = f"process_start_time_seconds{{{TARGET}}} * 1000"
    return _Annotation("Restarts", "blue", expression, title="{{instance}} started", by_value=True)


class _Annotation(dashboard.AnnotationQuery):
    """The SDK's annotation, with the fields of Prometheus's own that it leaves out."""

    def __init__(
        self, name: str, color: str, expression: str, *, title: str, tags: str = "", by_value: bool = False
    ) -> None:
        super().__init__()
        self._internal = _PrometheusAnnotation(title, tags, by_value=by_value)
        self.name(name).datasource(DATASOURCE).icon_color(color).expr(expression).enable(True)


class _PrometheusAnnotation(models.AnnotationQuery):
    def __init__(self, title: str, tags: str, *, by_value: bool) -> None:
        super().__init__()
        self._more = {"titleFormat": title, "tagKeys": tags, "useValueForTime": by_value}

    def to_json(self) -> dict[str, object]:
        return {**super().to_json(), **self._more}

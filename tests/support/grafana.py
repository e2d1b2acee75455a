"""Dashboards as Grafana reads them: their panels and queries, and variables put in for their names."""

import json
import math
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grafana
from tests.support.prometheus import Prometheus

FOLDER = Path(grafana.__file__).parent
DASHBOARDS: Mapping[str, Any] = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((FOLDER / "dashboards").glob("*.json"))
}
BUILT_IN = {"__rate_interval": "1m", "__interval": "15s", "__range": "1h"}
"""What Grafana knows by itself, for a data source that is scraped every 15 seconds."""

NAME = re.compile(r"\$(\w+)|\$\{(\w+)\}")
SPECIAL = re.compile(r"[$^*{}\[\]'+?.()|\\]")
LABEL_VALUES = re.compile(r"label_values\((.+), *([\w$]+)\)$")

Choice = str | list[str]
"""The value of a variable: a list where several may be chosen."""


@dataclass(frozen=True, slots=True)
class Target:
    """One query of one panel."""

    dashboard: str
    panel: Mapping[str, Any]
    query: Mapping[str, Any]

    @property
    def expression(self) -> str:
        return str(self.query["expr"])

    def __str__(self) -> str:
        return f"{self.dashboard}: {self.panel['title']} ({self.panel['id']}{self.query['refId']})"


def panels(dashboard: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Everything but the rows' headings, with what lies folded in them."""
    for panel in dashboard["panels"]:
        if panel["type"] == "row":
            yield from panel.get("panels", ())
        else:
            yield panel


def targets() -> list[Target]:
    return [
        Target(name, panel, query)
        for name, dashboard in DASHBOARDS.items()
        for panel in panels(dashboard)
        for query in panel["targets"]
    ]


def variables(dashboard: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {variable["name"]: variable for variable in dashboard["templating"]["list"]}


def names_in(text: str) -> set[str]:
    """The variables that a text names."""
    return {one or other for one, other in NAME.findall(text)}


def put_in(text: str, dashboard: Mapping[str, Any], chosen: Mapping[str, Choice]) -> str:
    """The text with values for variables, as Grafana's Prometheus data source writes them."""
    declared = variables(dashboard)

    def value(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        return BUILT_IN[name] if name in BUILT_IN else _written(declared[name], chosen[name])

    return NAME.sub(value, text)


def _written(variable: Mapping[str, Any], chosen: Choice) -> str:
    if not variable.get("multi"):
        assert isinstance(chosen, str)
        return chosen.replace("\\", "\\\\").replace('"', '\\"')
    if chosen == ["$__all"]:
        return str(variable["allValue"])
    # Within a quoted string of PromQL the backslash of a regular expression stands twice.
    values = [SPECIAL.sub(lambda special: "\\\\" + special[0], one) for one in chosen]
    return values[0] if len(values) == 1 else f"({'|'.join(values)})"


def as_saved(dashboard: Mapping[str, Any]) -> dict[str, Choice]:
    """What is chosen when the dashboard is opened."""
    return {
        name: variable["query"] if variable["type"] == "constant" else variable["current"]["value"]
        for name, variable in variables(dashboard).items()
        if variable["type"] != "datasource"
    }


def filled_in(target: Target, choice: Mapping[str, Choice]) -> str:
    """The query as Grafana sends it when these are chosen, and for the rest what is saved."""
    board = DASHBOARDS[target.dashboard]
    return put_in(target.expression, board, {**as_saved(board), **choice})


def answer(server: Prometheus, target: Target, expression: str) -> list[float]:
    """The values that can be drawn: of the last minute, or of now for an instant query."""
    found: list[dict[str, Any]]
    now = time.time()
    if target.query.get("instant"):
        found = server.query(expression, now)
        samples = [series["value"] for series in found]
    else:
        found = server.query_range(expression, now - 60, now, 1)
        samples = [sample for series in found for sample in series["values"]]
    return [value for _, text in samples if math.isfinite(value := float(text))]

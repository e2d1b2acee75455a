"""Panels: none without a unit, a description that says what good looks like, and a runbook."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, Self, TypeVar

from grafana_foundation_sdk.builders import (
    barchart,
    common,
    dashboard,
    heatmap,
    prometheus,
    stat,
    statetimeline,
    timeseries,
)
from grafana_foundation_sdk.builders import table as tables
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.cog.variants import Dataquery
from grafana_foundation_sdk.models import common as options
from grafana_foundation_sdk.models import dashboard as models
from grafana_foundation_sdk.models import heatmap as heat
from grafana_foundation_sdk.models.prometheus import PromQueryFormat

from grafana.runbooks import Runbook

DATASOURCE = models.DataSourceRef(type_val="prometheus", uid="${datasource}")
REFS = "ABCDEFGH"
GREEN, YELLOW, RED, GREY = "green", "yellow", "red", "text"


class Unit(StrEnum):
    """In which unit values are shown, by Grafana's names."""

    SCORE = "none"
    """Between 0 and 1, as people write NDCG: 0.853."""
    SHARE = "percentunit"
    """Between 0 and 1 as well, shown as 85.3%."""
    NUMBER = "short"
    SECONDS = "s"
    PER_SECOND = "cps"
    BYTES = "bytes"


DECIMALS = {Unit.SCORE: 3, Unit.SHARE: 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """What everybody who looks at a panel has to be told."""

    title: str
    says: str
    good: str
    unit: Unit
    runbook: Runbook


@dataclass(frozen=True, slots=True)
class Query:
    """One query of a panel, and how its series are called."""

    expression: str
    legend: str = ""
    dashed: bool = False
    """A limit of another series: thin, grey, and not in the legend."""


class Panel(Protocol):
    """What all panel builders have in common, which the SDK has no type for."""

    def title(self, title: str) -> Self: ...
    def description(self, description: str) -> Self: ...
    def unit(self, unit: str) -> Self: ...
    def decimals(self, decimals: float) -> Self: ...
    def no_value(self, no_value: str) -> Self: ...
    def datasource(self, datasource: models.DataSourceRef) -> Self: ...
    def links(self, links: list[Builder[models.DashboardLink]]) -> Self: ...
    def targets(self, targets: list[Builder[Dataquery]]) -> Self: ...
    def span(self, w: int) -> Self: ...
    def height(self, h: int) -> Self: ...


P = TypeVar("P", bound=Panel)


def lines(about: About, *queries: Query, width: int, height: int = 8) -> timeseries.Panel:
    """Values over time."""
    panel = _furnish(timeseries.Panel(), about, _targets(queries), width, height)
    panel.line_width(2).fill_opacity(0).show_points(options.VisibilityMode.NEVER)
    panel.legend(
        common.VizLegendOptions()
        .display_mode(options.LegendDisplayMode.LIST)
        .placement(options.LegendPlacement.BOTTOM)
        .show_legend(True)
    ).tooltip(
        common.VizTooltipOptions().mode(options.TooltipDisplayMode.MULTI).sort(options.SortOrder.DESCENDING)
    )
    for ref, query in zip(REFS, queries, strict=False):
        if query.dashed:
            panel.override_by_query(ref, _DASHED)
    return panel


def stacked(about: About, *queries: Query, width: int, height: int = 8) -> timeseries.Panel:
    """Parts of a whole over time."""
    return (
        lines(about, *queries, width=width, height=height)
        .line_width(1)
        .fill_opacity(30)
        .stacking(common.StackingConfig().mode(options.StackingMode.NORMAL))
    )


def number(
    about: About, *queries: Query, thresholds: Sequence[models.Threshold], width: int, height: int = 5
) -> stat.Panel:
    """The value now, coloured by thresholds, with its course behind it."""
    return (
        _furnish(stat.Panel(), about, _targets(queries), width, height)
        .reduce_options(common.ReduceDataOptions().calcs(["lastNotNull"]).values(False))
        .color_mode(options.BigValueColorMode.VALUE)
        .graph_mode(options.BigValueGraphMode.AREA)
        .text_mode(options.BigValueTextMode.VALUE_AND_NAME)
        .thresholds(_thresholds(thresholds))
    )


def grid(
    about: About, columns: Sequence[Query], *, counts: Sequence[str] = (), width: int, height: int = 8
) -> tables.Panel:
    """A table with a row for each set of labels and a column for each query, headed by its legend."""
    names = {f"Value #{ref}": query.legend for ref, query in zip(REFS, columns, strict=False)}
    targets = _targets(columns, instant=True, form=PromQueryFormat.TABLE)
    panel = _furnish(tables.Panel(), about, targets, width, height)
    panel.transformations(
        [
            _transformation("merge"),
            _transformation("organize", excludeByName={"Time": True}, renameByName=names),
        ]
    )
    for name in counts:
        panel.override_by_name(
            name, [models.DynamicConfigValue("unit", Unit.NUMBER), models.DynamicConfigValue("decimals", 0)]
        )
    return panel


def bars(about: About, query: Query, *, label: str, width: int, height: int = 8) -> barchart.Panel:
    """The values now, one bar for each value of a numeric label, in its order."""
    targets = _targets((query,), instant=True, form=PromQueryFormat.TABLE)
    panel = _furnish(barchart.Panel(), about, targets, width, height).x_field(label)
    panel.legend(common.VizLegendOptions().show_legend(False))
    return panel.transformations(
        [
            _transformation("organize", excludeByName={"Time": True}, renameByName={"Value": query.legend}),
            # As text 10 would stand before 2, and a bar chart wants text to name its bars by.
            _converted(label, "number"),
            _transformation("sortBy", fields={}, sort=[{"field": label}]),
            _converted(label, "string"),
        ]
    )


def density(about: About, query: Query, *, width: int, height: int = 8) -> heatmap.Panel:
    """How the values of a histogram are distributed over time, from its buckets."""
    targets = _targets((query,), form=PromQueryFormat.HEATMAP)
    return (
        _furnish(heatmap.Panel(), about, targets, width, height)
        .calculate(False)
        .color(
            heatmap.HeatmapColorOptions()
            .mode(heat.HeatmapColorMode.SCHEME)
            .scheme("Spectral")
            .steps(64)
            .exponent(0.5)
            .fill("dark-orange")
        )
        .cell_gap(0)
        .y_axis(heatmap.YAxisConfig().unit(about.unit).decimals(1))
        .show_color_scale(True)
    )


def states(
    about: About, query: Query, names: dict[str, tuple[str, str]], *, width: int, height: int = 8
) -> statetimeline.Panel:
    """What was the case when: each value has a name and a colour."""
    mapped = {
        value: models.ValueMappingResult(text=text, color=color) for value, (text, color) in names.items()
    }
    return (
        _furnish(statetimeline.Panel(), about, _targets((query,)), width, height)
        .mappings([models.ValueMap(options=mapped)])
        .show_value(options.VisibilityMode.NEVER)
        .merge_values(True)
    )


def higher_is_better(poor: float, fair: float) -> list[models.Threshold]:
    """Red below `poor`, yellow below `fair`."""
    return [models.Threshold(None, RED), models.Threshold(poor, YELLOW), models.Threshold(fair, GREEN)]


def lower_is_better(fair: float, poor: float) -> list[models.Threshold]:
    """Yellow from `fair` on, red from `poor` on."""
    return [models.Threshold(None, GREEN), models.Threshold(fair, YELLOW), models.Threshold(poor, RED)]


def _furnish(panel: P, about: About, targets: list[Builder[Dataquery]], width: int, height: int) -> P:
    page = f"${{runbooks}}/{about.runbook}.md"
    runbook = dashboard.DashboardLink(f"Runbook: {about.runbook}").url(page).target_blank(True)
    if about.unit in DECIMALS:
        panel.decimals(DECIMALS[about.unit])
    return (
        panel.title(about.title)
        .description(f"{about.says}\n\nGood: {about.good}")
        .unit(about.unit)
        .no_value("no data")
        .datasource(DATASOURCE)
        .links([runbook.type(models.DashboardLinkType.LINK)])
        .targets(targets)
        .span(width)
        .height(height)
    )


def _targets(
    queries: Sequence[Query], *, instant: bool = False, form: PromQueryFormat | None = None
) -> list[Builder[Dataquery]]:
    targets: list[Builder[Dataquery]] = []
    for ref, query in zip(REFS, queries, strict=False):
        target = prometheus.Dataquery().ref_id(ref).expr(query.expression).datasource(DATASOURCE)
        target.legend_format(query.legend or "__auto")
        targets.append(
            (target.instant() if instant else target.range()).format(form or PromQueryFormat.TIME_SERIES)
        )
    return targets


def _thresholds(steps: Sequence[models.Threshold]) -> dashboard.ThresholdsConfig:
    return dashboard.ThresholdsConfig().mode(models.ThresholdsMode.ABSOLUTE).steps(list(steps))


def _transformation(name: str, **settings: object) -> models.DataTransformerConfig:
    return models.DataTransformerConfig(id_val=name, options=settings)


def _converted(field: str, kind: str) -> models.DataTransformerConfig:
    conversion = {"targetField": field, "destinationType": kind}
    return _transformation("convertFieldType", fields={}, conversions=[conversion])


_DASHED = [
    models.DynamicConfigValue("custom.lineStyle", {"fill": "dash", "dash": [6, 6]}),
    models.DynamicConfigValue("custom.lineWidth", 1),
    models.DynamicConfigValue("color", {"mode": "fixed", "fixedColor": GREY}),
    models.DynamicConfigValue("custom.hideFrom", {"legend": True, "tooltip": False, "viz": False}),
]

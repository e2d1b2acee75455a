"""The variables that queries name: which data, of which process, of which traffic."""

from grafana_foundation_sdk.builders import dashboard
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models import dashboard as models

from grafana.panels import DATASOURCE
from grafana.queries import LABEL, TARGET
from monitor.export import catalogue

Variable = Builder[models.VariableModel]
ALL = models.VariableOption(selected=True, text=["All"], value=["$__all"])


def process_variables(runbooks: str) -> list[Variable]:
    """Where the numbers are, whose they are, and where the runbooks are."""
    build = catalogue.BUILD_INFO.name
    return [
        dashboard.DatasourceVariable("datasource").label("Data source").type("prometheus"),
        _values("job", "Job", f"label_values({build}, job)"),
        _values("instance", "Instance", f'label_values({build}{{job=~"$job"}}, instance)'),
        dashboard.ConstantVariable("runbooks")
        .label("Runbooks")
        .description("Where docs/runbooks is published.")
        .value(runbooks),
    ]


def quality_variables() -> list[Variable]:
    """What of the traffic is looked at, and over how long."""
    results = f"vector_results_count{{{TARGET}}}"
    return [
        dashboard.TextBoxVariable("label")
        .label("Label")
        .description("The configured label by which traffic is told apart; another of `labels` may be typed.")
        .default_value(LABEL)
        .current(_chosen(LABEL)),
        _values("variant", "Value", f"label_values({results}, $label)"),
        _one("baseline", "Baseline", f"label_values({results}, $label)", "control").description(
            "The value of the label that others are compared with."
        ),
        _values("k", "k", f"label_values(vector_ndcg_avg_count{{{TARGET}}}, k)")
        .sort(models.VariableSort.NUMERICAL_ASC)
        .current(models.VariableOption(selected=True, text=["10"], value=["10"])),
        _values("maturity", "Maturity", f"label_values({catalogue.JUDGED.name}{{{TARGET}}}, maturity)")
        .description("How long after an impression its judgments were taken.")
        .sort(models.VariableSort.NATURAL_ASC),
        _window(),
    ]


def _values(name: str, label: str, query: str) -> dashboard.QueryVariable:
    """Several values, or all: as `.*`, so that what lacks the label is not left out."""
    return _query(name, label, query).multi(True).include_all(True).all_value(".*").current(ALL)


def _one(name: str, label: str, query: str, default: str) -> dashboard.QueryVariable:
    return _query(name, label, query).multi(False).include_all(False).current(_chosen(default))


def _query(name: str, label: str, query: str) -> dashboard.QueryVariable:
    return (
        dashboard.QueryVariable(name)
        .label(label)
        .datasource(DATASOURCE)
        .query({"query": query, "refId": f"variable-{name}"})
        .refresh(models.VariableRefresh.ON_TIME_RANGE_CHANGED)
        .sort(models.VariableSort.ALPHABETICAL_ASC)
    )


def _window() -> dashboard.IntervalVariable:
    lengths = ["5m", "15m", "1h", "6h", "1d"]
    return (
        dashboard.IntervalVariable("window")
        .label("Mean over")
        .description("Longer: narrower intervals; shorter: quicker to move.")
        .values(",".join(lengths))
        .options([models.VariableOption(selected=n == 1, text=t, value=t) for n, t in enumerate(lengths)])
        .current(_chosen(lengths[1]))
    )


def _chosen(value: str) -> models.VariableOption:
    return models.VariableOption(selected=True, text=value, value=value)

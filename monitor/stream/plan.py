"""What is decided when: the configured metrics, grouped by the delay at which an impression is decided."""

from dataclasses import dataclass, replace

from monitor.config import ALWAYS, Config
from monitor.durations import in_words
from monitor.metrics import METRICS, Measure, Need

MIN_POSITIONS = 10
"""Positions that `vector_position_*` tell apart, where no click metric looks deeper."""


@dataclass(frozen=True, slots=True)
class Column:
    """One score of an impression: the series of one family, k and maturity, for each label set."""

    measure: Measure
    family: str
    labels: tuple[tuple[str, str], ...]

    @property
    def averaged(self) -> bool:
        """Whether the family is a mean with squares and windows, not a plain histogram."""
        return self.family.endswith("_avg")

    @property
    def window_family(self) -> str:
        """What the window gauges are called, without `_avg` and `_samples`."""
        return self.family.replace("vector_", "vector_window_", 1).removesuffix("_avg")


@dataclass(frozen=True, slots=True)
class Stage:
    """All that is decided at one delay."""

    delay: float
    columns: tuple[Column, ...]
    first_column: int
    """Where its columns begin among those of the whole plan."""
    decides_clicks: bool
    maturity: str | None
    """The label, where judged metrics are decided here."""

    def measures(self, need: Need) -> list[tuple[int, Measure]]:
        """The measures of one kind, with their place among the columns of the stage."""
        return [(i, c.measure) for i, c in enumerate(self.columns) if c.measure.metric.need is need]


@dataclass(frozen=True, slots=True)
class Plan:
    """The stages in the order of their delays."""

    stages: tuple[Stage, ...]
    attribution: float
    positions: int
    keeps_embeddings: bool

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(column for stage in self.stages for column in stage.columns)

    @property
    def last_delay(self) -> float:
        return self.stages[-1].delay


def make_plan(config: Config) -> Plan:
    """Order the configured metrics, and those that are always there, by their delay."""
    measures = [(entry.measure, f"vector_{entry.family_name}_avg") for entry in config.metrics]
    measures += [(Measure(METRICS[name]), METRICS[name].family) for name in ALWAYS]
    if config.judgments.unjudged == "condensed":
        measures = [(_condensed(measure), family) for measure, family in measures]
    maturities = set(config.judgments.maturities)
    stages: list[Stage] = []
    first = 0
    for delay in sorted({0.0, config.attribution_seconds, *maturities}):
        needs = set()
        if delay == 0:
            needs.add(Need.IMPRESSION)
        if delay == config.attribution_seconds:
            needs.add(Need.CLICKS)
        if delay in maturities:
            needs.add(Need.JUDGMENTS)
        columns = tuple(
            Column(measure, family, _labels(measure, delay))
            for measure, family in measures
            if measure.metric.need in needs
        )
        maturity = in_words(delay) if delay in maturities else None
        stages.append(Stage(delay, columns, first, Need.CLICKS in needs, maturity))
        first += len(columns)
    return Plan(
        stages=tuple(stages),
        attribution=config.attribution_seconds,
        positions=max([MIN_POSITIONS, *(m.k or 0 for m, _ in measures if m.metric.need is Need.CLICKS)]),
        keeps_embeddings=any("embeddings" in measure.metric.uses for measure, _ in measures),
    )


def _condensed(measure: Measure) -> Measure:
    """`judged` is left alone: of a ranking without its unjudged documents it would always say 1."""
    params = dict(measure.params)
    if measure.metric.name == "judged" or "unjudged" not in measure.metric.params or "unjudged" in params:
        return measure
    return replace(measure, params=(*measure.params, ("unjudged", "condensed")))


def _labels(measure: Measure, delay: float) -> tuple[tuple[str, str], ...]:
    labels: list[tuple[str, str]] = []
    metric = measure.metric
    if metric.takes_k:
        labels.append(("k", str(measure.k or "all")))
    elif metric.need is Need.JUDGMENTS and metric.name not in ALWAYS:
        labels.append(("k", "all"))
    if metric.need is Need.JUDGMENTS and metric.name not in ALWAYS:
        labels.append(("maturity", in_words(delay)))
    return tuple(labels)

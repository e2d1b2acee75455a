"""The registry: every metric once, under the name that configs, commands and dashboards use."""

import difflib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias, TypeVar, get_type_hints

import numpy as np

from monitor.metrics.batch import Batch, Floats, require
from monitor.metrics.parameters import Parameter, Value, parameters_of
from monitor.metrics.spec import MetricError, Spec, UnknownMetric, quote, read_spec

Kernel: TypeAlias = Callable[..., Floats]
AnyKernel = TypeVar("AnyKernel", bound=Kernel)

UNIT_BUCKETS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)

RELEVANCE_PARAMETERS: Mapping[str, Parameter] = {
    "undefined": Parameter("undefined", ("zero", "skip"), "zero"),
    "unjudged": Parameter("unjudged", ("nonrelevant", "condensed"), "nonrelevant"),
}
"""What every metric of relevance takes: its value where no relevant document is judged (0, or none at all),
and whether unjudged documents count as not relevant or are taken out of the ranking first."""


class Need(StrEnum):
    """What a metric waits for before an impression is decided."""

    IMPRESSION = "impression"
    CLICKS = "clicks"
    JUDGMENTS = "judgments"


class Reads(StrEnum):
    """Which ranks of a ranking decide a metric's score."""

    NOTHING = "nothing"
    FIRST_K = "first k"
    WHOLE_LIST = "whole list"


WHOLE_LIST_PARAMETERS = frozenset({("ideal", "retrieved"), ("unjudged", "condensed")})
"""Parameters that make ranks below the cut-off matter."""


@dataclass(frozen=True, slots=True, eq=False)
class Metric:
    """One metric as it was declared; there is one object for each, so identity is equality."""

    name: str
    need: Need
    kernel: Kernel = field(repr=False)
    bounds: tuple[float, float]
    buckets: tuple[float, ...] = field(repr=False)
    family: str
    """The name of its Prometheus histogram."""
    takes_k: bool
    needs_k: bool
    """There is no value without a cut-off."""
    reads: Reads
    params: Mapping[str, Parameter] = field(repr=False)
    uses: frozenset[str]
    """Batch fields beyond those that come with the need."""
    aliases: tuple[str, ...]
    doc: str = field(repr=False)

    @property
    def summary(self) -> str:
        """The first line of the docstring."""
        return self.doc.partition("\n")[0]


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric with its cut-off and parameters: what one series is the average of."""

    metric: Metric
    k: int | None = None
    params: tuple[tuple[str, Value], ...] = ()
    """Only those that differ from the default, in the order of declaration: one measure has one form."""

    @property
    def name(self) -> str:
        """The canonical text, which `parse` reads back."""
        params = ",".join(f"{name}={_shown(value)}" for name, value in self.params)
        return self.metric.name + (f"({params})" if params else "") + (f"@{self.k}" if self.k else "")

    @property
    def depth(self) -> int | None:
        """How many columns a batch needs for this measure; `None`: as many as its longest ranking has."""
        if self.metric.reads is Reads.NOTHING:
            return 0
        below = self.metric.reads is Reads.WHOLE_LIST or not WHOLE_LIST_PARAMETERS.isdisjoint(self.params)
        return None if below else self.k

    def score(self, batch: Batch) -> Floats:
        """Return one score a row, within the metric's bounds; NaN where it is undefined."""
        params = dict(self.params)
        skip = params.pop("undefined", "zero") == "skip"
        if params.pop("unjudged", "nonrelevant") == "condensed":
            batch = batch.condensed()
        cut_off = {"k": self.k} if self.metric.takes_k else {}
        scores = np.clip(self.metric.kernel(batch, **cut_off, **params), *self.metric.bounds)
        if skip:
            scores[require(batch.relevant, "relevant") == 0] = np.nan
        return scores

    def __str__(self) -> str:
        return self.name


METRICS: dict[str, Metric] = {}
ALIASES: dict[str, str] = {}
"""Other names that `parse` takes, and the metric each stands for."""


def metric(
    name: str,
    *,
    need: Need,
    bounds: tuple[float, float] = (0.0, 1.0),
    buckets: tuple[float, ...] = UNIT_BUCKETS,
    family: str | None = None,
    uses: Iterable[str] = (),
    aliases: tuple[str, ...] = (),
    of_relevance: bool | None = None,
    reads: Reads = Reads.FIRST_K,
) -> Callable[[AnyKernel], AnyKernel]:
    """Declare a kernel as a metric.

    A kernel is a function of a batch, of `k` if the metric has a cut-off (an `int` if it cannot do without,
    else `int | None`), and of keyword-only parameters; it returns one float a row, NaN where the metric is
    undefined. Metrics that wait for judgments are taken to be of relevance, and get the parameters of all
    such metrics, unless they say otherwise.
    """
    if of_relevance is None:
        of_relevance = need is Need.JUDGMENTS

    def declare(kernel: AnyKernel) -> AnyKernel:
        METRICS[name] = Metric(
            name=name,
            need=need,
            kernel=kernel,
            bounds=bounds,
            buckets=buckets,
            family=family or f"vector_{name}_avg",
            takes_k="k" in inspect.signature(kernel).parameters,
            needs_k=get_type_hints(kernel).get("k") is int,
            reads=reads,
            params={**parameters_of(kernel), **(RELEVANCE_PARAMETERS if of_relevance else {})},
            uses=frozenset(uses),
            aliases=aliases,
            doc=inspect.cleandoc(kernel.__doc__ or ""),
        )
        ALIASES.update(dict.fromkeys(aliases, name))
        return kernel

    return declare


def parse(text: str) -> Measure:
    """Return the measure that a text such as `ndcg@10` or `rbp(p=0.9)` names; MetricError says what is wrong.

    >>> parse("map@100").name, parse("ndcg( gain=exponential, ideal=all )@10").name
    ('ap@100', 'ndcg(gain=exponential)@10')
    """
    spec = read_spec(text)
    found = _named(spec, text)
    if spec.k is not None and not found.takes_k:
        bare = text.rpartition("@")[0].strip()
        raise MetricError(f"metric {quote(text)}: {found.name} takes no k; write {quote(bare)}")
    if spec.k is None and found.needs_k:
        example = quote(f"{text.strip()}@1")
        raise MetricError(f"metric {quote(text)}: k is missing, a whole number, 1 or more; write {example}")
    values = _values(found, spec, text)
    return Measure(
        found,
        spec.k,
        tuple((name, values[name]) for name, known in found.params.items() if values[name] != known.default),
    )


def named(text: str) -> Metric:
    """Return the metric that a text names, whatever its cut-off and parameters, and without those it needs.

    >>> named("map@100").name, named("err").name
    ('ap', 'err')
    """
    return _named(read_spec(text), text)


def _named(spec: Spec, text: str) -> Metric:
    found = METRICS.get(ALIASES.get(spec.name, spec.name))
    if found is None:
        raise UnknownMetric(_unknown_metric(text.strip(), spec.name))
    return found


def _values(found: Metric, spec: Spec, text: str) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for name, value in spec.arguments:
        known = found.params.get(name)
        if known is None:
            raise MetricError(f"metric {quote(text)}: {_unknown_parameter(found, name)}")
        if name in values:
            raise MetricError(f"metric {quote(text)}: {name} is given twice; give it once")
        try:
            values[name] = known.read(value)
        except ValueError:
            raise MetricError(
                f"metric {quote(text)}: {name} must be {known.allowed_text}, not {quote(value)}"
            ) from None
    for name, known in found.params.items():
        if known.default is not None:
            values.setdefault(name, known.default)
        elif name not in values:
            example = quote(f"{found.name}({name}=...)" + (f"@{spec.k}" if spec.k else ""))
            raise MetricError(
                f"metric {quote(text)}: {name} is missing, {known.allowed_text}; write {example}"
            )
    return values


def _unknown_metric(text: str, name: str) -> str:
    near = difflib.get_close_matches(name.lower(), [*METRICS, *ALIASES], n=1)
    suggestion = f"; did you mean {quote(text.replace(name, near[0], 1))}?" if near else ";"
    return f"unknown metric {quote(text)}{suggestion} run 'ranking-monitor metrics' for the list"


def _unknown_parameter(found: Metric, name: str) -> str:
    if not found.params:
        return f"{found.name} takes no parameters; take {quote(name)} out"
    near = difflib.get_close_matches(name, found.params, n=1)
    suggestion = f"did you mean {quote(near[0])}? " if near else ""
    return f"unknown parameter {quote(name)}; {suggestion}{found.name} takes {', '.join(found.params)}"


def _shown(value: Value) -> str:
    return value if isinstance(value, str) else repr(value).removesuffix(".0")

"""Which measures a user asks for: names with commas between, or all of them."""

import re
from collections.abc import Iterator

from monitor.metrics import METRICS, Measure, MetricError, Need, parse

ALL = "all"
DEFAULT_K = 10
_COMMA = re.compile(r",(?![^(]*\))")


def measures_of(
    text: str, *, max_grade: float | None = None, targets: bool = True, embeddings: bool = False
) -> dict[str, Measure]:
    """Return the measures that a text names, under the names as the user wrote them.

    `all` stands for every metric of judgments, at 10 where it takes a cut-off: `err` among them only where
    the highest grade is told, those of targets and of embeddings only where there are any.

    >>> [*measures_of("ndcg(gain=exponential, ideal=retrieved)@10, map")]
    ['ndcg(gain=exponential, ideal=retrieved)@10', 'map']
    """
    there = frozenset({"targets"} if targets else ()) | frozenset({"embeddings"} if embeddings else ())
    found: dict[str, Measure] = {}
    for name in _names(text):
        if name == ALL:
            found |= {each: parse(each) for each in _all(max_grade, there)}
        else:
            found[name] = _of_files(name, parse(name))
    if not found:
        raise MetricError('no metric is named; write them with commas between, say "ndcg@10,map"')
    return found


def named_in(text: str) -> set[str]:
    """Return the names that a text has apart from `all`: what a user asks for, and not only what there is.

    >>> named_in("all, ild@10")
    {'ild@10'}
    """
    return {name for name in _names(text) if name != ALL}


def _names(text: str) -> Iterator[str]:
    return filter(None, map(str.strip, _COMMA.split(text)))


def _of_files(name: str, measure: Measure) -> Measure:
    """Refuse what only events tell."""
    needs = "clicks" if measure.metric.need is Need.CLICKS else "the times of events"
    if measure.metric.need is Need.CLICKS or measure.metric.name == "label_delay":
        raise MetricError(
            f'metric "{name}" needs {needs}, which are not in a run;'
            " 'ranking-monitor replay' computes it from a file of events"
        )
    return measure


def _all(max_grade: float | None, there: frozenset[str]) -> Iterator[str]:
    for metric in METRICS.values():
        judged = metric.need is Need.JUDGMENTS or "embeddings" in metric.uses
        if not judged or metric.name == "label_delay" or not metric.uses <= there:
            continue
        params = ""
        if "max_grade" in metric.params:
            if max_grade is None or max_grade <= 0:
                continue
            params = f"(max_grade={max_grade:g})"
        yield metric.name + params + (f"@{DEFAULT_K}" if metric.takes_k else "")

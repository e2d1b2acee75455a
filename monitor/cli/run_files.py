"""What `evaluate` and `compare` do alike with the files of runs and judgments."""

import gc
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from monitor.cli.errors import UserError
from monitor.evaluation.files.inputs import InputError
from monitor.evaluation.files.qrels import Qrels
from monitor.evaluation.measures import measures_of
from monitor.evaluation.scoring import Evaluation
from monitor.metrics import Measure
from monitor.visible import visible

Runs = Annotated[
    list[Path], typer.Option("--run", metavar="FILE", help="A TREC run, JSON or JSON lines; --run for each.")
]
Judgments = Annotated[
    Path, typer.Option("--qrels", metavar="FILE", help="The judgments: TREC qrels, JSON or JSON lines.")
]


@contextmanager
def holding_much() -> Iterator[None]:
    """Do not look for cycles, which millions of judgments make none of: a tenth of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def check_runs(paths: Sequence[Path]) -> None:
    """Refuse a run that is given twice."""
    for path in paths:
        if paths.count(path) > 1:
            raise UserError(f'--run: "{path}" is given twice; give each run once')


def measures_for(asked: str, judged: Qrels) -> dict[str, Measure]:
    """The measures that a user asked for; `all` are those that the judgments allow.

    Whether any ranking has embeddings is known when all were read: what lacks them has no value then.
    """
    return measures_of(
        asked,
        max_grade=max(max(grades.values()) for grades in judged.grades.values()),
        targets=bool(judged.targets),
        embeddings=True,
    )


def check_needs(
    found: Evaluation, measures: Mapping[str, Measure], named: Collection[str], judged: Qrels
) -> None:
    """Refuse a measure that was named and lacks what it is made from, rather than show it as nothing."""
    means = found.aggregate()
    for text, measure in measures.items():
        if text not in named or means[text] is not None:
            continue
        uses = measure.metric.uses
        if "targets" in uses and not judged.targets:
            raise InputError(f'metric "{text}" needs judgments with a `target`, and none has one')
        if "embeddings" in uses:
            raise InputError(
                f'metric "{text}" needs embeddings, and the run "{found.name}" has none;'
                " JSON lines can carry them"
            )
        if measure.metric.name == "latency":
            raise InputError(
                f'metric "{text}" needs latencies, and the run "{found.name}" has none;'
                " JSON lines can carry `latency_seconds`"
            )


def with_values(evaluations: Sequence[Evaluation], named: Collection[str]) -> list[Evaluation]:
    """Leave out, and tell of, what nobody named and has no value in any of the runs."""
    means = [found.aggregate() for found in evaluations]
    empty = [
        text
        for text in evaluations[0].scores
        if text not in named and all(mean[text] is None for mean in means)
    ]
    if empty:
        typer.echo(f"left out, without a value in any run: {', '.join(empty)}", err=True)
    return [
        replace(found, scores={text: values for text, values in found.scores.items() if text not in empty})
        for found in evaluations
    ]


def tell_of_queries(found: Evaluation, *, common_queries: bool) -> None:
    """Say which queries are in one of the files only, and what that means."""
    name = visible(found.name)
    if found.missing:
        fate = "left out" if common_queries else "counted as empty rankings"
        typer.echo(f"{name}: {_queries(found.missing)} judged but not in the run, {fate}", err=True)
    if found.unjudged:
        typer.echo(f"{name}: {_queries(found.unjudged)} in the run but not judged, ignored", err=True)


def _queries(count: int) -> str:
    return f"{count:,} {'query is' if count == 1 else 'queries are'}"

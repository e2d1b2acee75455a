"""`ranking-monitor compare`: systems against a baseline, with tests, tables and pictures."""

import sys
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from monitor.cli.compare_output import PRINTERS
from monitor.cli.errors import UserError
from monitor.cli.numbers import at_least_zero
from monitor.cli.output import Format, writable
from monitor.cli.progress import reading
from monitor.cli.run_files import Judgments, Runs, check_needs, check_runs, measures_for, tell_of_queries
from monitor.evaluation.comparing.compare import (
    can_be_compared,
    check_confidence,
    check_test,
    compare_all,
    find_baseline,
    shared_queries,
    summarise,
)
from monitor.evaluation.comparing.comparison import ComparisonReport
from monitor.evaluation.comparing.mean_curve import MeanCurve
from monitor.evaluation.comparing.plots import check_format, plot_comparison
from monitor.evaluation.comparing.report import BANDED, Background, write_report
from monitor.evaluation.files.qrels import Qrels, load_qrels
from monitor.evaluation.files.runs import read_run, run_names
from monitor.evaluation.measures import measures_of, named_in
from monitor.evaluation.scoring import Evaluation, evaluate_run
from monitor.extras import need
from monitor.metrics import Measure, parse


def compare(
    run: Runs,
    qrels: Judgments,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAMES", help="By what; several with commas between, or `all`.", show_default="ndcg@10"
        ),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(metavar="NAME", help="The run to compare with.", show_default="the first")
    ] = None,
    test: Annotated[
        str, typer.Option(metavar="NAME", help="paired_t, wilcoxon, bootstrap or permutation.")
    ] = "paired_t",
    confidence: Annotated[float, typer.Option(help="Of the intervals.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Of the resampling, and of a scatter plot's sample.")] = 0,
    common_queries: Annotated[
        bool,
        typer.Option("--common-queries", help="Leave out the queries that a run lacks; else they are 0."),
    ] = False,
    movers: Annotated[
        int, typer.Option(help="How many queries to show that gained, and that lost most.")
    ] = 5,
    format_: Annotated[Format, typer.Option("--format", help="What to print.")] = Format.TABLE,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Write one page with interactive plots.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw one picture: .png, .svg or .pdf.")
    ] = None,
) -> None:
    """Compare systems with a baseline on the same queries.

    Tells means, differences with intervals, p-values (Holm's correction over all comparisons of the command),
    effect sizes, wins and losses, the queries that moved most, and latency where the runs carry it.
    """
    check_runs(run)
    names = run_names(run)
    find_baseline(names, baseline)
    asked = ",".join(metric or ["ndcg@10"])
    named = named_in(asked)
    measures_of(asked)  # a mistake in the names shows before anything is read
    check_test(test)
    check_confidence(confidence)
    at_least_zero(seed=seed, movers=movers)
    _check_outputs(report, plot)
    with reading(qrels) as progress:
        judged = load_qrels(qrels, progress)
    measures = measures_for(asked, judged)
    curves = {name: MeanCurve(judged) for name in names} if report else {}
    needed = {name: parse(name) for name in BANDED} | measures if report else measures
    evaluations = [
        _evaluate(name, path, judged, needed, curves.get(name), common_queries)
        for name, path in zip(names, run, strict=True)
    ]
    for each in evaluations:
        check_needs(each, measures, named, judged)
        tell_of_queries(each, common_queries=common_queries)
    found = compare_all(
        evaluations,
        _comparable(evaluations, measures, named),
        baseline=baseline,
        test=test,
        confidence=confidence,
        seed=seed,
    )
    if report:
        files = {name: str(path) for name, path in zip(names, run, strict=True)}
        background = _background(found, evaluations, curves, files, qrels, common_queries)
        write_report(report, found, background, movers=movers)
    if plot:
        plot_comparison(plot, found)
    PRINTERS[format_](found, movers)


def _check_outputs(report: Path | None, plot: Path | None) -> None:
    """What can be refused before the work is refused before it."""
    need("scipy.stats", "compare")
    if report:
        need("plotly.offline", "--report")
        if report.suffix.lower() not in (".html", ".htm"):
            raise UserError(f'--report: "{report}" must end in .html')
        writable(report)
    if plot:
        need("matplotlib", "--plot")
        check_format(plot)
        writable(plot)


def _comparable(
    evaluations: Sequence[Evaluation], measures: dict[str, Measure], named: Collection[str]
) -> list[str]:
    """What the user named, and of `all` what has values here; the others are told."""
    chosen = [name for name in measures if name in named or can_be_compared(evaluations, name)]
    if left_out := [name for name in measures if name not in chosen]:
        print(f"left out, without a value for two queries in common: {', '.join(left_out)}", file=sys.stderr)
    return chosen


def _evaluate(
    name: str,
    path: Path,
    judged: Qrels,
    measures: dict[str, Measure],
    curve: MeanCurve | None,
    common_queries: bool,
) -> Evaluation:
    with reading(path) as progress:
        rankings = read_run(path, progress)
        watched = rankings if curve is None else curve.watch(rankings)
        return evaluate_run(name, watched, judged, measures, common_queries=common_queries)


def _background(
    found: Sequence[ComparisonReport],
    evaluations: Sequence[Evaluation],
    curves: dict[str, MeanCurve],
    files: dict[str, str],
    qrels: Path,
    common_queries: bool,
) -> Background:
    by_name = {each.name: each for each in evaluations}
    ordered = [by_name[system.name] for system in found[0].systems]
    queries, _ = shared_queries(ordered)
    return Background(
        files=files,
        qrels=str(qrels),
        curves={each.name: curves[each.name].over(queries) for each in ordered},
        in_words={name: summarise(ordered, name) for name in BANDED},
        common_queries=common_queries,
        made=datetime.now(UTC),
    )

"""`ranking-monitor evaluate`: what runs score, from files."""

from typing import Annotated

import typer

from monitor.cli.evaluate_output import PRINTERS
from monitor.cli.output import Format
from monitor.cli.progress import reading
from monitor.cli.run_files import (
    Judgments,
    Runs,
    check_needs,
    check_runs,
    holding_much,
    measures_for,
    tell_of_queries,
    with_values,
)
from monitor.evaluation.files.qrels import load_qrels
from monitor.evaluation.files.runs import read_run, run_names
from monitor.evaluation.measures import measures_of, named_in
from monitor.evaluation.scoring import evaluate_run


def evaluate(
    run: Runs,
    qrels: Judgments,
    metrics: Annotated[
        str,
        typer.Option(
            metavar="NAMES", help="As 'ndcg@10,map', or `all`; 'ranking-monitor metrics' lists them."
        ),
    ] = "ndcg@10,map,mrr@10,recall@10,precision@10",
    per_query: Annotated[bool, typer.Option("--per-query", help="Every query, not the means alone.")] = False,
    format_: Annotated[
        Format, typer.Option("--format", help="`json` has every query in any case.")
    ] = Format.TABLE,
    common_queries: Annotated[
        bool,
        typer.Option("--common-queries", help="Leave out the queries that a run lacks; else they are empty."),
    ] = False,
) -> None:
    """Score runs against relevance judgments.

    A judged query that a run lacks counts as an empty ranking, 0 for nearly all metrics. Queries of a run
    that nobody judged are left out. Files may be compressed with gzip.
    """
    measures_of(metrics)  # a mistake in the names shows before anything is read
    check_runs(run)
    named = named_in(metrics)
    with holding_much():
        with reading(qrels) as progress:
            judged = load_qrels(qrels, progress)
        measures = measures_for(metrics, judged)
        evaluations = []
        for name, path in zip(run_names(run), run, strict=True):
            with reading(path) as progress:
                found = evaluate_run(
                    name, read_run(path, progress), judged, measures, common_queries=common_queries
                )
            check_needs(found, measures, named, judged)
            tell_of_queries(found, common_queries=common_queries)
            evaluations.append(found)
    PRINTERS[format_](with_values(evaluations, named), per_query)

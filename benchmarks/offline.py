"""What NDCG@10 costs offline, beside pytrec_eval, ranx and ir_measures on the same data.

    python benchmarks/offline.py [--queries 100000] [--depth 20] [--judged 10] [--rounds 5]

In memory: the kernel on padded arrays, pytrec_eval's `evaluate` on dicts, and ranx's with its `Run` and
`Qrels` built beforehand and its compiler warmed up. From files: the work from reading them to the printed
mean, and whole commands, which start Python first. Each figure is the median of the rounds, with the
contenders in turn in each round; the ratios are what carries over to another machine.
"""

import argparse
import contextlib
import io
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytrec_eval
from rich import box
from rich.console import Console
from rich.table import Table

from monitor.cli.evaluate import evaluate
from monitor.evaluation import Qrels, Ranking, judged_rows
from monitor.metrics import parse

Run = dict[str, dict[str, float]]
Grades = dict[str, dict[str, int]]
Contender = tuple[str, Callable[[], float]]
"""A name, and what computes the mean."""


def collection(queries: int, depth: int, judged: int) -> tuple[Run, Grades]:
    """Return rankings of random documents; six in ten of the judged ones were retrieved."""
    rng = np.random.default_rng(1)
    run: Run = {}
    grades: Grades = {}
    for number in range(queries):
        documents = [f"D{i:07d}" for i in rng.choice(8_000_000, depth + judged, replace=False).tolist()]
        scores = np.sort(rng.random(depth))[::-1].round(6).tolist()
        found = min(depth, (6 * judged + 9) // 10)
        of_query = documents[:depth][:: max(1, depth // max(found, 1))][:found] + documents[depth:]
        run[f"q{number:07d}"] = dict(zip(documents[:depth], scores, strict=True))
        grades[f"q{number:07d}"] = dict(
            zip(of_query[:judged], rng.integers(0, 4, judged).tolist(), strict=False)
        )
    return run, grades


def in_memory(run: Run, grades: Grades) -> list[Contender]:
    """Return the kernel and the libraries, each with its own input ready."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import ranx  # noqa: PLC0415 - warns while it is imported
    measure = parse("ndcg@10")
    qrels = Qrels({query: {key: float(g) for key, g in of.items()} for query, of in grades.items()}, {})
    ranked = [
        Ranking(query, sorted(scored, key=lambda key: (scored[key], key), reverse=True))
        for query, scored in run.items()
    ]
    batch = judged_rows(ranked, qrels)
    evaluator = pytrec_eval.RelevanceEvaluator(grades, {"ndcg_cut.10"})
    ranx_run, ranx_qrels = ranx.Run(run), ranx.Qrels(grades)

    def by_pytrec_eval() -> float:
        found = evaluator.evaluate(run)
        return sum(scores["ndcg_cut_10"] for scores in found.values()) / len(found)

    return [
        ("kernel on arrays", lambda: float(measure.score(batch).mean())),
        ("pytrec_eval", by_pytrec_eval),
        ("ranx", lambda: float(ranx.evaluate(ranx_qrels, ranx_run, "ndcg@10"))),
    ]


def write(run: Run, grades: Grades, folder: Path) -> tuple[Path, Path]:
    """Write TREC files."""
    run_path, qrels_path = folder / "bench.run", folder / "bench.qrels"
    with run_path.open("w") as file:
        for query, scored in run.items():
            rows = enumerate(scored.items(), start=1)
            file.writelines(f"{query} Q0 {key} {rank} {score:.6f} bench\n" for rank, (key, score) in rows)
    with qrels_path.open("w") as file:
        for query, of_query in grades.items():
            file.writelines(f"{query} 0 {key} {grade}\n" for key, grade in of_query.items())
    return run_path, qrels_path


def commands(run: Path, qrels: Path) -> list[Contender]:
    """Return whole processes: from the start of Python to the printed mean."""

    def printed(module: str, *arguments: object) -> float:
        call = [sys.executable, "-m", module, *map(str, arguments)]
        return _mean(subprocess.run(call, capture_output=True, text=True, check=True).stdout)

    ours = ("--run", run, "--qrels", qrels, "--metrics", "ndcg@10")
    return [
        ("evaluate, command", lambda: printed("monitor.cli", "evaluate", *ours)),
        ("ir_measures, command", lambda: printed("ir_measures", qrels, run, "nDCG@10")),
    ]


def functions(run: Path, qrels: Path) -> list[Contender]:
    """Return the work of the commands within this process."""

    def ours() -> float:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            evaluate([run], qrels, "ndcg@10")
        return _mean(printed.getvalue())

    def theirs() -> float:
        measure = ir_measures.nDCG @ 10
        judged, ranked = ir_measures.read_trec_qrels(str(qrels)), ir_measures.read_trec_run(str(run))  # type: ignore[no-untyped-call]
        return float(ir_measures.calc_aggregate([measure], judged, ranked)[measure])

    return [("evaluate, from files", ours), ("ir_measures, from files", theirs)]


def _mean(printed: str) -> float:
    (line,) = (line for line in printed.splitlines() if "dcg@10" in line.lower())
    return float(line.split()[-1])


def measured(contenders: list[Contender], rounds: int) -> list[tuple[str, float, float]]:
    """Return the name, the median of the seconds and the mean of the scores of each."""
    seconds: dict[str, list[float]] = {name: [] for name, _ in contenders}
    means: dict[str, float] = {}
    for _ in range(rounds):
        for name, work in contenders:
            before = time.perf_counter()
            means[name] = work()
            seconds[name].append(time.perf_counter() - before)
    return [(name, statistics.median(seconds[name]), means[name]) for name, _ in contenders]


def main() -> None:
    """Print a table; the ratio is to the first of each group, which is ours."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    for name, default in (("queries", 100_000), ("depth", 20), ("judged", 10), ("rounds", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked: Any = parser.parse_args()
    run, grades = collection(asked.queries, asked.depth, asked.judged)
    table = Table("NDCG@10", "seconds", "times as long", "mean", box=box.SIMPLE_HEAD)
    for column in table.columns[1:]:
        column.justify = "right"
    in_turn = in_memory(run, grades)
    for _, work in in_turn:
        work()  # the compiler's time, and first touches of memory
    with tempfile.TemporaryDirectory() as folder:
        paths = write(run, grades, Path(folder))
        for group in (in_turn, functions(*paths), commands(*paths)):
            found = measured(group, asked.rounds)
            ours = found[0][1]
            for name, seconds, mean in found:
                table.add_row(name, f"{seconds:.4f}", f"{seconds / ours:.1f}", f"{mean:.4f}")
            table.add_section()
            in_turn.clear()
            run.clear()
    Console().print(f"{asked.queries:,} queries of depth {asked.depth}, {asked.judged} judged each", table)


if __name__ == "__main__":
    main()

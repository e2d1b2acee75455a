"""How a figure of docs/conventions.md comes about: the calls, and definitions that no library here has."""

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import ir_measures
import numpy as np
from sklearn import metrics as sklearn_metrics

from monitor.evaluation.files.qrels import load_qrels
from monitor.evaluation.files.runs import read_run
from monitor.evaluation.measures import measures_of
from monitor.evaluation.scoring import evaluate_run
from monitor.metrics import Batch, parse
from tests.oracle.libraries_calls import load_ranx, qrels_of, run_of
from tests.oracle.libraries_topics import Topic, Topics, here


def of(call, topic: Topic):
    """Return the figure that a library gives one topic."""
    return lambda: call({"1": topic})["1"]


def ours(spec: str, topic: Topic):
    return of(partial(here, spec), topic)


def mean(call, *topics: Topic):
    """Return the mean over the queries that a library gives a value."""

    def figure() -> float:
        named = {str(i): topic for i, topic in enumerate(topics)}
        return float(np.mean([*call(named).values()]))

    return figure


def of_files(call):
    """Leave out what a file cannot hold: queries without a document, on either side."""
    return lambda topics: call({q: topic for q, topic in topics.items() if topic.scores and topic.grades})


def over_all_judged(call, *topics: Topic):
    """Divide by the number of judged queries, as `trec_eval -c` does."""
    found = mean(of_files(call), *topics)
    answered = sum(bool(topic.scores) for topic in topics)
    return lambda: found() * answered / len(topics)


def not_comparable(*topics: Topic):
    """Evaluate by ranx without `make_comparable`, where a query stands on one side only."""

    def evaluate(_: Topics | None = None) -> float:
        library = load_ranx()
        named = {str(i): topic for i, topic in enumerate(topics)}
        qrels = {q: grades for q, grades in qrels_of(named).items() if grades}
        run = {q: scores for q, scores in run_of(named).items() if scores}
        return library.evaluate(library.Qrels(qrels), library.Run(run), "map")

    return evaluate


def dcg_of_2002(topic: Topic, k: int) -> float:
    """The original: no discount below rank 2, then log2(rank)."""
    grades = [max(topic.grades.get(key, 0), 0) for key in topic.ranking[:k]]
    return sum(grade / max(np.log2(rank), 1.0) for rank, grade in enumerate(grades, 1))


def hits(topic: Topic, k: int) -> list[int]:
    return [rank for rank, key in enumerate(topic.ranking[:k], 1) if topic.grades.get(key, 0) > 0]


def relevant(topic: Topic) -> int:
    return sum(grade > 0 for grade in topic.grades.values())


def capped_ap(topic: Topic, k: int) -> float:
    precisions = [found / rank for found, rank in enumerate(hits(topic, k), 1)]
    return sum(precisions) / min(k, relevant(topic))


def rbp_with_residual(topic: Topic, p: float) -> float:
    unknown = [i for i, key in enumerate(topic.ranking) if key not in topic.grades]
    residual = sum((1 - p) * p**i for i in unknown) + p ** len(topic.ranking)
    return here(f"rbp(p={p})", {"1": topic})["1"] + residual


def normalised_err(topic: Topic) -> float:
    spec = "err(max_grade=3)@10"
    best = topic.ranked(sorted(topic.grades, key=topic.grades.get, reverse=True))
    return here(spec, {"1": topic})["1"] / here(spec, {"1": best})["1"]


def retrieved_precision(topic: Topic) -> float:
    relevant_ones = [topic.grades.get(key, 0) > 0 for key in topic.ranking]
    return sklearn_metrics.precision_score(relevant_ones, [True] * len(relevant_ones))


def relevant_found_ap(topic: Topic) -> float:
    relevant_ones = [topic.grades.get(key, 0) > 0 for key in topic.ranking[:3]]
    return sklearn_metrics.average_precision_score(relevant_ones, [3, 2, 1])


LENGTHS = [3, 3, 1]
CLICKED = [{1, 2}, {3}, {1}]


def click_mean(spec: str) -> float:
    clicks = np.array([[rank in ranks for rank in (1, 2, 3)] for ranks in CLICKED])
    return float(np.nanmean(parse(spec).score(Batch(lengths=np.array(LENGTHS), clicks=clicks))))


def position_ctr(k: int) -> float:
    long = [ranks for ranks, length in zip(CLICKED, LENGTHS, strict=True) if length >= k]
    return sum(k in ranks for ranks in long) / len(long)


def document_ctr(k: int) -> float:
    clicked = sum(rank <= k for ranks in CLICKED for rank in ranks)
    return clicked / sum(min(k, length) for length in LENGTHS)


TWICE = "1 Q0 a 1 3.0 t\n1 Q0 b 2 2.0 t\n1 Q0 a 3 1.0 t\n"
A_IS_RELEVANT = "1 0 a 1\n"


def mrr_of_files(evaluate) -> float:
    with TemporaryDirectory() as folder:
        run, qrels = Path(folder, "a.run"), Path(folder, "a.qrels")
        run.write_text(TWICE)
        qrels.write_text(A_IS_RELEVANT)
        return float(evaluate(run, qrels))


def mrr_here(run: Path, qrels: Path) -> float:
    scored = evaluate_run("a", read_run(run), load_qrels(qrels), measures_of("mrr"))
    return scored.scores["mrr"][0]


def mrr_of_ir_measures(run: Path, qrels: Path) -> float:
    return ir_measures.calc_aggregate(
        [ir_measures.RR], ir_measures.read_trec_qrels(str(qrels)), ir_measures.read_trec_run(str(run))
    )[ir_measures.RR]


def mrr_of_ranx(run: Path, qrels: Path) -> float:
    library = load_ranx()
    return library.evaluate(
        library.Qrels.from_file(str(qrels), kind="trec"), library.Run.from_file(str(run), kind="trec"), "mrr"
    )

"""The libraries as their users call them: dictionaries of scores and grades in, one value a query out."""

import os
import shutil
import sys
from functools import cache
from unittest.mock import patch

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from sklearn import metrics as sklearn_metrics

from tests.oracle.libraries_topics import Topic, Topics


def pytrec(measure: str, **options):
    """trec_eval, which leaves out queries that the run lacks or nobody judged."""

    def scores(topics: Topics) -> dict[str, float]:
        evaluator = pytrec_eval.RelevanceEvaluator(qrels_of(topics), {measure}, **options)
        return {q: values[measure] for q, values in evaluator.evaluate(run_of(topics)).items()}

    return scores


def irm(measure: str, *, keep_empty: bool = False):
    """ir_measures; queries without results are left out of the run, as they are from a run file."""
    parsed = eval(
        measure, vars(ir_measures)
    )  # its own parser warns of the abstract syntax tree that it reads

    def scores(topics: Topics) -> dict[str, float]:
        if ("ERR" in measure or "exp" in measure) and not shutil.which("perl"):
            pytest.skip("gdeval, which ir_measures runs for this, needs perl")
        run = {q: documents for q, documents in run_of(topics).items() if documents or keep_empty}
        return {
            metric.query_id: metric.value
            for metric in ir_measures.iter_calc([parsed], qrels_of(topics), run)
            if metric.query_id in topics
        }

    return scores


@cache
def load_ranx():
    """Load ranx without compilation, which takes half a minute."""
    with patch.dict(os.environ, NUMBA_DISABLE_JIT="1"):
        import numba

        assert "ranx" in sys.modules or numba.config.DISABLE_JIT
        import ranx

    return ranx


def ranx(measure: str):
    """Score by ranx with its own classes, which turn grades into whole numbers."""

    def scores(topics: Topics) -> dict[str, float]:
        library = load_ranx()
        run = library.Run(run_of(topics))
        library.evaluate(library.Qrels(qrels_of(topics)), run, [measure], make_comparable=True)
        return {q: float(value) for q, value in run.scores[measure].items()}

    return scores


def ranx_of_dicts(measure: str):
    """Score by ranx with plain dictionaries, which keep fractional grades."""

    def scores(topics: Topics) -> dict[str, float]:
        # Asked for one measure with a cut-off, it looks for the result under the name without.
        measures = [measure, "hits"]
        values = load_ranx().evaluate(qrels_of(topics), run_of(topics), measures, return_mean=False)
        return dict(zip(topics, values[measure].tolist(), strict=True))

    return scores


def ranx_iprec11(topics: Topics) -> dict[str, float]:
    """The mean over ranx's interpolated precision, which `evaluate` does not offer."""
    library = load_ranx()
    levels = library.metrics.interpolated_precision_at_recall(
        library.Qrels(qrels_of(topics)).to_typed_list(), library.Run(run_of(topics)).to_typed_list()
    )
    return dict(zip(sorted(topics), levels.mean(axis=1).tolist(), strict=True))


def irm_iprec11(topics: Topics) -> dict[str, float]:
    """The mean over ir_measures' interpolated precision at the eleven levels."""
    levels = [irm(f"IPrec@{level / 10}")(topics) for level in range(11)]
    return {q: float(np.mean([level[q] for level in levels])) for q in levels[0]}


def sklearn(name: str, **options):
    """A score of scikit-learn over the grades of the retrieved documents, in our order and without ties."""
    function = getattr(sklearn_metrics, name)

    def one(topic: Topic) -> float:
        grades = [max(topic.grades.get(key, 0), 0) for key in topic.ranking]
        return float(function([grades], [list(range(len(grades), 0, -1))], **options))

    return lambda topics: {q: one(topic) for q, topic in topics.items()}


def sklearn_binary(name: str):
    """A score of scikit-learn over whether the retrieved documents are relevant, in our order."""
    function = getattr(sklearn_metrics, name)

    def one(topic: Topic) -> float:
        relevant = [topic.grades.get(key, 0) > 0 for key in topic.ranking]
        return float(function(relevant, list(range(len(relevant), 0, -1))))

    return lambda topics: {q: one(topic) for q, topic in topics.items()}


def sklearn_sets(name: str):
    """A score of scikit-learn for classifiers: retrieved is predicted, relevant is true."""
    function = getattr(sklearn_metrics, name)

    def one(topic: Topic) -> float:
        collection = sorted({*topic.scores, *topic.grades, "another"})
        relevant = [topic.grades.get(key, 0) > 0 for key in collection]
        return float(function(relevant, [key in topic.scores for key in collection], zero_division=0))

    return lambda topics: {q: one(topic) for q, topic in topics.items()}


def qrels_of(topics: Topics) -> dict[str, dict[str, float]]:
    return {q: dict(topic.grades) for q, topic in topics.items()}


def run_of(topics: Topics) -> dict[str, dict[str, float]]:
    return {q: dict(topic.scores) for q, topic in topics.items()}

"""Offline evaluation: rankings, judgments and what can be said of them. Everything public stands here.

A name is imported when it is asked for, so that who reads a file does not wait for what draws a plot.
docs/evaluation.md shows all of it at work.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from monitor.evaluation.bands import band
    from monitor.evaluation.click_model import CascadeClickModel, ClickedRanking
    from monitor.evaluation.collection import TestCollection
    from monitor.evaluation.comparing.compare import ComparisonError, compare, compare_all
    from monitor.evaluation.comparing.comparison import ComparisonReport, SystemComparison, SystemSummary
    from monitor.evaluation.comparing.plots import plot_comparison
    from monitor.evaluation.comparing.report import write_report
    from monitor.evaluation.confusion import ConfusionMatrix, confusion_matrix
    from monitor.evaluation.cross_validation import CrossValidation, Fold, cross_validate
    from monitor.evaluation.curves import RecallPrecision, precision_curve, recall_precision_curve
    from monitor.evaluation.files.inputs import InputError
    from monitor.evaluation.files.qrels import Grade, Qrels, load_qrels, read_qrels
    from monitor.evaluation.files.runs import Ranking, read_run, run_name
    from monitor.evaluation.functions import (
        alpha_ndcg,
        average_precision,
        evaluate_batch,
        evaluate_retrieval,
        intra_list_diversity,
        mean_average_precision,
        mean_reciprocal_rank,
        ndcg_at_k,
        precision_at_k,
        recall_at_k,
    )
    from monitor.evaluation.measures import measures_of
    from monitor.evaluation.ndcg_evaluator import NDCGEvaluator, RankingComparison
    from monitor.evaluation.passages import PassageScores, exact_match, score_passages, span_f1
    from monitor.evaluation.scoring import Evaluation, evaluate_run, judged_rows
    from monitor.evaluation.sessions import Sessions, evaluate_sessions
    from monitor.evaluation.synthetic import SyntheticItem, create_synthetic_evaluation_data
    from monitor.metrics.binary import RECALL_LEVELS, interpolated_precision
    from monitor.stats import (
        Comparison,
        bootstrap_interval,
        bootstrap_test,
        cohen_kappa,
        holm,
        krippendorff_alpha,
        paired_t,
        permutation_test,
        stars,
        verdict,
        wilcoxon,
    )

__all__ = [
    "RECALL_LEVELS",
    "CascadeClickModel",
    "ClickedRanking",
    "Comparison",
    "ComparisonError",
    "ComparisonReport",
    "ConfusionMatrix",
    "CrossValidation",
    "Evaluation",
    "Fold",
    "Grade",
    "InputError",
    "NDCGEvaluator",
    "PassageScores",
    "Qrels",
    "Ranking",
    "RankingComparison",
    "RecallPrecision",
    "Sessions",
    "SyntheticItem",
    "SystemComparison",
    "SystemSummary",
    "TestCollection",
    "alpha_ndcg",
    "average_precision",
    "band",
    "bootstrap_interval",
    "bootstrap_test",
    "cohen_kappa",
    "compare",
    "compare_all",
    "confusion_matrix",
    "create_synthetic_evaluation_data",
    "cross_validate",
    "evaluate_batch",
    "evaluate_retrieval",
    "evaluate_run",
    "evaluate_sessions",
    "exact_match",
    "holm",
    "interpolated_precision",
    "intra_list_diversity",
    "judged_rows",
    "krippendorff_alpha",
    "load_qrels",
    "mean_average_precision",
    "mean_reciprocal_rank",
    "measures_of",
    "ndcg_at_k",
    "paired_t",
    "permutation_test",
    "plot_comparison",
    "precision_at_k",
    "precision_curve",
    "read_qrels",
    "read_run",
    "recall_at_k",
    "recall_precision_curve",
    "run_name",
    "score_passages",
    "span_f1",
    "stars",
    "verdict",
    "wilcoxon",
    "write_report",
]

_PLACES = {
    "evaluation.bands": "band",
    "evaluation.click_model": "CascadeClickModel ClickedRanking",
    "evaluation.collection": "TestCollection",
    "evaluation.comparing.compare": "ComparisonError compare compare_all",
    "evaluation.comparing.comparison": "ComparisonReport SystemComparison SystemSummary",
    "evaluation.comparing.plots": "plot_comparison",
    "evaluation.comparing.report": "write_report",
    "evaluation.confusion": "ConfusionMatrix confusion_matrix",
    "evaluation.cross_validation": "CrossValidation Fold cross_validate",
    "evaluation.curves": "RecallPrecision precision_curve recall_precision_curve",
    "evaluation.files.inputs": "InputError",
    "evaluation.files.qrels": "Grade Qrels load_qrels read_qrels",
    "evaluation.files.runs": "Ranking read_run run_name",
    "evaluation.functions": (
        "alpha_ndcg average_precision evaluate_batch evaluate_retrieval intra_list_diversity "
        "mean_average_precision mean_reciprocal_rank ndcg_at_k precision_at_k recall_at_k"
    ),
    "evaluation.measures": "measures_of",
    "evaluation.ndcg_evaluator": "NDCGEvaluator RankingComparison",
    "evaluation.passages": "PassageScores exact_match score_passages span_f1",
    "evaluation.scoring": "Evaluation evaluate_run judged_rows",
    "evaluation.sessions": "Sessions evaluate_sessions",
    "evaluation.synthetic": "SyntheticItem create_synthetic_evaluation_data",
    "metrics.binary": "RECALL_LEVELS interpolated_precision",
    "stats": (
        "Comparison bootstrap_interval bootstrap_test cohen_kappa holm krippendorff_alpha "
        "paired_t permutation_test stars verdict wilcoxon"
    ),
}
"""The modules of the project, and what they have that is public here."""
_PLACE_OF = {name: f"monitor.{place}" for place, names in _PLACES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _PLACE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACE_OF[name]), name)

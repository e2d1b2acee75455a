"""Statistics on numbers alone: tests of paired scores, bootstrap, correction, and agreement of assessors."""

from monitor.stats.agreement import alpha_of_items, cohen_kappa, krippendorff_alpha
from monitor.stats.bootstrap import Interval, bootstrap_interval
from monitor.stats.correction import holm, stars, verdict
from monitor.stats.significance import (
    TESTS,
    Comparison,
    bootstrap_test,
    paired_t,
    permutation_test,
    wilcoxon,
)

__all__ = [
    "TESTS",
    "Comparison",
    "Interval",
    "alpha_of_items",
    "bootstrap_interval",
    "bootstrap_test",
    "cohen_kappa",
    "holm",
    "krippendorff_alpha",
    "paired_t",
    "permutation_test",
    "stars",
    "verdict",
    "wilcoxon",
]

"""What the pictures share: colours, marks, and how much of a long list they show."""

from typing import NamedTuple

import numpy as np

from monitor.evaluation.comparing.comparison import SystemComparison
from monitor.metrics import Floats

BASELINE = "#7d8799"
SYSTEMS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Okabe and Ito 2008: told apart with any colour vision, and on white as well as on dark grey."""
BETTER, TIED, WORSE = "#0072b2", "#7d8799", "#d55e00"
MOST_POINTS = 5_000
"""More points than this make one blot, and a file that no browser opens."""
LONGEST_NAME = 32


class Points(NamedTuple):
    """Queries of a comparison, to be drawn."""

    queries: list[str]
    baseline: Floats
    system: Floats
    differences: Floats
    sampled_from: int | None
    """How many there are, if these are only a sample."""


def colour(number: int) -> str:
    """The colour of a system; the baseline is number 0."""
    return BASELINE if number == 0 else SYSTEMS[(number - 1) % len(SYSTEMS)]


def points(comparison: SystemComparison, seed: int) -> Points:
    """All queries of a comparison, or a random sample if they are too many."""
    count = len(comparison.queries)
    if count <= MOST_POINTS:
        rows, sampled_from = np.arange(count), None
    else:
        chosen = np.random.default_rng(seed).choice(count, MOST_POINTS, replace=False)
        rows, sampled_from = np.sort(chosen), count
    return Points(
        [comparison.queries[row] for row in rows],
        comparison.baseline_scores[rows],
        comparison.system_scores[rows],
        comparison.differences[rows],
        sampled_from,
    )


def shortened(text: str, longest: int = LONGEST_NAME) -> str:
    """The text, cut in the middle if it is long: the beginning and the end of a run's name tell it apart.

    >>> shortened("bm25"), shortened("a-very-long-name-of-a-run", longest=11)
    ('bm25', 'a-ver…a-run')
    """
    if len(text) <= longest:
        return text
    end = (longest - 1) // 2
    return f"{text[: longest - 1 - end]}…{text[-end:]}"

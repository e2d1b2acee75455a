"""Alarms: when one begins, how many there are, and how many there may be where few or none were seen."""

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

KEEP_FIRING = 15
"""Minutes that an alert goes on firing; a gap shorter than this is no new alarm."""


def episodes(firing: NDArray[np.bool_], since: int = 0, until: int | None = None) -> int:
    """Alarms of one series that begin in a time: maximal stretches, with gaps that `keep_firing_for` bridges.

    >>> episodes(np.array([False, True, True] + 14 * [False] + [True] + 15 * [False] + [True]))
    2
    """
    minutes = np.flatnonzero(firing)
    begin = minutes[np.diff(minutes, prepend=-KEEP_FIRING - 1) > KEEP_FIRING]
    return int(((begin >= since) & (begin < (len(firing) if until is None else until))).sum())


def upper_bound(alarms: int, confidence: float = 0.95) -> float:
    """How many alarms a Poisson process may be expected to make that made this many.

    >>> round(upper_bound(0), 2)
    3.0
    """
    return float(chi2.ppf(confidence, 2 * (alarms + 1)) / 2)


def held(condition: NDArray[np.bool_], minutes: int) -> NDArray[np.bool_]:
    """`for`: true where the condition has been true at this and as many evaluations before."""
    true = np.cumsum(condition)
    before = np.concatenate([np.zeros(minutes + 1, dtype=true.dtype), true[: -minutes - 1]])
    long_enough: NDArray[np.bool_] = true - before == minutes + 1
    return long_enough

"""What p values say: corrected for several comparisons, as stars, and in words."""

from collections.abc import Sequence

import numpy as np

LEVELS = (
    (0.001, "***", "significant at .001"),
    (0.01, "**", "significant at .01"),
    (0.05, "*", "significant at .05"),
)
MARGINAL = 0.1


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p values adjusted for being several, by Holm's step-down method (1979), in the given order.

    The smallest of m is multiplied by m, the next by m - 1 and so on; none is above 1, and none is below one
    that was smaller before.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    p = np.array([_checked(value) for value in p_values])
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return [float(value) for value in adjusted]


def stars(p: float) -> str:
    """Return `***` below .001, `**` below .01, `*` below .05 and `ns` from .05 on.

    >>> stars(0.0009), stars(0.001), stars(0.049), stars(0.05)
    ('***', '**', '*', 'ns')
    """
    return next((mark for level, mark, _ in LEVELS if _checked(p) < level), "ns")


def verdict(p: float) -> str:
    """Return the stars in words; `marginal` from .05 to below .1.

    >>> verdict(0.0009), verdict(0.07), verdict(0.1)
    ('significant at .001', 'marginal', 'not significant')
    """
    otherwise = "marginal" if _checked(p) < MARGINAL else "not significant"
    return next((words for level, _, words in LEVELS if p < level), otherwise)


def _checked(p: float) -> float:
    if not 0 <= p <= 1:
        raise ValueError(f"p is {p}; a p value lies between 0 and 1")
    return p

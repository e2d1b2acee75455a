"""What the statistics take: checked lists of numbers, and pairs as differences without rounding noise."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

LARGEST = 1e290  # an interval around larger ones could overflow
ROUNDING = 2.0**-46
"""How far equal differences of scores up to 1 lie apart: a score is a sum of some roundings of 2^-53."""
MOST_AT_ONCE = 1 << 22
"""Numbers that a resampling holds at a time: 32 MB for each array of them."""


def numbers(values: npt.ArrayLike, name: str = "values") -> Floats:
    """Return a flat list of numbers as an array; refuse what no statistic is defined for.

    >>> numbers([1, float("nan")])
    Traceback (most recent call last):
    ValueError: values[1] is nan; only finite numbers below 1e+290 in size are allowed
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"{name} must be a flat list of numbers, not an array of shape {array.shape}")
    wrong = np.flatnonzero(~(np.abs(array) < LARGEST))
    if wrong.size:
        where = f"{name}[{wrong[0]}] is {array[wrong[0]]:g}"
        raise ValueError(f"{where}; only finite numbers below {LARGEST:g} in size are allowed")
    return array


def at_least_two(values: npt.ArrayLike, name: str = "values") -> Floats:
    """Return numbers; refuse fewer than two, which have no spread."""
    array = numbers(values, name)
    if len(array) < 2:
        raise ValueError(f"{name} has {len(array)} of the 2 values that are needed at least")
    return array


def check_chances(confidence: float, resamples: int = 1) -> None:
    """Refuse a confidence outside 0 to 1, and no resamples."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence is {confidence}; it must be above 0 and below 1, as 0.95")
    if resamples < 1:
        raise ValueError(f"resamples is {resamples}; it must be 1 or more")


def rows_at_once(columns: int) -> int:
    """Return how many rows of that many numbers are held at a time, so that memory stays bounded."""
    return max(1, MOST_AT_ONCE // max(columns, 1))


@dataclass(frozen=True, slots=True)
class Pairs:
    """The differences of two paired lists, system - baseline, in units of a power of two.

    The unit is just above the largest value of the two lists: no square overflows, whatever the scale of the
    scores. Rounding is taken out (see `_without_rounding`): a difference below 2^-46 of the largest score,
    1.4e-14 for scores up to 1, is taken for rounding and is 0.
    """

    baseline_mean: float
    system_mean: float
    differences: Floats
    exponent: int

    @classmethod
    def of(cls, baseline: npt.ArrayLike, system: npt.ArrayLike) -> "Pairs":
        """Check and pair the values of the same queries, in the same order."""
        first, second = numbers(baseline, "baseline"), numbers(system, "system")
        if len(first) != len(second):
            raise ValueError(
                f"baseline has {len(first)} values and system {len(second)}; give one pair for each query"
            )
        at_least_two(first, "baseline")
        exponent = int(np.frexp(max(np.abs(first).max(), np.abs(second).max()))[1])
        first, second = np.ldexp(first, -exponent), np.ldexp(second, -exponent)
        return cls(
            baseline_mean=float(np.ldexp(first.mean(), exponent)),
            system_mean=float(np.ldexp(second.mean(), exponent)),
            differences=_without_rounding(second - first),
            exponent=exponent,
        )

    @property
    def constant(self) -> bool:
        """Whether all differences are the same."""
        return bool((self.differences == self.differences[0]).all())

    @property
    def mean(self) -> float:
        """The mean difference; of equal ones exactly that difference."""
        return float(self.differences[0] if self.constant else self.differences.mean())

    def scaled(self, value: float) -> float:
        """Return a difference in the units of the scores."""
        return float(np.ldexp(value, self.exponent))


def _without_rounding(differences: Floats) -> Floats:
    """Make differences equal whose sizes are apart by rounding only, of scores that are at most 1.

    0.6 - 0.4 and 0.4 - 0.2 are one difference: a tie for ranks, and no variance between them.

    >>> _without_rounding(np.array([0.6 - 0.4, 0.4 - 0.2, 0.1 - 0.3, 0.1 + 0.2 - 0.3])).tolist()
    [0.19999999999999996, 0.19999999999999996, -0.19999999999999996, 0.0]
    """
    order = np.argsort(np.abs(differences))
    sizes = np.abs(differences[order])
    news = np.diff(sizes, prepend=0.0) > ROUNDING
    same = np.concatenate([[0.0], sizes[news]])[np.cumsum(news)]
    found = np.empty_like(differences)
    found[order] = np.sign(differences[order]) * same
    return found + 0.0  # -0.0 becomes 0.0

"""How far assessors agree beyond chance: Cohen's kappa for two, Krippendorff's alpha for any number."""

from collections.abc import Sequence
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from monitor.stats.samples import Floats, numbers

Ints = npt.NDArray[np.int64]
Weights = Literal["linear", "quadratic"]
Level = Literal["nominal", "ordinal", "interval"]


def cohen_kappa(
    a: npt.ArrayLike,
    b: npt.ArrayLike,
    *,
    weights: Weights | None = None,
    categories: Sequence[float] | None = None,
) -> float:
    """Return Cohen's kappa of two assessors who graded the same items: 1 - disagreement / what chance gives.

    Without weights every difference counts 1; `linear` and `quadratic` count how many steps of the scale two
    grades are apart, or its square. The scale is `categories`, or else every grade that either gave, in
    order: as scikit-learn's `cohen_kappa_score` with and without `labels`. Where both gave one and the same
    grade throughout, chance gives no disagreement either (0 / 0): kappa is 1, where scikit-learn has NaN.

    >>> round(cohen_kappa([0, 1, 2, 2], [0, 1, 1, 2]), 4)
    0.6364
    """
    if weights not in (None, "linear", "quadratic"):
        raise ValueError(f'weights is "{weights}"; it must be None, "linear" or "quadratic"')
    first, second = numbers(a, "a"), numbers(b, "b")
    if len(first) != len(second):
        raise ValueError(f"a has {len(first)} grades and b {len(second)}; give both for each item")
    if not len(first):
        raise ValueError("a and b are empty; kappa needs an item that both graded")
    steps, size = _steps(np.concatenate([first, second]), categories)
    if not np.ptp(steps):
        return 1.0
    left, right = steps[: len(first)], steps[len(first) :]
    if weights == "quadratic":
        observed, expected = _squared_apart(left, right)
    elif weights == "linear":
        observed, expected = _steps_apart(left, right, size)
    else:
        observed, expected = _unequal(left, right, size)
    return 1 - observed / expected


def krippendorff_alpha(ratings: npt.ArrayLike, *, level: Level = "nominal") -> float:
    """Return Krippendorff's alpha of a table of ratings, assessors x items, NaN where there is none.

    Items rated once count for nothing. `nominal` grades differ or not; `ordinal` ones differ by the ranks
    between them; `interval` ones by the square of their distance. Where every rating is the same, alpha
    is 1: no disagreement was found and none expected (0 / 0).

    >>> nan = float("nan")
    >>> round(krippendorff_alpha([[1, 2, 3, nan], [1, 2, 2, 4], [1, nan, 3, 4]]), 4)
    0.7568
    """
    table = np.asarray(ratings, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"ratings must be a table of assessors x items, not of shape {table.shape}")
    _, items = given = np.nonzero(~np.isnan(table))
    return alpha_of_items(items, table[given], level=level)


def alpha_of_items(items: npt.ArrayLike, grades: npt.ArrayLike, *, level: Level = "nominal") -> float:
    """Return Krippendorff's alpha of ratings told one by one: the number of the item, and the grade.

    >>> alpha_of_items([0, 0, 1, 1], [1, 1, 2, 2])
    1.0
    """
    if level not in ("nominal", "ordinal", "interval"):
        raise ValueError(f'level is "{level}"; it must be "nominal", "ordinal" or "interval"')
    values = numbers(grades, "grades")
    numbered = np.unique(np.asarray(items), return_inverse=True)[1]
    often = np.bincount(numbered)[numbered] > 1 if len(numbered) else np.zeros(0, dtype=bool)
    if not often.any():
        raise ValueError("no item has two ratings; alpha needs items that several assessors rated")
    units = np.unique(numbered[often], return_inverse=True)[1]
    scale, steps = np.unique(values[often], return_inverse=True)
    if len(scale) == 1:
        return 1.0
    if level == "nominal":
        apart = partial(_unequal_pairs, steps)
    else:
        uses = np.bincount(steps)
        places = np.cumsum(uses) - uses / 2 if level == "ordinal" else _from_0_to_1(scale)
        apart = partial(_squared_pairs, places[steps])
    observed = np.sum(apart(units) / (np.bincount(units) - 1)) / len(units)
    expected = apart(np.zeros_like(units))[0] / (len(units) * (len(units) - 1))
    return float(1 - observed / expected)


def _steps(grades: Floats, categories: Sequence[float] | None) -> tuple[Ints, int]:
    """Return where on the scale each grade stands, and how many steps the scale has."""
    scale = np.unique(grades if categories is None else numbers(list(categories), "categories"))
    steps = np.searchsorted(scale, grades)
    known = np.isin(grades, scale)
    if not known.all():
        raise ValueError(f"grade {grades[~known][0]:g} is not among the categories")
    return steps, len(scale)


# Each returns the mean over the items, and over all pairs of one grade of the left and one of the right:
# without a table of categories x categories, which is large where most grades differ.


def _unequal(left: Ints, right: Ints, size: int) -> tuple[float, float]:
    return float(np.mean(left != right)), float(_shares(left, size) @ (1 - _shares(right, size)))


def _steps_apart(left: Ints, right: Ints, size: int) -> tuple[float, float]:
    """Two grades are as many steps apart as there are steps with one at or below and the other above."""
    low_left, low_right = np.cumsum(_shares(left, size))[:-1], np.cumsum(_shares(right, size))[:-1]
    expected = low_left @ (1 - low_right) + low_right @ (1 - low_left)
    return float(np.mean(np.abs(left - right))), float(expected)


def _squared_apart(left: Ints, right: Ints) -> tuple[float, float]:
    expected = left.var() + right.var() + (left.mean() - right.mean()) ** 2
    return float(np.mean((left - right).astype(np.float64) ** 2)), float(expected)


def _shares(steps: Ints, size: int) -> Floats:
    return np.bincount(steps, minlength=size) / len(steps)


def _unequal_pairs(steps: Ints, units: Ints) -> Floats:
    """Return how many ordered pairs of ratings in each unit differ."""
    size = int(steps.max()) + 1
    cells, uses = np.unique(units * size + steps, return_counts=True)
    equal = np.bincount(cells // size, weights=uses.astype(np.float64) ** 2)
    unequal: Floats = np.bincount(units).astype(np.float64) ** 2 - equal
    return unequal


def _squared_pairs(places: Floats, units: Ints) -> Floats:
    """Return the sum over ordered pairs of ratings in each unit of their squared distance."""
    sizes = np.bincount(units)
    centre = np.bincount(units, weights=places) / sizes
    around = np.bincount(units, weights=(places - centre[units]) ** 2)
    return np.asarray(2 * sizes * around, dtype=np.float64)


def _from_0_to_1(scale: Floats) -> Floats:
    """Return ordered grades without their unit, so that no square overflows."""
    places: Floats = (scale - scale[0]) / (scale[-1] - scale[0])
    return places

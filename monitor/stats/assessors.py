"""Who graded what: the agreement of every two assessors, and of all together."""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from monitor.stats.agreement import Ints, alpha_of_items, cohen_kappa
from monitor.stats.samples import Floats


class Graded(NamedTuple):
    """What one assessor graded: numbers of items in increasing order, and their grades."""

    items: Ints
    grades: Floats


class Pair(NamedTuple):
    """How far two assessors agree on the items that both graded; None where there are none."""

    first: str
    second: str
    items: int
    equal: float | None = None
    kappa: float | None = None
    kappa_linear: float | None = None
    kappa_quadratic: float | None = None
    one_grade: bool = False
    """Both gave one and the same grade throughout: kappa is 1 because chance agrees as well."""


class Overall(NamedTuple):
    """How far all assessors agree, on the items that two or more graded."""

    items: int
    alpha_nominal: float
    alpha_ordinal: float
    alpha_interval: float
    one_grade: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """Assessors in order of their names, each with what they graded."""

    graded: dict[str, Graded]

    @classmethod
    def of(cls, judgments: Iterable[tuple[str, Hashable, float | None]]) -> "Panel":
        """Collect judgments of (assessor, item, grade): the last one of an item counts, None withdraws it.

        >>> panel = Panel.of([("ann", "d1", 2), ("bob", "d1", 1), ("bob", "d1", 2), ("bob", "d2", 0)])
        >>> next(panel.pairs()).equal
        1.0
        """
        numbers: dict[Hashable, int] = {}
        last: dict[str, dict[int, float]] = {}
        for assessor, item, grade in judgments:
            number = numbers.setdefault(item, len(numbers))
            if grade is not None:
                last.setdefault(assessor, {})[number] = grade
            elif assessor in last:
                last[assessor].pop(number, None)
        return cls({name: _graded(last[name]) for name in sorted(last) if last[name]})

    def pairs(self) -> Iterator[Pair]:
        """Yield how far every two agree; weighted kappas take their scale from all grades of the panel."""
        scale = np.unique(np.concatenate([each.grades for each in self.graded.values()])).tolist()
        for (first, left), (second, right) in combinations(self.graded.items(), 2):
            common, in_left, in_right = np.intersect1d(
                left.items, right.items, assume_unique=True, return_indices=True
            )
            if not len(common):
                yield Pair(first, second, 0)
                continue
            a, b = left.grades[in_left], right.grades[in_right]
            yield Pair(
                first,
                second,
                items=len(common),
                equal=float(np.mean(a == b)),
                kappa=cohen_kappa(a, b),
                kappa_linear=cohen_kappa(a, b, weights="linear", categories=scale),
                kappa_quadratic=cohen_kappa(a, b, weights="quadratic", categories=scale),
                one_grade=bool((a == a[0]).all() and (b == a[0]).all()),
            )

    def overall(self) -> Overall | None:
        """Return how far all agree; None where no item was graded by two."""
        items = np.concatenate([np.zeros(0, dtype=np.int64), *(each.items for each in self.graded.values())])
        grades = np.concatenate([np.zeros(0), *(each.grades for each in self.graded.values())])
        times = np.bincount(items, minlength=1)
        shared = times[items] > 1
        if not shared.any():
            return None
        items, grades = items[shared], grades[shared]
        return Overall(
            items=int(np.count_nonzero(times > 1)),
            alpha_nominal=alpha_of_items(items, grades),
            alpha_ordinal=alpha_of_items(items, grades, level="ordinal"),
            alpha_interval=alpha_of_items(items, grades, level="interval"),
            one_grade=bool((grades == grades[0]).all()),
        )


def kappa_in_words(kappa: float) -> str:
    """Return Landis and Koch's word (1977) for a kappa; each band has its upper end.

    >>> kappa_in_words(0.61), kappa_in_words(0.6), kappa_in_words(-0.1)
    ('substantial', 'moderate', 'poor')
    """
    bands = ((0.8, "almost perfect"), (0.6, "substantial"), (0.4, "moderate"), (0.2, "fair"))
    word = next((word for above, word in bands if kappa > above), "slight")
    return word if kappa >= 0 else "poor"


def alpha_in_words(alpha: float) -> str:
    """Return what Krippendorff (2004) lets one do with judgments of that alpha.

    >>> alpha_in_words(0.8), alpha_in_words(0.7), alpha_in_words(0.6)
    ('reliable', 'tentative', 'not reliable')
    """
    if alpha >= 0.8:
        return "reliable"
    return "tentative" if alpha >= 0.667 else "not reliable"


def _graded(grades: dict[int, float]) -> Graded:
    items = np.fromiter(grades, dtype=np.int64, count=len(grades))
    order = np.argsort(items)
    return Graded(items[order], np.fromiter(grades.values(), dtype=np.float64, count=len(grades))[order])

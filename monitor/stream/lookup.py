"""Finding the grades of many ranked keys at once, each among the judgments of its own query."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from monitor.metrics import Bools, Floats, Ints
from monitor.stream.judgments import Qrels


class Known(NamedTuple):
    """The judgments of all queries of a batch, one query after the other."""

    grades: Floats
    targets: Ints


def lookup(qrels: Sequence[Qrels], lengths: Ints, keys: Ints) -> tuple[Bools, Ints, Known]:
    """For every key whether its query's judgments have it, and where in the joined arrays.

    `keys` are those of all rankings, one after the other; `lengths` says how many each has. One binary search
    for all of them at once, each between the bounds of its own query, whose keys are sorted.
    """
    _, first, query = np.unique(np.array(list(map(id, qrels))), return_index=True, return_inverse=True)
    distinct = [qrels[i] for i in first.tolist()]
    ends = np.cumsum([len(q.keys) for q in distinct])
    starts = np.concatenate(([0], ends[:-1]))
    joined = np.concatenate([q.keys for q in distinct])
    low = np.repeat(starts[query], lengths)
    end = np.repeat(ends[query], lengths)
    high = end.copy()
    last = len(joined) - 1
    for _ in range(int((ends - starts).max(initial=0)).bit_length()):
        middle = (low + high) >> 1
        below = (low < high) & (joined[np.minimum(middle, last)] < keys)
        low = np.where(below, middle + 1, low)
        high = np.where(below, high, np.minimum(middle, high))
    place = np.minimum(low, last)
    found = (low < end) & (joined[place] == keys)
    return (
        found,
        place,
        Known(np.concatenate([q.grades for q in distinct]), np.concatenate([q.targets for q in distinct])),
    )

"""Interactions: what users did with an impression, one by one as they come, and side by side when decided."""

from itertools import chain
from typing import NamedTuple

import numpy as np

from monitor.metrics import Bools, Floats, Ints

CLICK, DWELL, OUTCOME = range(3)
KINDS = ("click", "dwell", "outcome")

Interaction = tuple[int, int, bool, float]
"""Kind, key's hash or position, whether it is a position, and ts: two that agree in all are one."""
Payload = tuple[float, float]
"""Dwell seconds and nothing; of an outcome, success (1, 0) and scroll position. NaN where not told."""
Known = dict[Interaction, Payload]


class Interactions(NamedTuple):
    """Interactions side by side, each with the row of the impression that it belongs to."""

    rows: Ints
    kinds: Ints
    references: Ints
    """The key's hash, or the position."""
    are_positions: Bools
    ts: Floats
    payloads: Floats
    """(n, 2): see Payload."""


def side_by_side(rows: list[int], known: list[Known]) -> Interactions:
    """What was done with the impressions of these rows, as columns."""
    found = list(chain.from_iterable(known))
    payloads = [payload for each in known for payload in each.values()]
    kinds, references, are_positions, ts = zip(*found, strict=True) if found else ((), (), (), ())
    return Interactions(
        rows=np.repeat(np.array(rows, dtype=np.int64), [len(each) for each in known]),
        kinds=np.array(kinds, dtype=np.int64),
        references=np.array(references, dtype=np.int64),
        are_positions=np.array(are_positions, dtype=bool),
        ts=np.array(ts, dtype=np.float64),
        payloads=np.array(payloads, dtype=np.float64).reshape(len(found), 2),
    )

"""The log's clock: what the timestamps of records say about when they were written."""

from collections.abc import Sequence
from operator import attrgetter

import numpy as np

from monitor.metrics import Bools, Floats
from monitor.stream.records import APPEND_TIME, Record

_TYPE = attrgetter("timestamp_type")


def timestamps(records: Sequence[Record]) -> Floats:
    """When each record was written, in seconds by its own timestamp; infinity where it has none."""
    found = np.array([record.timestamp or 0 for record in records], dtype=np.float64) / 1000
    # Zero or less is what clients write that have no time.
    found[found <= 0] = np.inf
    return found


def are_append_times(records: Sequence[Record]) -> Bools:
    """Which timestamps are the broker's: a topic can be changed from one type to the other."""
    return np.array([kind == APPEND_TIME for kind in map(_TYPE, records)], dtype=bool)


def written_at(record: Record, now: float) -> float:
    """When a record was written by its own timestamp, or the clock where it has none."""
    stamp = record.timestamp
    return stamp / 1000 if stamp is not None and stamp > 0 else now

"""The books: what came in, and the one fate in which each record ended. They balance."""

from collections import Counter
from collections.abc import Iterable
from typing import Self

from monitor.events import Reason
from monitor.stream.late_histogram import LateHistogram

IMPRESSION_FATES = ("settled", "duplicate", "late", "evicted")
INTERACTION_FATES = ("joined", "duplicate", "unmatched", "evicted")
JUDGMENT_FATES = ("applied", "regraded", "withdrawn", "duplicate")
FATES = {
    "impression": IMPRESSION_FATES,
    "click": INTERACTION_FATES,
    "dwell": INTERACTION_FATES,
    "outcome": INTERACTION_FATES,
    "judgment": JUDGMENT_FATES,
}


class Books:
    """Counts that only go up; every fate and reason is there from the beginning, at 0."""

    def __init__(self, topics: Iterable[str], maturities: Iterable[str], label_names: Iterable[str]) -> None:
        self.records = Counter(dict.fromkeys(topics, 0))
        self.rejected: Counter[Reason] = Counter(dict.fromkeys(Reason, 0))
        self.fates = Counter({(kind, fate): 0 for kind, fates in FATES.items() for fate in fates})
        self.judged = Counter({(m, fate): 0 for m in maturities for fate in ("judged", "unjudged")})
        self.label_overflow = Counter(dict.fromkeys(label_names, 0))
        """Label values beyond the bound, by label name."""
        self.duplicate_keys = 0
        self.judgments_evicted = 0
        self.late = LateHistogram()

    def merge(self, other: Self) -> None:
        """Add what others have counted."""
        self.records.update(other.records)
        self.rejected.update(other.rejected)
        self.fates.update(other.fates)
        self.judged.update(other.judged)
        self.label_overflow.update(other.label_overflow)
        self.duplicate_keys += other.duplicate_keys
        self.judgments_evicted += other.judgments_evicted
        self.late.merge(other.late)

"""The books: what came in, and the one fate in which each record ended. They balance."""

from collections import Counter
from collections.abc import Iterable

from monitor.events import Reason

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

    def __init__(self, topics: Iterable[str], maturities: Iterable[str]) -> None:
        self.records = Counter(dict.fromkeys(topics, 0))
        self.rejected: Counter[Reason] = Counter(dict.fromkeys(Reason, 0))
        self.fates = Counter({(kind, fate): 0 for kind, fates in FATES.items() for fate in fates})
        self.judged = Counter({(m, fate): 0 for m in maturities for fate in ("judged", "unjudged")})
        self.duplicate_keys = 0
        self.judgments_evicted = 0

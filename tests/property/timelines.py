"""Short ways to write events and run the reference, for timelines that are worked out by hand.

Unless a test says otherwise attribution is 10 s, lateness 2 s, and the maturities are 4 s and 20 s.
"""

from collections.abc import Mapping
from typing import Any

from tests.property.reference import Reference
from tests.property.reference_model import Series, Settings
from tests.property.reference_wire import Sent

TOPIC = "search-events"
Value = dict[str, Any]


def settings(**changes: Any) -> Settings:
    usual: dict[str, Any] = {"attribution": 10, "lateness": 2, "maturities": (4, 20), "metrics": ("ndcg@3",)}
    return Settings(**usual | {"clock": 1e9} | changes)


def impression(ts: float, name: str = "i", ranked: str = "abc", query: str = "q", **more: Any) -> Value:
    more |= {"impression_id": name, "query_id": query, "ranked": list(ranked)}
    return {"type": "impression", "ts": ts, **more}


def click(ts: float, name: str = "i", **more: Any) -> Value:
    return {"type": "click", "impression_id": name, "ts": ts, **more}


def dwell(ts: float, name: str = "i", **more: Any) -> Value:
    return {"type": "dwell", "impression_id": name, "ts": ts, **more}


def outcome(ts: float, name: str = "i", **more: Any) -> Value:
    return {"type": "outcome", "impression_id": name, "ts": ts, **more}


def judgment(ts: float, key: str, grade: float | None, **more: Any) -> Value:
    return {"type": "judgment", "query_id": "q", "key": key, "grade": grade, "ts": ts} | more


def run(*values: Mapping[str, Any] | bytes, finished: bool = True, **changes: Any) -> Reference:
    return Reference(settings(**changes), [Sent(TOPIC, 0, value) for value in values], finished=finished)


def series(
    family: str, k: int | None = None, maturity: float | None = None, *labels: tuple[str, str]
) -> Series:
    return Series(family, k, maturity, labels)

"""Bands: a score in a word, for readers of reports who do not know what 0.7 means."""

from monitor.metrics import Measure, parse

BANDS: dict[str, tuple[tuple[float, str], ...]] = {
    "ndcg@10": ((0.9, "excellent"), (0.7, "very good"), (0.5, "good"), (0.3, "fair"), (0.0, "poor")),
    "recall@10": ((0.8, "excellent"), (0.6, "good"), (0.4, "fair"), (0.0, "low")),
    "ild": ((0.8, "high"), (0.6, "medium"), (0.4, "low"), (0.0, "very low")),
}
"""The least score of each word, highest first."""


def band(measure: str | Measure, value: float | None) -> str | None:
    """Return the word for a score; `None` for a measure that has no bands, or where there is no score.

    A score that is exactly the least of a band is in it. Intra-list diversity has its bands at every k.

    >>> band("ndcg@10", 0.9), band("recall@10", 0.45), band("ild@5", 0.3), band("ndcg@5", 0.9)
    ('excellent', 'fair', 'very low', None)
    """
    chosen = parse(measure) if isinstance(measure, str) else measure
    name = chosen.metric.name if chosen.metric.name == "ild" else chosen.name
    if value is None:
        return None
    return next((word for least, word in BANDS.get(name, ()) if value >= least), None)

"""Made-up evaluations to compare."""

from collections.abc import Sequence

import numpy as np

from monitor.evaluation.scoring import Evaluation

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\"'&<b>$x$"


def evaluation(
    name: str,
    scores: Sequence[float],
    *,
    measure: str = "ndcg@10",
    queries: Sequence[str] | None = None,
    latency: Sequence[float] | None = None,
    missing: int = 0,
) -> Evaluation:
    """One system; the queries are q0, q1, ... unless they are given."""
    return Evaluation(
        name,
        list(queries) if queries is not None else [f"q{row}" for row in range(len(scores))],
        {measure: np.array(scores, dtype=np.float64)},
        latency=None if latency is None else np.array(latency, dtype=np.float64),
        missing=missing,
        unjudged=0,
    )


def systems(count: int = 3, queries: int = 60, seed: int = 5) -> list[Evaluation]:
    """A baseline, and systems of which each is a little better than the one before."""
    rng = np.random.default_rng(seed)
    base = rng.beta(2, 2, queries)
    return [
        evaluation(
            "baseline" if number == 0 else f"system-{number}",
            base if number == 0 else np.clip(base + rng.normal(0.06 * number, 0.1, queries), 0, 1),
        )
        for number in range(count)
    ]

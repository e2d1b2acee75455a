"""Batches for tests over the whole registry, and the ways to rearrange them."""

from dataclasses import fields, replace

import numpy as np

from monitor.metrics import METRICS, Batch, parse
from tests.oracle.metric_cases import batch_of, make_cases

REQUIRED = {"err": "(max_grade=3)"}
VARIANTS = (
    "ndcg(gain=exponential)@5",
    "ndcg(ideal=retrieved)@5",
    "ndcg(ideal=retrieved,unjudged=condensed)@5",
    "ap(undefined=skip)@5",
    "dedup_recall(unjudged=condensed)@3",
    "alpha_ndcg(alpha=0,unjudged=condensed)@3",
    "rbp(p=0)@5",
)
SPECS = (
    *(
        name + REQUIRED.get(name, "") + cut_off
        for name, metric in METRICS.items()
        for cut_off in ("", "@1", "@3", "@50")
        if (metric.takes_k or not cut_off) and (cut_off or not metric.needs_k)
    ),
    *VARIANTS,
)
MEASURES = tuple(map(parse, SPECS))

PADDING = {
    "grades": np.nan,
    "ideal": 0.0,
    "targets": 12345,
    "clicks": False,
    "dwell": np.nan,
}


def random_batch(seed: int = 0, rows: int = 60) -> Batch:
    batch = batch_of(make_cases(seed, rows, [-1, 0, 0.5, 1, 2, 3]))
    for field in fields(batch):
        if isinstance(array := getattr(batch, field.name), np.ndarray):
            array.flags.writeable = False
    return batch


def taken(batch: Batch, rows: list[int]) -> Batch:
    """Return some rows, in this order."""
    arrays = {
        field.name: getattr(batch, field.name)[rows] for field in fields(batch) if field.name != "embeddings"
    }
    return Batch(**arrays, embeddings=[batch.embeddings[row] for row in rows])


def padded(batch: Batch, columns: int) -> Batch:
    """Return the same rankings with more padding on the right."""
    return replace(
        batch,
        **{
            name: np.pad(getattr(batch, name), ((0, 0), (0, columns)), constant_values=padding)
            for name, padding in PADDING.items()
        },
    )


def cut(batch: Batch, columns: int) -> Batch:
    """Return the same rankings without the columns beyond some depth; all judgments stay."""
    ranked = PADDING.keys() - {"ideal"}
    return replace(batch, **{name: getattr(batch, name)[:, :columns] for name in ranked})

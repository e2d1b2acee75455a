"""What users did with a ranking: clicks, dwell, outcome, scrolling."""

import numpy as np

from monitor.metrics.arrays import ranks, reciprocal_rank, whether_any
from monitor.metrics.batch import Batch, Floats, require
from monitor.metrics.registry import Need, Reads, metric

SATISFIED_SECONDS = 30.0

DWELL_BUCKETS = (1.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0)
DEPTH_BUCKETS = (1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 50.0, 100.0)


@metric("ctr", need=Need.CLICKS)
def ctr(batch: Batch, k: int | None) -> Floats:
    """Whether anything within the first k ranks was clicked; its mean is the click-through rate.

    Definition: 1 if a rank within the first k was clicked, otherwise 0.
    Range: 0 or 1.
    Edge cases: several clicks count once; an empty ranking gives 0.
    Reference: click-through rate of Kohavi, Tang and Xu 2020, Trustworthy Online Controlled Experiments.

    >>> import numpy as np
    >>> from monitor.metrics import Batch, parse
    >>> batch = Batch(lengths=np.array([3]), clicks=np.array([[False, False, True]]))
    >>> parse("ctr@1").score(batch), parse("ctr@3").score(batch)
    (array([0.]), array([1.]))
    """
    return whether_any(require(batch.clicks, "clicks")[:, :k])


@metric("position_ctr", need=Need.CLICKS)
def position_ctr(batch: Batch, k: int) -> Floats:
    """Whether the document at rank k was clicked; its mean is what textbooks call CTR@k.

    Definition: 1 if rank k was clicked, otherwise 0; so the mean is the clicks at rank k / the impressions
    at least k long.
    Range: 0 or 1.
    Edge cases: undefined, so not observed, where the ranking is shorter than k, as an empty one always is;
    several clicks count once; there is no value without a k.
    Reference: the click-through rate by rank of Joachims et al. 2005, Accurately Interpreting Clickthrough
    Data.

    >>> import numpy as np
    >>> from monitor.metrics import Batch, parse
    >>> clicks = np.array([[True, False], [False, True], [True, False]])
    >>> batch = Batch(lengths=np.array([2, 2, 1]), clicks=clicks)
    >>> parse("position_ctr@1").score(batch), parse("position_ctr@2").score(batch)
    (array([1., 0., 1.]), array([ 0.,  1., nan]))
    """
    # Sliced, not indexed: a batch may be shallower than k.
    clicked = whether_any(require(batch.clicks, "clicks")[:, k - 1 : k])
    return np.where(batch.lengths >= k, clicked, np.nan)


@metric("click_mrr", need=Need.CLICKS)
def click_mrr(batch: Batch, k: int | None) -> Floats:
    """Reciprocal rank of the highest click.

    Definition: 1 / rank of the first rank within the first k that was clicked, 0 if none was.
    Range: 0 to 1; 1 is a click at rank 1.
    Edge cases: the order in which clicks came does not matter; an empty ranking gives 0.
    Reference: Max RR of Radlinski, Kurup and Joachims 2008, How Does Clickthrough Data Reflect Retrieval
    Quality?

    >>> import numpy as np
    >>> from monitor.metrics import Batch, parse
    >>> batch = Batch(lengths=np.array([3]), clicks=np.array([[False, True, True]]))
    >>> parse("click_mrr@10").score(batch)
    array([0.5])
    """
    return reciprocal_rank(require(batch.clicks, "clicks")[:, :k])


@metric("abandonment", need=Need.CLICKS)
def abandonment(batch: Batch) -> Floats:
    """Whether nothing at all was clicked.

    Definition: 1 if no rank was clicked, otherwise 0.
    Range: 0 or 1; lower is better, as far as the answer does not stand in the result list itself.
    Edge cases: an empty ranking gives 1: it was abandoned for lack of anything to click.
    Reference: abandonment rate of Radlinski, Kurup and Joachims 2008.

    >>> import numpy as np
    >>> from monitor.metrics import Batch, parse
    >>> clicks = np.array([[False, True], [False, False]])
    >>> parse("abandonment").score(Batch(lengths=np.array([2, 2]), clicks=clicks))
    array([0., 1.])
    """
    return 1.0 - whether_any(require(batch.clicks, "clicks"))


@metric("satisfied", need=Need.CLICKS)
def satisfied(batch: Batch) -> Floats:
    """Whether a clicked document held the user for 30 seconds or more.

    Definition: 1 if a clicked rank has a dwell of at least 30 seconds, otherwise 0.
    Range: 0 or 1.
    Edge cases: a dwell without a click on that rank does not count, nor does a click without a dwell; an
    empty ranking gives 0.
    Reference: the satisfied click of Fox et al. 2005, Evaluating Implicit Measures to Improve Web Search.

    >>> import numpy as np
    >>> from monitor.metrics import Batch, parse
    >>> clicks, dwell = np.array([[True, True]]), np.array([[4.0, 30.0]])
    >>> parse("satisfied").score(Batch(lengths=np.array([2]), clicks=clicks, dwell=dwell))
    array([1.])
    """
    long = require(batch.dwell, "dwell") >= SATISFIED_SECONDS
    return whether_any(require(batch.clicks, "clicks") & long)


@metric("outcome_success", need=Need.CLICKS, reads=Reads.NOTHING)
def outcome_success(batch: Batch) -> Floats:
    """Whether the search ended well, as the application told.

    Definition: 1 if the last outcome was successful, 0 if it was unsuccessful.
    Range: 0 or 1.
    Edge cases: undefined, so not observed, where no outcome was told; the ranking does not matter.
    Reference: session success rate of Kohavi, Tang and Xu 2020.

    >>> import numpy as np
    >>> from monitor.metrics import Batch, parse
    >>> parse("outcome_success").score(Batch(lengths=np.array([3, 3]), outcome=np.array([1.0, np.nan])))
    array([ 1., nan])
    """
    return require(batch.outcome, "outcome")


@metric(
    "dwell_seconds",
    need=Need.CLICKS,
    bounds=(0.0, np.inf),
    buckets=DWELL_BUCKETS,
    family="vector_dwell_seconds",
)
def dwell_seconds(batch: Batch) -> Floats:
    """Longest dwell on any document of the ranking, in seconds.

    Definition: the largest dwell over all ranks.
    Range: 0 upwards.
    Edge cases: undefined, so not observed, where no dwell was told, as for an empty ranking.
    Reference: dwell time of Fox et al. 2005.

    >>> import numpy as np
    >>> from monitor.metrics import Batch, parse
    >>> parse("dwell_seconds").score(Batch(lengths=np.array([3]), dwell=np.array([[12.5, np.nan, 40.0]])))
    array([40.])
    """
    longest: Floats = np.fmax.reduce(require(batch.dwell, "dwell"), axis=1, initial=np.nan)
    return longest


@metric(
    "click_depth",
    need=Need.CLICKS,
    bounds=(1.0, np.inf),
    buckets=DEPTH_BUCKETS,
    family="vector_click_depth",
)
def click_depth(batch: Batch) -> Floats:
    """Deepest rank that was clicked: how far down users have to go.

    Definition: the largest rank with a click.
    Range: 1 upwards.
    Edge cases: undefined, so not observed, without a click, as for an empty ranking.
    Reference: the deepest clicked rank of Joachims et al. 2005, Accurately Interpreting Clickthrough Data.

    >>> import numpy as np
    >>> from monitor.metrics import Batch, parse
    >>> parse("click_depth").score(Batch(lengths=np.array([3]), clicks=np.array([[True, False, True]])))
    array([3.])
    """
    clicks = require(batch.clicks, "clicks")
    deepest: Floats = np.max(clicks * ranks(clicks.shape[1]), axis=1, initial=0).astype(np.float64)
    return np.where(deepest > 0, deepest, np.nan)


@metric(
    "scroll_depth",
    need=Need.CLICKS,
    bounds=(0.0, np.inf),
    buckets=DEPTH_BUCKETS,
    family="vector_scroll_depth",
    reads=Reads.NOTHING,
)
def scroll_depth(batch: Batch) -> Floats:
    """Deepest position that the user scrolled to.

    Definition: the position told with the outcome, counted from 1.
    Range: 0 upwards.
    Edge cases: undefined, so not observed, where no position was told; it may exceed the ranking.
    Reference: scroll depth of Lagun et al. 2014, Towards Better Measurement of Attention and Satisfaction.

    >>> import numpy as np
    >>> from monitor.metrics import Batch, parse
    >>> parse("scroll_depth").score(Batch(lengths=np.array([10]), scroll=np.array([7.0])))
    array([7.])
    """
    return require(batch.scroll, "scroll")

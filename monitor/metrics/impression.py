"""What is known the moment a ranking is shown: how much there was, and how long it took."""

import numpy as np

from monitor.metrics.batch import Batch, Floats, require
from monitor.metrics.registry import Need, Reads, metric

RESULTS_BUCKETS = (0.0, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)
LATENCY_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
LABEL_DELAY_BUCKETS = (0.0, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 21600.0, 86400.0, 604800.0)


@metric(
    "results",
    need=Need.IMPRESSION,
    bounds=(0.0, np.inf),
    buckets=RESULTS_BUCKETS,
    family="vector_results",
    reads=Reads.NOTHING,
)
def results(batch: Batch) -> Floats:
    """Number of documents in the ranking.

    Definition: how many keys were ranked, each counted once.
    Range: 0 upwards.
    Edge cases: an empty ranking gives 0.
    Reference: trec_eval's num_ret.

    >>> import numpy as np
    >>> from monitor.metrics import Batch, parse
    >>> parse("results").score(Batch(lengths=np.array([10, 0])))
    array([10.,  0.])
    """
    return batch.lengths.astype(np.float64)


@metric("empty", need=Need.IMPRESSION, reads=Reads.NOTHING)
def empty(batch: Batch) -> Floats:
    """Whether the ranking had nothing in it; its mean is the zero-result rate.

    Definition: 1 if no key was ranked, otherwise 0.
    Range: 0 or 1; lower is better.
    Edge cases: an empty ranking gives 1; a single document is enough for 0.
    Reference: zero-result rate of Kohavi, Tang and Xu 2020, Trustworthy Online Controlled Experiments.

    >>> import numpy as np
    >>> from monitor.metrics import Batch, parse
    >>> parse("empty").score(Batch(lengths=np.array([10, 0])))
    array([0., 1.])
    """
    return np.asarray(batch.lengths == 0, dtype=np.float64)


@metric(
    "latency",
    need=Need.IMPRESSION,
    bounds=(0.0, np.inf),
    buckets=LATENCY_BUCKETS,
    family="vector_search_latency_seconds",
    reads=Reads.NOTHING,
)
def latency(batch: Batch) -> Floats:
    """Time the search took, in seconds, as the backend told.

    Definition: the latency of the impression.
    Range: 0 upwards.
    Edge cases: undefined, so not observed, where no latency was told; the ranking does not matter.
    Reference: the latency of the four golden signals, Beyer et al. 2016, Site Reliability Engineering.

    >>> import numpy as np
    >>> from monitor.metrics import Batch, parse
    >>> parse("latency").score(Batch(lengths=np.array([3, 3]), latency=np.array([0.25, np.nan])))
    array([0.25,  nan])
    """
    return require(batch.latency, "latency")


@metric(
    "label_delay",
    need=Need.JUDGMENTS,
    bounds=(0.0, np.inf),
    buckets=LABEL_DELAY_BUCKETS,
    family="vector_label_delay_seconds",
    of_relevance=False,
    reads=Reads.NOTHING,
)
def label_delay(batch: Batch) -> Floats:
    """Time from the impression to its first judgment, in seconds.

    Definition: the judgment's time minus the impression's.
    Range: 0 upwards.
    Edge cases: 0 where the judgment was there before the impression; undefined, so not observed, where
    there is nothing to tell; the ranking does not matter.
    Reference: the feedback delay of Chapelle 2014, Modeling Delayed Feedback in Display Advertising.

    >>> import numpy as np
    >>> from monitor.metrics import Batch, parse
    >>> parse("label_delay").score(Batch(lengths=np.array([3, 3]), label_delay=np.array([90.0, -5.0])))
    array([90.,  0.])
    """
    return require(batch.label_delay, "label_delay")

"""The four numbers that a search team looks at first."""

from collections.abc import Sequence
from dataclasses import dataclass

from grafana_foundation_sdk.models import dashboard as models

from grafana.panels import Unit, higher_is_better, lower_is_better
from grafana.queries import FAMILIES, Average, identity
from grafana.runbooks import Runbook


@dataclass(frozen=True, slots=True)
class Headline:
    """A metric, from which value on it is coloured, and what its moving may mean."""

    title: str
    family: str
    runbook: Runbook
    thresholds: Sequence[models.Threshold]
    """A first guess: what is good depends on the traffic, so a team sets its own here."""
    good: str
    unit: Unit = Unit.SHARE

    @property
    def average(self) -> Average:
        return Average(self.family)

    @property
    def says(self) -> str:
        """What the catalogue says of it."""
        return FAMILIES[self.family].help

    @property
    def legend(self) -> str:
        return legend(self.family)


def legend(family: str, *more: str) -> str:
    """How the series of a family are told apart.

    >>> legend("vector_ndcg_avg"), legend("vector_abandonment_avg")
    ('@{{k}} after {{maturity}}', 'mean')
    """
    parts = {"k": "@{{k}}", "maturity": "after {{maturity}}"}
    return " ".join([*(parts[label] for label in identity(FAMILIES[family])), *more]) or "mean"


NDCG = Headline(
    "NDCG@k",
    "vector_ndcg_avg",
    Runbook.NDCG,
    higher_is_better(0.5, 0.7),
    "level with last week at this hour, and the same for all variants. Green from 0.7, red below 0.5.",
    Unit.SCORE,
)
MRR = Headline(
    "MRR@k",
    "vector_mrr_avg",
    Runbook.MRR,
    higher_is_better(0.5, 0.7),
    "level with last week at this hour: the first relevant document stays where it was. Green from 0.7, red "
    "below 0.5.",
    Unit.SCORE,
)
CTR = Headline(
    "CTR@k",
    "vector_ctr_avg",
    Runbook.CTR,
    higher_is_better(0.3, 0.5),
    "level with last week at this hour. It needs no judgments, so it moves first; but a title or a price "
    "moves it too. Green from 50%, red below 30%.",
)
ABANDONMENT = Headline(
    "Abandonment",
    "vector_abandonment_avg",
    Runbook.ABANDONMENT,
    lower_is_better(0.4, 0.6),
    "level with last week at this hour; lower is better, unless the answer stands in the results. Green "
    "below 40%, red from 60%.",
)
HEADLINES = (NDCG, MRR, CTR, ABANDONMENT)

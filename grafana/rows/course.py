"""Over time: the headlines beside coverage and label delay, and against earlier times."""

from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from grafana.headlines import ABANDONMENT, CTR, HEADLINES, MRR, NDCG, Headline, legend
from grafana.layout import Row
from grafana.panels import About, Query, Unit, grid, lines
from grafana.queries import Average, Difference, named, quantile, ratio, select
from grafana.runbooks import Runbook
from monitor.export.catalogue import JUDGED

EARLIER = {"yesterday": "1d", "last week": "1w"}


def over_time() -> Row:
    """What moved, and whether only the judgments did."""
    panels = [
        with_interval(NDCG, width=12),
        _coverage(),
        _label_delay(),
        with_interval(MRR, width=12),
        _judged_impressions(),
        _other_judged(),
        with_interval(CTR, width=12),
        with_interval(ABANDONMENT, width=12),
    ]
    return Row("Over time, beside what the judgments did", panels)


def with_interval(headline: Headline, *, width: int) -> Builder[Panel]:
    """A mean between the two limits of its 95% interval."""
    average = headline.average
    return lines(
        About(
            title=f"{headline.title} with 95% interval",
            says=f"{headline.says} The mean over $window; dashed, its 95% interval.",
            good=headline.good,
            unit=headline.unit,
            runbook=headline.runbook,
        ),
        Query(average.mean, headline.legend),
        Query(average.low, f"{headline.legend} from", dashed=True),
        Query(average.high, f"{headline.legend} to", dashed=True),
        width=width,
    )


def _coverage() -> Builder[Panel]:
    return lines(
        About(
            title="Judged documents in the top k",
            says="Share of the first k ranks that anyone has judged. An unjudged document counts as not "
            "relevant, so when this falls, NDCG falls with it though the ranking may be as good as "
            "before.",
            good="level. If it moved together with NDCG, look for new documents without judgments first.",
            unit=Unit.SHARE,
            runbook=Runbook.COVERAGE,
        ),
        Query(Average("vector_judged_avg").mean, legend("vector_judged_avg")),
        width=6,
    )


def _label_delay() -> Builder[Panel]:
    return lines(
        About(
            title="Label delay",
            says="Time from an impression to the first judgment of its query, seen when it is first judged; "
            "0 where the judgment was there before.",
            good="well below the maturity that you look at. What comes later than that is missing from its "
            "series.",
            unit=Unit.SECONDS,
            runbook=Runbook.COVERAGE,
        ),
        Query(quantile(0.5, "vector_label_delay_seconds"), "median"),
        Query(quantile(0.9, "vector_label_delay_seconds"), "90% within"),
        width=6,
    )


def _judged_impressions() -> Builder[Panel]:
    judged, decided = (
        f"sum by (maturity) (rate({select(JUDGED.name, where=where)}[$window]))"
        for where in ('fate="judged"', "")
    )
    return lines(
        About(
            title="Judged impressions",
            says="Share of impressions whose query had a judgment in time. The others are in no judged "
            "series. All variants together: this count has no label.",
            good="level, and higher for a longer maturity. A step means that other queries are being "
            "judged, and means over other queries cannot be compared.",
            unit=Unit.SHARE,
            runbook=Runbook.COVERAGE,
        ),
        Query(ratio(judged, decided), "after {{maturity}}"),
        width=6,
    )


def _other_judged() -> Builder[Panel]:
    families = {
        "recall": "vector_recall_avg",
        "precision": "vector_precision_avg",
        "success": "vector_success_avg",
    }
    return lines(
        About(
            title="Recall, precision, success",
            says="Further judged metrics at the chosen k; empty where the configuration has none at that k.",
            good="moving together with NDCG. NDCG falling alone means the order got worse, not what was "
            "found.",
            unit=Unit.SCORE,
            runbook=Runbook.NDCG,
        ),
        *(Query(Average(family).mean, f"{name} {legend(family)}") for name, family in families.items()),
        width=6,
    )


def against_earlier() -> Row:
    """The same hour yesterday and last week: what a day and a week do by themselves."""
    return Row(
        "Against the same time yesterday and last week",
        [*(_and_before(headline) for headline in HEADLINES), _changes()],
    )


def _and_before(headline: Headline) -> Builder[Panel]:
    before = [
        Query(Average(headline.family, offset=offset).mean, f"{headline.legend} {name}")
        for name, offset in EARLIER.items()
    ]
    return lines(
        About(
            title=f"{headline.title} and before",
            says=f"{headline.says} Now, a day ago and a week ago at the same time of day.",
            good="three lines that lie on each other. Empty until Prometheus has kept a day, or a week.",
            unit=headline.unit,
            runbook=headline.runbook,
        ),
        Query(headline.average.mean, f"{headline.legend} now"),
        *before,
        width=6,
    )


def _changes() -> Builder[Panel]:
    columns = []
    for name, offset in EARLIER.items():
        pairs = [(h, Difference(h.average, Average(h.family, offset=offset))) for h in HEADLINES]
        for part, heading in (("value", f"since {name}"), ("margin", f"± since {name}")):
            column = " or ".join(named(getattr(pair, part), h.title) for h, pair in pairs)
            columns.append(Query(column, heading))
    return grid(
        About(
            title="Change now, with 95% margin",
            says="The mean over the last $window minus that of the same time before, and the 95% margin of "
            "the difference (from the standard errors of both).",
            good="changes smaller than their margins. A change larger than its margin is unlikely to be "
            "chance.",
            unit=Unit.SCORE,
            runbook=Runbook.NDCG,
        ),
        columns,
        width=24,
        height=7,
    )

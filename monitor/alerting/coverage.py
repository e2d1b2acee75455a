"""How much is judged, how that moved, and how much of a drop it can explain.

A mean over judged impressions moves when other impressions are judged, whatever the ranking does. If the
judged share rises from s to t, at worst all that came in is at 0, and a mean m falls by (t - s) / t of
itself. If it falls, at worst all that went out was at 1, and m falls by (s - t) / t * (1 - m) / m of itself.
Documents are treated alike where more of them are judged: the best possible order then has more in it. Fewer
judged documents explain nothing here, since a ranking that breaks shows documents that nobody has judged.
"""

from collections.abc import Iterator

from monitor.alerting.means import Record, mean, on_all_but_label, references
from monitor.alerting.promql import Selector, lines, select, summed_increase
from monitor.alerting.values import Values
from monitor.alerting.watched import COVERAGE, JUDGED, Watched, baseline, others, recorded
from monitor.durations import in_words
from monitor.export import catalogue
from monitor.metrics import METRICS


def coverage_records(values: Values) -> Iterator[Record]:
    """The judged share of impressions and of their documents, against history."""
    seconds, by = values.comparison.range, ("job", "maturity")
    impressions = select(catalogue.JUDGED.name, job=values.job, maturity=in_words(values.maturity))
    judged = summed_increase(impressions.where('fate="judged"'), seconds, by)
    total, ratio = recorded(JUDGED, "increase", values), recorded(JUDGED, "ratio", values)
    documents = Watched(COVERAGE, values)
    yield Record(total.name, summed_increase(impressions, seconds, by))
    yield Record(ratio.name, lines(judged, f"/ ({total} > 0)"))
    yield from mean(documents)
    for against, ago in references(values).items():
        yield from _drops(values, JUDGED, ratio, total, against, ago)
        yield from _drops(values, COVERAGE.family, documents.mean, documents.count, against, ago)
        for shift, share in (
            (recorded(JUDGED, "shift", values), ratio),
            (documents.recorded("shift"), documents.mean),
        ):
            yield Record(shift.name, f"1 - ({share.ago(ago)} > 0) / ({share} > 0)", {"against": against})


def _drops(
    values: Values, name: str, share: Selector, count: Selector, against: str, ago: int
) -> Iterator[Record]:
    """In points, and as a share of the reference; the latter is 0 where it can be chance.

    The variance of what is between 0 and 1 is at most mean * (1 - mean).
    """
    least, drop = values.comparison.min_samples, recorded(name, "drop", values)
    then, errors = share.ago(ago), values.comparison.min_zscore
    yield Record(
        drop.name,
        lines(f"({then} - {share})", f"and {count} >= {least}", f"and {count.ago(ago)} >= {least}"),
        {"against": against},
    )
    variances = f"{share} * (1 - {share}) / {count}", f"{then} * (1 - {then}) / {count.ago(ago)}"
    own = drop.where(f'against="{against}"')
    yield Record(
        recorded(name, "relative_drop", values).name,
        lines(
            f"{own} / ignoring (against) ({then} > 0)",
            f"* ({own} >= bool ignoring (against) {errors:g} * sqrt({variances[0]} + {variances[1]}))",
        ),
        {"against": against},
    )


def explainable(watched: Watched, against: str, ago: int) -> Record:
    """How much of the drop of a judged mean coverage can explain at most."""
    values, on = watched.values, "on (job, maturity)"
    shift = recorded(JUDGED, "shift", values).where(f'against="{against}"')
    documents = Watched(COVERAGE, values).recorded("shift").where(f'against="{against}"')
    expr = lines(
        f"clamp_min(-{shift}, 0) * {on} group_right () (1 / ({watched.mean.ago(ago)} > 0) - 1)",
        f"  + {on} group_left () clamp_min({shift}, 0)",
        f"  + (sum without (against) (clamp_min({documents}, 0)) or 0 * {watched.mean})",
    )
    return Record(watched.explainable.name, f"clamp(\n  {expr},\n  0, 1\n)", {"against": against})


def coverage_by_label(ndcg: Watched) -> Iterator[Record]:
    """The same for each value of the label against the baseline, where only impressions can differ.

    Its judged share is by all that were shown a maturity ago, when those that are decided now were: not the
    very same impressions, but near enough to tell whether two variants get different searches.
    """
    values, on = ndcg.values, on_all_but_label(ndcg)
    shown = Watched(METRICS["empty"], values, ndcg.level).count.ago(values.maturity)
    share = recorded(JUDGED, "ratio", values, ndcg.level)
    yield Record(
        share.name, lines(str(ndcg.count), f"/ on ({', '.join(ndcg.level)}) group_left () ({shown} > 0)")
    )
    apart = f"1 - ({baseline(share, values)} > 0) / {on} group_right () ({others(share, values)} > 0)"
    yield Record(recorded(JUDGED, "shift", values, ndcg.level).name, apart)


def explainable_by_label(watched: Watched) -> Record:
    """How much of a variant's distance from the baseline it can explain."""
    values, on = watched.values, on_all_but_label(watched)
    shift = recorded(JUDGED, "shift", values, watched.level)
    expr = lines(
        f"clamp_min(-{shift}, 0) * {on} group_left () (1 / ({baseline(watched.mean, values)} > 0) - 1)",
        f"  + clamp_min({shift}, 0)",
    )
    return Record(watched.explainable.name, f"clamp(\n  {expr},\n  0, 1\n)")

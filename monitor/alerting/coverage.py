"""How much is judged, how that moved, and how much of a drop it can explain.

A mean over judged impressions moves when other impressions are judged, whatever the ranking does. If the
judged share goes from s to t, at worst all that came in is bad, or all that went out was good: either way the
mean falls by at most |t - s| / t of itself (for a mean of 0.5 or more). Documents are treated alike where
more of them are judged: the best possible order then has more in it. Fewer judged documents explain nothing
here, since a ranking that breaks shows documents that nobody has judged.
"""

from collections.abc import Iterator

from monitor.alerting.means import Record, mean, on_all_but_label, references
from monitor.alerting.promql import lines, select, summed_increase
from monitor.alerting.values import Values
from monitor.alerting.watched import COVERAGE, EXPLAINABLE, JUDGED, Watched, baseline, others, recorded
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
    least = values.comparison.min_samples
    for against, ago in references(values).items():
        for drop, share, count in (
            (recorded(JUDGED, "drop", values), ratio, total),
            (documents.recorded("drop"), documents.mean, documents.count),
        ):
            difference = f"({share.ago(ago)} - {share})"
            expr = lines(difference, f"and {count} >= {least}", f"and {count.ago(ago)} >= {least}")
            yield Record(drop.name, expr, {"against": against})
        other = f"abs(1 - {ratio.ago(ago)} / {ratio})"
        more = f"clamp_min(1 - {documents.mean.ago(ago)} / {documents.mean}, 0)"
        both = f"({other} + on (job, maturity) {more})"
        yield Record(recorded(*EXPLAINABLE, values).name, lines(both, f"or {other}"), {"against": against})


def coverage_by_label(ndcg: Watched) -> Iterator[Record]:
    """The same for each value of the label against the baseline, where only impressions can differ.

    Its judged share is by all that were shown lately: not the very same impressions, but near enough to tell
    whether two variants get different searches.
    """
    values, on = ndcg.values, on_all_but_label(ndcg)
    shown = Watched(METRICS["empty"], values, ndcg.level).count
    share = recorded(JUDGED, "ratio", values, ndcg.level)
    yield Record(
        share.name, lines(str(ndcg.count), f"/ on ({', '.join(ndcg.level)}) group_left () ({shown} > 0)")
    )
    apart = f"abs(1 - {baseline(share, values)} / {on} group_right () {others(share, values)})"
    yield Record(recorded(*EXPLAINABLE, values, ndcg.level).name, apart)

"""How much is judged: of the impressions, and of their documents; and how that moved."""

from collections.abc import Iterator

from monitor.alerting.means import Record, mean, references
from monitor.alerting.promql import Selector, lines, select, summed_increase
from monitor.alerting.values import Values
from monitor.alerting.watched import COVERAGE, JUDGED, Watched, recorded
from monitor.durations import in_words
from monitor.export import catalogue


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

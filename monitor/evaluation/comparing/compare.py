"""Systems against a baseline: which is better, by how much, and whether that could be chance."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from monitor.evaluation.bands import band
from monitor.evaluation.comparing.comparison import ComparisonReport, SystemComparison, SystemSummary
from monitor.evaluation.latency import latency_of
from monitor.evaluation.scoring import Evaluation
from monitor.metrics import Ints, parse
from monitor.mistakes import Mistake
from monitor.stats import TESTS, holm, paired_t


class ComparisonError(Mistake, ValueError):
    """Systems cannot be compared as was asked; the message is one line that says why."""


def compare(
    evaluations: Sequence[Evaluation],
    measure: str,
    *,
    baseline: str | None = None,
    test: str = "paired_t",
    confidence: float = 0.95,
    seed: int = 0,
) -> ComparisonReport:
    """Compare systems with a baseline by one measure; the baseline is the first one unless it is named.

    `test` is one of `paired_t`, `wilcoxon`, `bootstrap` and `permutation`. Only queries that all systems have
    are compared; of those, a query where the measure is undefined for either side of a comparison is left out
    of that comparison and counted. What cannot be compared is a ComparisonError, which is a ValueError.

    >>> from monitor.evaluation.scoring import Evaluation
    >>> queries = ["q1", "q2", "q3"]
    >>> old, new = (
    ...     Evaluation(name, queries, {"ndcg@10": np.array(scores)}, latency=None, missing=0, unjudged=0)
    ...     for name, scores in [("old", [0.2, 0.5, 0.4]), ("new", [0.6, 0.5, 0.9])]
    ... )
    >>> (found,) = compare([old, new], "ndcg@10").comparisons
    >>> round(found.result.difference, 3), found.wins, found.ties, found.losses, found.verdict
    (0.3, 2, 1, 0, 'not significant')
    """
    (report,) = compare_all(
        evaluations, [measure], baseline=baseline, test=test, confidence=confidence, seed=seed
    )
    return report


def compare_all(
    evaluations: Sequence[Evaluation],
    measures: Sequence[str],
    *,
    baseline: str | None = None,
    test: str = "paired_t",
    confidence: float = 0.95,
    seed: int = 0,
) -> list[ComparisonReport]:
    """Compare by several measures; Holm's correction takes all comparisons together."""
    check_test(test)
    check_confidence(confidence)
    first = find_baseline([each.name for each in evaluations], baseline)
    check_measures(evaluations, measures)
    ordered = [evaluations[first], *evaluations[:first], *evaluations[first + 1 :]]
    queries, rows = shared_queries(ordered)
    reports = [
        ComparisonReport(
            measure=measure,
            baseline=ordered[0].name,
            test=test,
            confidence=confidence,
            seed=seed,
            queries=len(queries),
            corrected_over=len(measures) * (len(ordered) - 1),
            systems=[_summary(each, measure, rows[each.name], confidence) for each in ordered],
            comparisons=[
                _against(ordered[0], each, measure, queries, rows, test, confidence, seed)
                for each in ordered[1:]
            ],
        )
        for measure in measures
    ]
    return _corrected(reports)


def find_baseline(names: Sequence[str], baseline: str | None) -> int:
    """Return which of the names is the baseline's; ComparisonError says why there is none."""
    if len(names) < 2:
        raise ComparisonError(f"a comparison needs two runs or more; {len(names)} is given, give another")
    for name in names:
        if names.count(name) > 1:
            raise ComparisonError(f'two runs are named "{name}"; give each its own name')
    if baseline is None:
        return 0
    if baseline not in names:
        near = difflib.get_close_matches(baseline, names, n=1, cutoff=0.4)
        meant = f' did you mean "{near[0]}"?' if near else ""
        raise ComparisonError(f'no run is named "{baseline}";{meant} the runs are {_listed(names)}')
    return names.index(baseline)


def check_test(test: str) -> None:
    """Refuse a test that there is not."""
    if test not in TESTS:
        near = difflib.get_close_matches(test, TESTS, n=1)
        meant = f' did you mean "{near[0]}"?' if near else ""
        raise ComparisonError(f'unknown test "{test}";{meant} the tests are {_listed(list(TESTS))}')


def check_confidence(confidence: float) -> None:
    """Refuse what is no share of 1."""
    if not 0 < confidence < 1:
        raise ComparisonError(
            f"confidence {confidence:g} is not allowed; give a number between 0 and 1, as 0.95"
        )


def check_measures(evaluations: Sequence[Evaluation], measures: Sequence[str]) -> None:
    """Refuse a measure that a system was not evaluated by."""
    for each in evaluations:
        for measure in measures:
            if measure not in each.scores:
                known = _listed(list(each.scores))
                raise ComparisonError(f'"{each.name}" was not evaluated by "{measure}"; it has {known}')


def summarise(
    evaluations: Sequence[Evaluation], measure: str, *, confidence: float = 0.95
) -> list[SystemSummary]:
    """Return each system on its own, over the queries that all have."""
    _, rows = shared_queries(evaluations)
    return [_summary(each, measure, rows[each.name], confidence) for each in evaluations]


def can_be_compared(evaluations: Sequence[Evaluation], measure: str) -> bool:
    """Whether the measure has a value for each of the systems on two queries in common or more."""
    _, rows = shared_queries(evaluations)
    defined = [~np.isnan(each.scores[measure][rows[each.name]]) for each in evaluations]
    return all(np.count_nonzero(defined[0] & other) >= 2 for other in defined[1:])


def shared_queries(evaluations: Sequence[Evaluation]) -> tuple[list[str], Mapping[str, Ints]]:
    """Return the queries that all systems have, in the first one's order, and where each system has them."""
    first, *others = evaluations
    if all(other.queries == first.queries for other in others):
        everywhere = np.arange(len(first.queries))
        return first.queries, {each.name: everywhere for each in evaluations}
    shared = set(first.queries).intersection(*(other.queries for other in others))
    queries = [query for query in first.queries if query in shared]
    rows = {}
    for each in evaluations:
        place = {query: row for row, query in enumerate(each.queries)}
        rows[each.name] = np.array([place[query] for query in queries], dtype=np.int64)
    return queries, rows


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _summary(found: Evaluation, measure: str, rows: Ints, confidence: float) -> SystemSummary:
    values = found.scores[measure][rows]
    defined = values[~np.isnan(values)]
    mean = float(defined.mean()) if len(defined) else None
    low = high = None
    if len(defined) >= 2:
        # The interval of a mean is that of its difference from nothing, and no mean is out of bounds.
        interval = paired_t(np.zeros_like(defined), defined, confidence=confidence)
        least, most = parse(measure).metric.bounds
        low, high = max(interval.low, least), min(interval.high, most)
    return SystemSummary(
        name=found.name,
        mean=mean,
        low=low,
        high=high,
        queries=len(defined),
        undefined=len(values) - len(defined),
        left_out=len(found.queries) - len(rows),
        missing=found.missing,
        unjudged=found.unjudged,
        band=band(measure, mean),
        latency=None if found.latency is None else latency_of(found.latency[rows]),
    )


def _against(
    baseline: Evaluation,
    system: Evaluation,
    measure: str,
    queries: list[str],
    rows: Mapping[str, Ints],
    test: str,
    confidence: float,
    seed: int,
) -> SystemComparison:
    before = baseline.scores[measure][rows[baseline.name]]
    after = system.scores[measure][rows[system.name]]
    kept = np.flatnonzero(~np.isnan(before) & ~np.isnan(after))
    if len(kept) < 2:
        raise ComparisonError(
            f'{measure}: "{baseline.name}" and "{system.name}" both have a value for {len(kept)} of'
            f" {len(queries)} queries in common; a comparison needs two"
        )
    before, after = before[kept], after[kept]
    result = TESTS[test](before, after, confidence=confidence, seed=seed)
    return SystemComparison(
        system=system.name,
        baseline=baseline.name,
        result=result,
        p_adjusted=result.p_value,
        undefined=len(queries) - len(kept),
        latency_difference=_latency_difference(baseline, system, rows),
        queries=queries if len(kept) == len(queries) else [queries[row] for row in kept],
        baseline_scores=before,
        system_scores=after,
    )


def _latency_difference(baseline: Evaluation, system: Evaluation, rows: Mapping[str, Ints]) -> float | None:
    if baseline.latency is None or system.latency is None:
        return None
    differences = system.latency[rows[system.name]] - baseline.latency[rows[baseline.name]]
    told = differences[~np.isnan(differences)]
    return float(told.mean()) if len(told) else None


def _corrected(reports: list[ComparisonReport]) -> list[ComparisonReport]:
    adjusted = iter(holm([each.result.p_value for report in reports for each in report.comparisons]))
    return [
        replace(report, comparisons=[replace(each, p_adjusted=next(adjusted)) for each in report.comparisons])
        for report in reports
    ]

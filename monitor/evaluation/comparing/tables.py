"""A comparison as tables of text: the same ones on the terminal and in the report."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from monitor.evaluation.comparing.comparison import ComparisonReport, Mover, SystemComparison, SystemSummary
from monitor.metrics import Floats

TEST_NAMES = {
    "paired_t": "paired t-test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "bootstrap": "bootstrap test",
    "permutation": "permutation test",
}
NOTHING = "–"


@dataclass(frozen=True, slots=True)
class TextTable:
    """A heading, and rows whose first cell names them."""

    title: str
    heads: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    words: frozenset[int] = frozenset()
    """Columns of words, besides the first one; the others are numbers."""
    note: str = ""


def means(report: ComparisonReport) -> TextTable:
    """Each system on its own."""
    systems = report.systems
    columns = {
        "system": [system.name for system in systems],
        "mean": [score(system.mean) for system in systems],
        f"{in_percent(report.confidence)} interval": [interval(each.low, each.high) for each in systems],
        "queries": [f"{system.queries:,}" for system in systems],
        "missing": [f"{system.missing:,}" for system in systems],
    }
    if any(system.unjudged for system in systems):
        columns["unjudged"] = [f"{system.unjudged:,}" for system in systems]
    if any(system.undefined for system in systems):
        columns["undefined"] = [f"{system.undefined:,}" for system in systems]
    if any(system.band for system in systems):
        columns["in words"] = [system.band or NOTHING for system in systems]
    return _table(f"{report.measure}: means", columns, ("in words",), _missing_note(systems))


def _table(title: str, columns: Mapping[str, Sequence[str]], words: Sequence[str], note: str) -> TextTable:
    heads = tuple(columns)
    return TextTable(
        title, heads, list(zip(*columns.values(), strict=True)),
        frozenset(heads.index(head) for head in words if head in columns), note,
    )  # fmt: skip


def _missing_note(systems: Iterable[SystemSummary]) -> str:
    left_out = [f"{each.left_out:,} of {each.name}" for each in systems if each.left_out]
    return f"Queries that another run lacks are left out: {', '.join(left_out)}." if left_out else ""


def against_baseline(report: ComparisonReport) -> TextTable:
    """Each system against the baseline."""
    found = report.comparisons
    results = [each.result for each in found]
    columns = {
        "system": [each.system for each in found],
        "difference": [f"{result.difference:+.4f}" for result in results],
        f"{in_percent(report.confidence)} interval": [
            interval(result.low, result.high, "+.4f") for result in results
        ],
        "p": [probability(result.p_value) for result in results],
        "p (Holm)": [probability(each.p_adjusted) for each in found],
        "stars": [each.stars for each in found],
        "effect size": [
            NOTHING if result.effect_size is None else f"{result.effect_size:+.2f}" for result in results
        ],
        "wins": [f"{each.wins:,}" for each in found],
        "ties": [f"{each.ties:,}" for each in found],
        "losses": [f"{each.losses:,}" for each in found],
    }
    if any(each.undefined for each in found):
        columns["left out"] = [f"{each.undefined:,}" for each in found]
    columns["verdict"] = [each.verdict for each in found]
    title = f"{report.measure}: against {report.baseline}"
    return _table(title, columns, ("stars", "verdict"), how_tested(report))


def how_tested(report: ComparisonReport) -> str:
    """The test, the correction and what the marks mean, in a few lines."""
    count = report.corrected_over
    over = f"over the {count} comparisons made here" if count > 1 else "of a single p changes nothing"
    note = (
        f"{_capital(TEST_NAMES[report.test])}, two-sided. Holm's correction {over}; stars and verdict go by"
        " the corrected p.\n*** p < .001, ** p < .01, * p < .05, ns not significant. Effect size: Cohen's d"
        " of the paired differences."
    )
    if any(each.undefined for each in report.comparisons):
        note += "\nLeft out: queries where the measure is undefined for either side."
    return note


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def movers(report: ComparisonReport, found: SystemComparison, most: int) -> TextTable:
    """The queries that gained and lost most."""
    up, down = found.movers(most)
    return TextTable(
        f"{report.measure}: queries that moved most, {found.system} against {found.baseline}",
        ("query", found.baseline, found.system, "difference"),
        [_moved(mover) for mover in (*up, *reversed(down))],
        note="" if up or down else "No query moved.",
    )


def _moved(mover: Mover) -> tuple[str, ...]:
    return mover.query, score(mover.baseline), score(mover.system), f"{mover.difference:+.4f}"


def latency(report: ComparisonReport) -> TextTable | None:
    """Milliseconds of each system, if any run tells them."""
    if not any(system.latency for system in report.systems):
        return None
    differences = {each.system: each.latency_difference for each in report.comparisons}
    return TextTable(
        "Latency in milliseconds",
        ("system", "mean", "p50", "p95", "difference", "queries"),
        [_latency(system, differences.get(system.name)) for system in report.systems],
        note=f"Difference: mean over the queries where the run and {report.baseline} both tell it.",
    )


def _latency(system: SystemSummary, difference: float | None) -> tuple[str, ...]:
    found = system.latency
    if found is None:
        return system.name, NOTHING, NOTHING, NOTHING, NOTHING, "0"
    seconds = (found.mean, found.p50, found.p95)
    shown = NOTHING if difference is None else f"{1000 * difference:+,.1f}"
    return system.name, *(f"{1000 * each:,.1f}" for each in seconds), shown, f"{found.queries:,}"


def recall_precision(curves: Mapping[str, Floats]) -> TextTable:
    """The 11 points of each curve."""
    return TextTable(
        "Interpolated precision at 11 levels of recall",
        ("system", *(f"{level / 10:.1f}" for level in range(11))),
        [(name, *(f"{value:.3f}" for value in curve)) for name, curve in curves.items()],
    )


def score(value: float | None) -> str:
    """A score, or a dash where there is none."""
    return NOTHING if value is None else f"{value:.4f}"


def interval(low: float | None, high: float | None, form: str = ".4f") -> str:
    """Both ends of an interval, or a dash."""
    return NOTHING if low is None or high is None else f"[{low:{form}}, {high:{form}}]"


def probability(p: float) -> str:
    """A p-value with four decimals; one too small for them is not called 0.

    >>> probability(0.04217), probability(0.00001)
    ('0.0422', '<0.0001')
    """
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def in_percent(share: float) -> str:
    """A share of 1 as a percentage.

    >>> in_percent(0.95), in_percent(0.999)
    ('95 %', '99.9 %')
    """
    return f"{100 * share:g} %"


def in_short(report: ComparisonReport, found: SystemComparison) -> str:
    """What was compared, and the difference with its interval."""
    change = f"{found.result.difference:+.4f} {interval(found.result.low, found.result.high, '+.4f')}"
    return f"{found.system} against {report.baseline} by {report.measure}: {change}"


def listed(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]

"""The API: closed windows as JSON, filtered by the query string."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from monitor.config import Config
from monitor.durations import in_words
from monitor.export.series import Series, metric_name
from monitor.export.windows import as_dict
from monitor.stream.plan import Plan
from monitor.stream.windows import Window

DEFAULT_LIMIT = 100
MAX_LIMIT = 10_000


class BadQuery(ValueError):  # noqa: N818 - the name that reads best where it is raised
    """The query cannot be answered; the message is one line for the user."""


@dataclass(frozen=True, slots=True)
class Query:
    """What is wanted; what is None is not filtered by."""

    window: str | None = None
    metric: str | None = None
    k: str | None = None
    maturity: str | None = None
    labels: dict[str, str] = field(default_factory=dict)
    limit: int = DEFAULT_LIMIT


def read_query(items: Iterable[tuple[str, str]], config: Config, plan: Plan) -> Query:
    """Check the parameters of a query string against what is configured."""
    own = [dict(column.labels) for column in plan.columns]
    choices: dict[str, Collection[str]] = {
        "window": [in_words(size) for size in config.windows],
        "metric": sorted({metric_name(column) for column in plan.columns}),
        "k": list(dict.fromkeys(labels["k"] for labels in own if "k" in labels)),
        "maturity": [in_words(maturity) for maturity in config.judgments.maturities],
    }
    given: dict[str, Any] = {}
    labels: dict[str, str] = {}
    for name, value in items:
        if name in given or name in labels:
            raise BadQuery(f'"{_short(name)}" is given twice; give it once')
        if name in choices:
            given[name] = _one_of(name, value, choices[name])
        elif name == "limit":
            given[name] = _limit(value)
        elif name in config.labels:
            labels[name] = value
        else:
            known = ", ".join([*choices, "limit", *config.labels])
            raise BadQuery(f'unknown parameter "{_short(name)}"; known are {known}')
    return Query(**given, labels=labels)


def answer(
    query: Query,
    windows: Iterable[Window],
    label_names: tuple[str, ...],
    label_sets: Sequence[tuple[str, ...]],
) -> dict[str, Any]:
    """The windows that have what is wanted, newest first, and whether there are more of them."""
    wanted = {
        number
        for number, values in enumerate(label_sets)
        if query.labels.items() <= dict(zip(label_names, values, strict=True)).items()
    }

    def keep(series: Series) -> bool:
        own = dict(series.column.labels)
        return (
            series.label_set in wanted
            and query.metric in (None, metric_name(series.column))
            and query.k in (None, own.get("k"))
            and query.maturity in (None, own.get("maturity"))
        )

    found: list[dict[str, Any]] = []
    for window in sorted(windows, key=lambda w: (-w.end, w.size, w.stage.delay)):
        if query.window in (None, in_words(window.size)):
            told = as_dict(window, label_names, label_sets, keep)
            if told["series"] and len(found) == query.limit:
                return {"windows": found, "more": True}
            if told["series"]:
                found.append(told)
    return {"windows": found, "more": False}


def _one_of(name: str, value: str, choices: Collection[str]) -> str:
    if value not in choices:
        raise BadQuery(f'{name} must be one of {", ".join(choices)}, not "{_short(value)}"')
    return value


def _limit(value: str) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,4}", value) or int(value) > MAX_LIMIT:
        raise BadQuery(f'limit must be a number from 1 to {MAX_LIMIT}, not "{_short(value)}"')
    return int(value)


def _short(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."

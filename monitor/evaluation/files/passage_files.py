"""Predictions and golds of `score` from their JSON files, with the place of every mistake."""

import json
import re
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from monitor.evaluation.files.inputs import InputError, opened
from monitor.metrics.spec import quote

PREDICTIONS = '[{"query": "...", "retrieved_passages": ["...", ...]}, ...]'
GOLD = '{"tests": [{"query": "...", "snippets": [{"answer": "..."}, ...]}, ...]}'

T = TypeVar("T")


class Passage(msgspec.Struct):
    """A passage that brings more than its text."""

    text: str


class Prediction(msgspec.Struct):
    """What was retrieved for a query, best first."""

    query: str
    retrieved_passages: list[str | Passage]


class Snippet(msgspec.Struct):
    """One gold text: the answer, or the span where that is text and the answer is missing or empty."""

    file_path: str | None = None
    span: Any = None
    answer: str | None = None

    @property
    def text(self) -> str:
        if self.answer and self.answer.strip():
            return self.answer
        return self.span if isinstance(self.span, str) else ""


class Case(msgspec.Struct):
    """What there is to find for a query."""

    query: str
    snippets: list[Snippet]


class Gold(msgspec.Struct):
    tests: list[Case]


def read_predictions(path: Path) -> dict[str, list[str]]:
    """Return the passages of each query, best first: `[{"query": ..., "retrieved_passages": [...]}]`.

    A passage is a string, or an object with a `text`.
    """
    found: dict[str, list[str]] = {}
    for number, prediction in enumerate(_read(path, list[Prediction], PREDICTIONS)):
        _refuse_second(path, f"[{number}].query", prediction.query, found)
        found[prediction.query] = [
            passage if isinstance(passage, str) else passage.text for passage in prediction.retrieved_passages
        ]
    return found


def read_gold(path: Path) -> dict[str, list[str]]:
    """Return the gold texts of each query: `{"tests": [{"query": ..., "snippets": [{"answer": ...}]}]}`."""
    found: dict[str, list[str]] = {}
    for number, test in enumerate(_read(path, Gold, GOLD).tests):
        _refuse_second(path, f"tests[{number}].query", test.query, found)
        found[test.query] = [snippet.text for snippet in test.snippets]
    if not found:
        raise InputError(f"{path}: tests is empty; nothing can be scored")
    return found


def _read(path: Path, kind: type[T], form: str) -> T:
    with opened(path) as file:
        raw = file.read()
    try:
        return msgspec.convert(json.loads(raw), kind)
    except msgspec.ValidationError as error:
        raise InputError(f"{path}: {_placed(str(error))}; the file is {form}") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: read as JSON: {error}") from None


def _placed(message: str) -> str:
    """Put the place in front: "Expected `str`, got `int` - at `$[0].query`" tells it last."""
    found = re.fullmatch(r"(.*?)(?: - at `\$\.?(.+)`)?", message)
    assert found
    what = found[1][0].lower() + found[1][1:]
    return f"{found[2]}: {what}" if found[2] else what


def _refuse_second(path: Path, place: str, query: str, known: dict[str, list[str]]) -> None:
    if query in known:
        raise InputError(f"{path}: {place}: {quote(query)} stands there twice; give each query once")

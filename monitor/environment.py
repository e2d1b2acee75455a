"""Environment variables: every key of the configuration, as RANKING_MONITOR__SECTION__KEY."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic_settings import EnvSettingsSource

from monitor.strict_yaml import MAX_DEPTH
from monitor.visible import short

PREFIX = "RANKING_MONITOR__"
JSON_FORMS: dict[type, str] = {
    dict: 'a mapping of keys, written as JSON: {"key": "value"}',
    tuple: 'a list, written as JSON: ["a", "b"]',
}

Location = Sequence[int | str]


class Variable(str):
    """The value of a variable. There is nothing but text, so it may stand for a number or a boolean."""

    __slots__ = ()


class Environment(EnvSettingsSource):
    """What the variables set, section by section."""

    def __call__(self) -> dict[str, Any]:
        found: dict[str, Any] = _marked(super().__call__())
        return found


def _marked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _marked(part) for key, part in value.items()}
    return Variable(value) if isinstance(value, str) else value


def mistakes(model: type[BaseModel]) -> Iterator[str]:
    """One line for each variable that is no key, or whose value cannot be read."""
    for path, name in _names().items():
        form = _form(model, path)
        if form is None:
            yield f"{name}: unknown variable; known are {PREFIX}<KEY> as in the config file"
        elif form in JSON_FORMS and not _is_json(os.environ[name], form):
            yield f'{name}: must be {JSON_FORMS[form]}, not "{short(os.environ[name])}"'


def named(location: Location, sent: Mapping[str, Any]) -> str | None:
    """The variable behind a place in the configuration, if the value there is one that was sent."""
    value: Any = sent
    for part in location:
        if not isinstance(value, dict):
            break
        if part not in value:
            return None
        value = value[part]
    names = _names()
    depths = [depth for depth in range(1, len(location) + 1) if tuple(location[:depth]) in names]
    if isinstance(value, dict) or not depths:
        return None
    return names[tuple(location[: depths[-1]])] + in_brackets(location[depths[-1] :])


def beneath(location: Location) -> list[str]:
    """The variables that set anything within a section."""
    return [name for path, name in _names().items() if path[: len(location)] == tuple(location)]


def in_brackets(location: Location) -> str:
    """A place within a value.

    >>> in_brackets(["topics", "events", 0])
    '.topics.events[0]'
    """
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)


def _names() -> dict[tuple[int | str, ...], str]:
    """The name of each variable, by the keys it leads to; case does not count."""
    return {
        tuple(name[len(PREFIX) :].lower().split("__")): name
        for name in os.environ
        if name.upper().startswith(PREFIX)
    }


def _form(model: type[BaseModel], path: Location) -> type | None:
    """Whether a key has a mapping, a list or something shorter; None where there is no such key."""
    section: Any = model
    for name in path:
        if not (isinstance(section, type) and issubclass(section, BaseModel)):
            return None
        if name not in section.model_fields:
            return None
        section = section.model_fields[str(name)].annotation
    if isinstance(section, type) and issubclass(section, BaseModel):
        return dict
    origin = getattr(section, "__origin__", None)
    return origin if origin in JSON_FORMS else str


def _is_json(text: str, form: type) -> bool:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict if form is dict else list) and not _is_deeper(value, MAX_DEPTH)


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether lists and mappings are nested deeper: pydantic reads the variable again, with less room."""
    if not isinstance(value, dict | list):
        return False
    parts = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(part, levels - 1) for part in parts)

"""YAML as people write it by hand: a repeated key is a mistake, and so is what no hand has written."""

from typing import Any

import yaml
from yaml.composer import ComposerError
from yaml.constructor import ConstructorError

from monitor.visible import is_text, short

MAX_BYTES = 1 << 20
MAX_NODES = 10_000
"""Values that a document may have, each alias counted as all that it stands for."""
MAX_DEPTH = 50
MAX_INTEGER = 2**63 - 1
LOOKS_LIKE = {
    "tag:yaml.org,2002:bool": "true or false",
    "tag:yaml.org,2002:float": "a number",
    "tag:yaml.org,2002:int": "a whole number",
    "tag:yaml.org,2002:timestamp": "a date or time",
}


class Refused(yaml.YAMLError):
    """A document that is YAML and is not accepted; the message says why, where, and what to do."""


def parse(text: bytes) -> Any:
    """What a document says. Raises yaml.YAMLError.

    >>> parse(b"labels: [variant]")
    {'labels': ['variant']}
    """
    if len(text) > MAX_BYTES:
        raise Refused(f"it is larger than {MAX_BYTES:,} bytes; is it the right file?")
    return yaml.load(text, _Loader)  # noqa: S506 (a SafeLoader)


class _Loader(yaml.SafeLoader):
    def __init__(self, stream: bytes) -> None:
        super().__init__(stream)
        self._depth = 0
        self._nodes = 0
        self._expanded: dict[yaml.Node, int] = {}
        """How many nodes each one is, with all that its aliases stand for."""

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        before = self._nodes
        event: yaml.NodeEvent = self.peek_event()  # type: ignore[no-untyped-call]
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _refused(event.start_mark, f"it is nested deeper than {MAX_DEPTH} levels")
        node = super().compose_node(parent, index)
        assert node is not None
        self._depth -= 1
        if isinstance(event, yaml.AliasEvent):
            if node not in self._expanded:
                raise _refused(event.start_mark, f'alias "*{event.anchor}" is part of what it stands for')
            self._nodes += self._expanded[node]
        else:
            self._nodes += 1
            self._expanded[node] = self._nodes - before
        if self._nodes > MAX_NODES:
            raise _refused(
                event.start_mark, f"more than {MAX_NODES:,} values, with all that its aliases stand for"
            )
        return node

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise _refused(key.start_mark, f'key "{short(key.value)}" stands twice; take one out')
            seen.add(key.value if isinstance(key, yaml.ScalarNode) else key)
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        if not isinstance(node, yaml.ScalarNode):
            return super().construct_object(node, deep)
        try:
            value = super().construct_object(node, deep)
        except (ArithmeticError, AttributeError, LookupError, ValueError):
            # PyYAML goes by the look of a word, and its constructors trust that it is what it looks like.
            # It is not quoted: it may be a token.
            looks = LOOKS_LIKE.get(node.tag, "something else")
            raise _refused(
                node.start_mark,
                f"a value that looks like {looks} and is none; correct it, or put it in quotes",
            ) from None
        if isinstance(value, int) and abs(value) > MAX_INTEGER:
            raise _refused(node.start_mark, "a number of more than 64 bits")
        if isinstance(value, str) and not is_text(value):
            raise _refused(node.start_mark, "half of a surrogate pair, which is no character")
        return value


def _refused(where: Any, message: str) -> Refused:
    return Refused(f"line {where.line + 1}: {message}")


def reason(error: Exception) -> str:
    """Why it is not YAML, and where, on one line and without quoting the document, which may hold a token."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return " ".join(str(error).split())
    problem = error.problem
    if isinstance(error, ComposerError | ConstructorError):
        problem = "an alias, tag or value that cannot be used"  # PyYAML would name it
    parts = [(error.context, error.context_mark), (problem, error.problem_mark)]
    return ": ".join(
        text + (f", line {mark.line + 1}, column {mark.column + 1}" if mark else "")
        for text, mark in parts
        if text
    )

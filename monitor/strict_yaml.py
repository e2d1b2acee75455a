"""YAML as people write it by hand: a key that stands twice is a mistake, not the last one's victory."""

from typing import Any

import yaml


class RepeatedKey(yaml.YAMLError):
    """A mapping has a key twice; the message says which, and where."""


class _Loader(yaml.SafeLoader):
    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value in seen:
                raise RepeatedKey(f'line {key.start_mark.line + 1}: key "{key.value}" stands twice')
            seen.add(key.value if isinstance(key, yaml.ScalarNode) else key)
        return node


def parse(text: bytes) -> Any:
    """What a document says.

    >>> parse(b"labels: [variant]")
    {'labels': ['variant']}
    """
    return yaml.load(text, _Loader)  # noqa: S506 (a SafeLoader)

"""HTML that cannot be forgotten to escape: a plain string is text, only `Html` is markup."""

import html
from collections.abc import Iterable
from typing import TypeAlias

VOID = frozenset({"meta", "link"})


class Html(str):
    """Markup, taken as it is."""

    __slots__ = ()


Child: TypeAlias = "str | Iterable[Child] | None"


def tag(name: str, /, *children: Child, **attributes: str | None) -> Html:
    """An element; of the attributes, None is left out, and `_` in a name is read as `-`.

    >>> tag("a", "<b>", tag("i", "!"), href='?a="1"&b')
    '<a href="?a=&quot;1&quot;&amp;b">&lt;b&gt;<i>!</i></a>'
    """
    given = "".join(
        f' {key.strip("_").replace("_", "-")}="{html.escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Html(f"<{name}{given}>")
    return Html(f"<{name}{given}>{join(children)}</{name}>")


def join(children: Iterable[Child]) -> Html:
    """Several pieces in a row."""
    return Html("".join(map(_one, children)))


def _one(child: Child) -> str:
    if child is None:
        return ""
    if isinstance(child, Html):
        return child
    return html.escape(child) if isinstance(child, str) else join(child)

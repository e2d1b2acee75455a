"""The documents, and the blocks in them that can be run."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HIDDEN = re.compile(r"^```.*?^```$|^<!--.*?-->$", re.MULTILINE | re.DOTALL)


def documents() -> list[Path]:
    """Every page that is part of the documentation."""
    return sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(name: str, language: str) -> list[str]:
    """The fenced blocks of one language, in their order."""
    return [found[2] for found in BLOCK.finditer(text(name)) if found[1] == language]


def prose(name: str) -> str:
    """A page without its fenced blocks."""
    return HIDDEN.sub("", text(name))

"""How results are printed and where they are written: checked before the work, not after it."""

import io
import os
import sys
from enum import StrEnum
from pathlib import Path
from typing import TextIO

from rich.console import Console, RenderableType
from rich.measure import Measurement

from monitor.cli.errors import UserError


class Format(StrEnum):
    """What is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def writable(path: Path | None) -> None:
    """Refuse a path that cannot be written to, and leave everything as it is."""
    if path is None:
        return
    target = Path(os.path.realpath(path))  # what a link leads to
    try:
        if not target.exists():
            target.open("xb").close()
            target.unlink()
        elif target.is_file() or target.is_dir():  # opening a pipe would not be without effect
            target.open("ab").close()
    except OSError as error:
        raise UserError(f'cannot write "{path}": {error.strerror}') from None


def printed() -> TextIO:
    """Standard output, where a character that it cannot encode is escaped rather than a mistake."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    return sys.stdout


def print_whole(shown: RenderableType) -> None:
    """Print without cutting or wrapping: where the terminal is too narrow, it wraps lines itself."""
    console = Console(file=printed())
    needed = Measurement.get(console, console.options.update(width=100_000), shown).maximum
    console.width = max(console.width, needed)
    console.print(shown)

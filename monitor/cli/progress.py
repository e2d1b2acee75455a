"""A progress bar on a terminal, and nothing anywhere else."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def reading(path: Path) -> Iterator[Callable[[int], None]]:
    """Show how much of a file was read: call what you get with the number of bytes."""
    console = Console(stderr=True)
    size = path.stat().st_size if path.is_file() else None
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task(f"reading {path}", total=size)
        yield lambda done: bar.update(task, completed=done)

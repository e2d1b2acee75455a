"""A progress bar on a terminal, and nothing anywhere else."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def reading(*paths: Path) -> Iterator[Callable[[int], None]]:
    """Show how much of one or more files was read: call what you get with the number of bytes."""
    console = Console(stderr=True)
    size = sum(path.stat().st_size for path in paths) if all(path.is_file() for path in paths) else None
    what = str(paths[0]) if len(paths) == 1 else f"{len(paths)} files"
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
        task = bar.add_task(f"reading {what}", total=size)
        yield lambda done: bar.update(task, completed=done)

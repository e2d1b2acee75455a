"""Blocks of Prometheus: those that a folder has, and new ones, which promtool makes."""

import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from monitor.backfill.openmetrics import write_openmetrics
from monitor.backfill.sampling import SPAN_SECONDS, SampledSeries
from monitor.mistakes import Mistake

META = "meta.json"
BLOCK_NAME = re.compile("[0-9A-Z]{26}")


class BlockError(Mistake):
    """Blocks cannot be read or written; the message is one line for the user."""


class ExistingBlock(NamedTuple):
    """A block of a folder and the time that it covers, in milliseconds; the end is not part of it."""

    path: Path
    begin: int
    end: int


def existing_blocks(folder: Path) -> Iterator[ExistingBlock]:
    """The blocks that a folder has, by name."""
    for meta in sorted(folder.glob(f"*/{META}")):
        if not BLOCK_NAME.fullmatch(meta.parent.name):
            continue  # one that Prometheus is making, or removing
        try:
            found = json.loads(meta.read_bytes())
            yield ExistingBlock(meta.parent, int(found["minTime"]), int(found["maxTime"]))
        except (OSError, ValueError, LookupError, TypeError):
            raise BlockError(f'cannot read "{meta}": it is not the meta.json of a block') from None


class BlockWriter:
    """Has promtool make blocks, one span after the other, while the next span is computed."""

    def __init__(self, promtool: str, folder: Path) -> None:
        """The folder is for this writer alone; blocks lie in it as promtool left them."""
        self.samples = 0
        self.folder = folder
        self._promtool = promtool
        self._text = folder / "span.om"
        self._blocks = folder / "blocks"
        self._running: subprocess.Popen[str] | None = None

    def write(self, series: Iterable[SampledSeries]) -> None:
        """Begin with the blocks of a span; wait for those of the one before."""
        self.wait()
        try:
            with self._text.open("w", encoding="utf-8") as file:
                self.samples += write_openmetrics(series, file)
        except OSError as error:
            raise BlockError(f'cannot write "{self._text}": {error.strerror}') from None
        self._running = subprocess.Popen(  # noqa: S603 - the user's own promtool
            [
                *(self._promtool, "tsdb", "create-blocks-from", f"--max-block-duration={SPAN_SECONDS}s"),
                *("openmetrics", "--quiet", str(self._text), str(self._blocks)),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )

    def wait(self) -> None:
        """Wait until what was begun is done."""
        if self._running is None:
            return
        process, self._running = self._running, None
        _, said = process.communicate()
        if process.returncode:
            last = (said.strip().splitlines() or [f"exit code {process.returncode}"])[-1]
            raise BlockError(f"{self._promtool} made no block: {last}")

    def stop(self) -> None:
        """End what is running."""
        if self._running is not None:
            self._running.kill()
            self._running.communicate()

    def move_to(self, folder: Path) -> int:
        """Put the finished blocks into a folder on the same file system; how many they are."""
        self.wait()
        made = [block.path for block in existing_blocks(self._blocks)]
        try:
            for path in made:
                path.rename(folder / path.name)
        except OSError as error:
            raise BlockError(f'cannot move blocks to "{folder}": {error.strerror}') from None
        return len(made)


@contextmanager
def block_writer(promtool: str, output: Path) -> Iterator[BlockWriter]:
    """A writer with a hidden folder of its own in the output folder, which is removed in any case."""
    folder = Path(tempfile.mkdtemp(prefix=".backfill-", dir=output))
    writer = BlockWriter(promtool, folder)
    try:
        yield writer
    finally:
        writer.stop()
        shutil.rmtree(folder, ignore_errors=True)

"""What the HTTP side needs to know of the running monitor, and nothing more."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from monitor.config import Config
from monitor.stream.windows import Window


@dataclass(frozen=True, slots=True)
class Health:
    """Whether it works, and in words why not."""

    healthy: bool
    ready: bool
    lines: Sequence[str] = ()
    """What is wrong or worth knowing, most important first, each a sentence without its full stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """The numbers at the top of the page."""

    version: str
    partitions: int
    """How many are read."""
    lag: int
    """Records between what is processed and the end of these partitions."""
    event_time_age: float | None
    """Seconds from the watermark, the least of all tasks, to now; None before there is one."""
    records: int
    rejected: int
    open_impressions: int
    pending_interactions: int
    judgments: int


class View(Protocol):
    """The running monitor, as the pages see it. All but `render` run in the event loop and must be quick."""

    async def render(self, accept: str) -> tuple[bytes, str]:
        """The body of a scrape and its content type, for the Accept header it came with."""
        ...

    def health(self) -> Health: ...

    def facts(self) -> Status: ...

    def windows(self) -> Sequence[Window]:
        """Every closed window that is kept."""
        ...

    @property
    def config(self) -> Config: ...

    @property
    def label_names(self) -> tuple[str, ...]: ...

    @property
    def label_sets(self) -> Sequence[tuple[str, ...]]: ...

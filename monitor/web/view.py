"""What the HTTP side needs to know of the running monitor, and nothing more."""

from collections.abc import Callable, Sequence
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


class Scrape(Protocol):
    """What a scrape by Prometheus gets."""

    @property
    def body(self) -> bytes: ...
    @property
    def content_type(self) -> str: ...
    @property
    def version(self) -> int:
        """Names what it shows, for the acknowledgement."""
        ...


class View(Protocol):
    """The running monitor, as the pages see it. What is not awaited must be quick."""

    async def render(self, accept: str, pack: Callable[[bytes], bytes]) -> tuple[bytes, str]:
        """All as it is now, packed, and its content type, for the Accept header of the request."""
        ...

    async def scrape(self, accept: str, pack: Callable[[bytes], bytes], there: Callable[[], bool]) -> Scrape:
        """What the next scrape by Prometheus is to show, packed; to be sent at once to who is still there."""
        ...

    async def shown(self, accept: str, pack: Callable[[bytes], bytes]) -> tuple[bytes, str]:
        """What scrapes have shown until now, for a Prometheus that does not count."""
        ...

    async def acknowledge(self, version: int) -> bool:
        """A scrape has arrived whole; whether that could be committed."""
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

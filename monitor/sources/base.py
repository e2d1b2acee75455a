"""What every source gives: chunks of records, a clock, and how far it has come."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from monitor.mistakes import Mistake
from monitor.stream.records import Chunk, Role, Start, TopicPartition


class SourceError(Mistake):
    """The source cannot go on and waiting will not help; the message is one line for the user."""


@dataclass(frozen=True, slots=True)
class Poll:
    """What one poll brought."""

    now: float
    """The source's clock, in seconds since the epoch."""
    chunks: Sequence[Chunk] = ()
    assigned: Mapping[TopicPartition, Start] | None = None
    """Set once after the assignment of event partitions changed: the whole new one."""
    idle: Mapping[TopicPartition, float] = field(default_factory=dict)
    """Event partitions read to their end that were fetched and brought nothing for `idle_seconds`; with the
    time up to which that is known, by the source's clock: the last fetch, beyond which an outage may lie."""
    reached: Mapping[TopicPartition, int] = field(default_factory=dict)
    """The next offset of event partitions after this poll's chunks, where the source knows it better than the
    last record tells: transaction markers and aborted records have offsets too."""
    finished: bool = False
    """Nothing will ever come again: the end of a file."""


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """How far a source has come, for readiness and the lag gauges."""

    ready: bool
    reason: str = ""
    """Why it is not ready, in words; empty when it is."""
    lag: Mapping[TopicPartition, int] = field(default_factory=dict)
    """Records between the position handed out and the end of each partition."""
    skipped: Mapping[TopicPartition, int] = field(default_factory=dict)
    """Records that could not be handed out: gone before they were read, or in a batch that is damaged."""
    stuck: bool = False
    """There are records left, the broker answers, and the position has not moved for long."""


class Source(Protocol):
    """Somewhere records come from. The engine does not know which."""

    @property
    def roles(self) -> Mapping[str, Role]: ...

    async def start(self) -> None: ...

    async def poll(self) -> Poll:
        """Wait shortly for records. Raises only SourceError; what can heal is retried inside."""
        ...

    async def commit(self, offsets: Mapping[TopicPartition, tuple[int, str]]) -> bool:
        """Store an offset and metadata for each partition, in one attempt; whether it was taken."""
        ...

    async def confirm(self) -> bool:
        """Whether what was handed out is still this process's alone, asked now, in one attempt of 2 s."""
        ...

    def status(self) -> SourceStatus: ...

    async def stop(self) -> None: ...

"""What the core is fed: records by topic and partition, as any source can give them."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

TopicPartition = tuple[str, int]


class Role(StrEnum):
    """What a topic carries."""

    EVENTS = "events"
    IMPRESSIONS = "impressions"
    INTERACTIONS = "interactions"
    JUDGMENTS = "judgments"


class Record(Protocol):
    """One record as it came; what aiokafka decodes is one without any conversion."""

    @property
    def value(self) -> bytes | None: ...
    @property
    def key(self) -> bytes | None: ...
    @property
    def timestamp(self) -> int | None:
        """Milliseconds since the epoch; None, or zero or less, where it is unknown."""
        ...

    @property
    def timestamp_type(self) -> int | None:
        """Whose clock the timestamp is: CREATE_TIME or APPEND_TIME, or None where there is no such thing."""
        ...

    @property
    def offset(self) -> int: ...


CREATE_TIME, APPEND_TIME = 0, 1
"""The producer's clock, and the broker's, as Kafka numbers them."""


class Chunk(NamedTuple):
    """Records of one partition, in their order."""

    topic: str
    partition: int
    records: Sequence[Record]
    catching_up: bool = False
    """They may have been written long before the poll, so its clock does not bound their time."""
    at_end: bool = False
    """Nothing is left in the partition after them."""


class Start(NamedTuple):
    """Where the reading of a partition begins."""

    offset: int
    metadata: str
    """What the last commit stored beside the offset; empty if nothing."""
    fresh: bool
    """Nothing was committed yet: the position comes from `kafka.start`."""
    from_beginning: bool
    """The offset is the first that the log still has."""
    since: float | None = None
    """All that was shown from this time on is read, where the position was chosen by time."""
    kept: bool = False
    """It goes on where it was: nothing was read or stored by anybody else since, and nothing comes again."""
    end: int | None = None
    """Next offset of the log when the assignment was made; None where there is no such log."""

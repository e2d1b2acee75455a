"""How far each partition has been handed out, how much is left, and what its silence means."""

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median_low
from typing import NamedTuple

from monitor.stream.records import TopicPartition
from monitor.stream.watermark import RECENT

OUTAGE_SECONDS = 3.0
"""Without a successful fetch for longer it was an outage: a broker that answers does so once a second."""
STEP_MS = 10_000
"""By so much of the records' time a partition may be ahead of the others."""
PATIENCE_SECONDS = 2.0
"""So long others wait for a partition that does not move."""


class LastFetch(NamedTuple):
    """The last successful fetch of a partition; None where there was none yet."""

    stamp: int | None
    """The client's mark of it."""
    end: int | None
    """Offset up to which it could have read."""
    high_watermark: int | None


@dataclass(slots=True)
class Progress:
    """One partition; times are of the monotonic clock."""

    position: int
    """Next offset that was not handed out yet."""
    end: int
    """Offset up to which records can be read, as far as known: the last stable offset, or with
    `read_uncommitted` the high watermark."""
    brought_at: float
    """When it last brought a record, or was begun, was fetched again after an outage, or had an open
    transaction."""
    moved_at: float
    """When the position last moved, or fell behind."""
    fetched_at: float = -math.inf
    """When it was last fetched with success, be it an empty fetch."""
    stamp: int | None = None
    """The client's mark of its last successful fetch."""
    caught_up_at: float = -math.inf
    """When it was last known that nothing was left to read."""
    read_until_ms: int | None = 0
    """About when the last records that were handed out were written, in milliseconds: 0 before the first,
    None where they did not say."""
    recent_ms: deque[int] = field(default_factory=lambda: deque(maxlen=RECENT))
    """Timestamps of the last records; of their median, one that is wrong moves little."""
    high_watermark: int = 0
    """Next offset of the log. Above `end` there is an open transaction."""
    open_since: float | None = None
    """When an open transaction was first seen to hold `end` where it is; None if there is none."""

    @property
    def lag(self) -> int:
        return max(0, self.end - self.position)

    @property
    def at_end(self) -> bool:
        """Whether nothing is left to read, nor in an open transaction, as far as known."""
        return self.position >= max(self.end, self.high_watermark)


class Ledger:
    """The partitions that are being read.

    It is the truth: the client's own position moves on before anybody has the records.
    """

    def __init__(self) -> None:
        self._partitions: dict[TopicPartition, Progress] = {}
        self._seen_at = 0.0

    def __contains__(self, place: object) -> bool:
        return place in self._partitions

    def __iter__(self) -> Iterator[TopicPartition]:
        return iter(self._partitions)

    def __len__(self) -> int:
        return len(self._partitions)

    def clear(self) -> None:
        self._partitions.clear()

    def begin(self, place: TopicPartition, position: int, end: int, now: float) -> None:
        """Read a partition from a position."""
        progress = Progress(position, end, brought_at=now, moved_at=now, high_watermark=end)
        progress.caught_up_at = now if progress.at_end else -math.inf
        self._partitions[place] = progress
        self._seen_at = now

    def position(self, place: TopicPartition) -> int:
        return self._partitions[place].position

    def jump(self, place: TopicPartition, position: int, now: float) -> None:
        """Move without records: to the earliest that is left, or over what are no records of ours."""
        progress = self._partitions[place]
        if progress.position != position:
            progress.position, progress.moved_at = position, now

    def advance(
        self,
        positions: Mapping[TopicPartition, int],
        timestamps: Mapping[TopicPartition, Sequence[int | None]],
        now: float,
        clock_ms: int,
    ) -> None:
        """Note what is handed out: by partition the next offset, and the timestamps of the last records."""
        for place, position in positions.items():
            self.jump(place, position, now)
            progress = self._partitions[place]
            if progress.at_end:
                progress.caught_up_at = max(progress.caught_up_at, progress.fetched_at)
        for place, stamps in timestamps.items():
            progress = self._partitions[place]
            progress.brought_at = now
            # Zero or less is no time, but what clients say that have none.
            known = [stamp for stamp in stamps if stamp is not None and stamp > 0]
            progress.recent_ms.extend(known)
            progress.read_until_ms = min(median_low(progress.recent_ms), clock_ms) if known else None

    def is_catching_up(self, place: TopicPartition, now: float) -> bool:
        """Whether what the partition brings next may have been written long ago."""
        return now - self._partitions[place].caught_up_at > OUTAGE_SECONDS

    def is_at_end(self, place: TopicPartition, now: float) -> bool:
        """Whether nothing is left to read, by a fetch that is not old: after a pause much may have come."""
        progress = self._partitions[place]
        return progress.at_end and now - progress.fetched_at <= OUTAGE_SECONDS

    def in_step(self, now: float) -> list[TopicPartition]:
        """Choose the partitions to read from next: none that is far ahead of another with records left.

        Small records come faster than large ones. If clicks ran ahead of a long backlog of impressions, all
        of them would have to wait in memory.
        """
        times = [
            progress.read_until_ms
            for progress in self._partitions.values()
            if progress.lag
            and progress.read_until_ms is not None
            and now - progress.moved_at < PATIENCE_SECONDS
        ]
        limit = min(times, default=math.inf) + STEP_MS
        chosen: list[TopicPartition] = []
        for place, progress in self._partitions.items():
            if progress.read_until_ms and progress.read_until_ms > limit:
                progress.moved_at = now  # It could, but is not to.
            else:
                chosen.append(place)
        return chosen

    def see(self, fetches: Mapping[TopicPartition, LastFetch], now: float) -> bool:
        """Look at the last successful fetch of each partition; whether one is new."""
        news = False
        for place, (stamp, end, high_watermark) in fetches.items():
            progress = self._partitions[place]
            if stamp is None or end is None or high_watermark is None or stamp == progress.stamp:
                continue
            news = True
            if not progress.lag and end > progress.position:
                progress.moved_at = now
            if OUTAGE_SECONDS < self._seen_at - progress.fetched_at < math.inf:
                progress.brought_at = now  # an outage is not silence, and producers were cut off too
            if high_watermark <= end:
                progress.open_since = None
            elif progress.open_since is None or end != progress.end:
                progress.open_since = now
            if progress.open_since is not None:
                progress.brought_at = now  # neither is an open transaction: when it ends, a retry may follow
            progress.high_watermark = high_watermark
            # It was after the last look; taking that moment never makes a fetch look fresher than it was.
            progress.stamp, progress.end, progress.fetched_at = stamp, end, self._seen_at
            if progress.at_end:
                progress.caught_up_at = max(progress.caught_up_at, progress.fetched_at)
        self._seen_at = now
        return news

    def touch(self, now: float) -> None:
        """Nobody asked for records until now, so that nothing moved says nothing."""
        for progress in self._partitions.values():
            progress.moved_at = now

    @property
    def has_fetched(self) -> bool:
        """Whether each partition was fetched with success since it was begun."""
        return all(progress.fetched_at > -math.inf for progress in self._partitions.values())

    def lag(self) -> dict[TopicPartition, int]:
        """Records between the position and the end, for each partition."""
        return {place: progress.lag for place, progress in self._partitions.items()}

    def positions(self) -> dict[TopicPartition, int]:
        """The next offset of each partition that was not handed out yet."""
        return {place: progress.position for place, progress in self._partitions.items()}

    def open_transactions(self) -> dict[TopicPartition, float]:
        """Partitions with an open transaction, and when it was first seen."""
        return {
            place: progress.open_since
            for place, progress in self._partitions.items()
            if progress.open_since is not None
        }

    def idle(self, now: float, seconds: float) -> dict[TopicPartition, float]:
        """Partitions at their end that were asked within `seconds` and brought nothing for as long.

        With the time of the last fetch, up to which that is known: in an outage it stands still.
        """
        return {
            place: progress.fetched_at
            for place, progress in self._partitions.items()
            if progress.at_end and now - progress.fetched_at <= seconds <= now - progress.brought_at
        }

    def still_seconds(self, now: float) -> float:
        """How long a partition that has records left has not moved; the longest of them."""
        return max(
            (now - progress.moved_at for progress in self._partitions.values() if progress.lag), default=0.0
        )

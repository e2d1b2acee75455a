"""What the process has of each event partition: how far it was handed out, and what its broker stores."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from monitor.sources.kafka.offsets import Committed
from monitor.stream.records import Start, TopicPartition

MOST_TRIES = 20
"""Tries of unknown outcome that are remembered; of those in an outage only the first can have been taken."""


@dataclass(slots=True)
class Holding:
    """One partition that was handed out."""

    position: int
    """Next offset that was not handed out yet."""
    stored: tuple[Committed, ...]
    """What the broker can have stored, oldest first: what it did for sure, then tries of unknown outcome."""


class Memory:
    """The assignment that was delivered last, through rebalances and from one client to the next.

    A partition can be taken away and given back. Where nobody else has stored anything in between, whoever
    had it has published nothing either: the process goes on from where it was.
    """

    def __init__(self) -> None:
        self._held: dict[TopicPartition, Holding] = {}
        self.has_delivered = False
        """Whether any event partition was ever handed out."""
        self.member_id = ""
        """This process's last member id; empty before the first."""
        self.judgments: dict[TopicPartition, int] = {}
        """How far the judgments were handed out, which no group shares out."""

    def __contains__(self, place: object) -> bool:
        return place in self._held

    def position(self, place: TopicPartition) -> int:
        return self._held[place].position

    def deliver(self, beginnings: Mapping[TopicPartition, tuple[Start, Committed]]) -> None:
        """Note a whole new assignment that is handed out now; what is not in it is forgotten."""
        self.has_delivered = self.has_delivered or bool(beginnings)
        self._held = {
            place: Holding(start.offset, (stored,)) for place, (start, stored) in beginnings.items()
        }

    def reach(self, positions: Mapping[TopicPartition, int]) -> None:
        """Note how far partitions were handed out."""
        for place, position in positions.items():
            self._held[place].position = position

    def attempt(self, offsets: Mapping[TopicPartition, tuple[int, str]]) -> None:
        """Note that these are about to be stored: until an answer comes, they may be or not."""
        for place, value in offsets.items():
            held = self._held[place]
            tried = [pair for pair in held.stored if pair != value][-MOST_TRIES:]
            held.stored = (*tried, Committed(*value))

    def took(self, offsets: Mapping[TopicPartition, tuple[int, str]]) -> None:
        """Note that these are stored for sure."""
        for place, value in offsets.items():
            if place in self._held:
                self._held[place].stored = (Committed(*value),)

    def newest(self) -> dict[TopicPartition, Committed]:
        """What was last stored, or was to be."""
        return {place: held.stored[-1] for place, held in self._held.items()}

    def kept(
        self,
        given: Collection[TopicPartition],
        stored: Mapping[TopicPartition, Committed],
        ends: Mapping[TopicPartition, int],
    ) -> frozenset[TopicPartition]:
        """Those of the given partitions that go on where they were: all of a task, or none of it."""
        tasks: dict[int, set[TopicPartition]] = {}
        for place in given:
            tasks.setdefault(place[1], set()).add(place)
        known: dict[int, set[TopicPartition]] = {}
        for place in self._held:
            known.setdefault(place[1], set()).add(place)
        return frozenset(
            place
            for number, places in tasks.items()
            if places == known.get(number) and self._unchanged(places, stored, ends)
            for place in places
        )

    def _unchanged(
        self,
        places: Iterable[TopicPartition],
        stored: Mapping[TopicPartition, Committed],
        ends: Mapping[TopicPartition, int],
    ) -> bool:
        return all(
            stored[place] in self._held[place].stored and self._held[place].position <= ends[place]
            for place in places
        )

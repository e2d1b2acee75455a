"""Where a new assignment begins: partitions that go on, partitions to resume, partitions that are new."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from aiokafka import AIOKafkaConsumer

from monitor.config import KafkaConfig
from monitor.sources.kafka import internals
from monitor.sources.kafka.checks import CO_PARTITIONED, check_equal, partition_counts
from monitor.sources.kafka.client import Settings, admin_client
from monitor.sources.kafka.members import members, without_owner
from monitor.sources.kafka.memory import Memory
from monitor.sources.kafka.offsets import NEVER, Committed, Log, at_start, committed, logs, resume
from monitor.sources.kafka.waiting import Waiting
from monitor.stream.records import Role, Start, TopicPartition


class Beginning(NamedTuple):
    """Where a partition is read from."""

    start: Start
    stored: Committed
    """What the group stores for it from now on."""
    wanted: int
    """The offset that it should have begun at: below `start.offset` where records are gone."""


@dataclass(frozen=True, slots=True)
class Beginnings:
    """What was found out about a new assignment."""

    total: int
    """Event partitions of all members."""
    given: Mapping[TopicPartition, Beginning]
    others: Mapping[TopicPartition, Committed]
    """Starting positions of the other members' partitions, where this one chooses them for all."""

    def to_store(self) -> dict[TopicPartition, tuple[int, str]]:
        """What to commit before reading begins: the group then has it from a member of this generation."""
        return {**self.others, **{place: begin.stored for place, begin in self.given.items()}}


async def find(
    consumer: AIOKafkaConsumer,
    settings: Settings,
    config: KafkaConfig,
    given: Collection[TopicPartition],
    memory: Memory,
) -> Beginnings:
    """Ask the brokers. Raises Waiting for what the group or the topics still lack."""
    roles = {topic: role for topic, role in config.topics.roles().items() if role is not Role.JUDGMENTS}
    async with admin_client(settings) as admin:
        try:
            counts = await partition_counts(admin, roles)
        except Waiting:
            # The group notices a topic that comes back by its metadata, which may be half a minute old.
            internals.refresh_metadata(consumer)
            raise
        check_equal(counts, roles, Waiting)
        everything = [(topic, number) for topic in roles for number in range(counts[topic])]
        if not given:
            # Nothing is left for this member only if the others own everything.
            if free := without_owner(everything, await members(admin, config.group_id)):
                internals.refresh_metadata(consumer)
                raise Waiting(f"waiting for the group {config.group_id} to share out {_names(free)}")
            return Beginnings(len(everything), {}, {})
        if lacking := incomplete(given, everything, roles):
            internals.refresh_metadata(consumer)
            raise Waiting(f"waiting for the group {config.group_id} to share out {lacking}")
        stored = await committed(admin, config.group_id, everything)
    # Where this process has read before, the offsets are gone because the topics were deleted.
    new_group = not memory.has_delivered and all(pair.offset == NEVER for pair in stored.values())
    # One member chooses for all: two that look at the end of a log a moment apart see different ends.
    if new_group and everything[0] not in given:
        raise Waiting(f"waiting for the starting positions of the new group {config.group_id}")
    held = await logs(consumer, everything if new_group else given)
    never = {place: there for place, there in held.items() if stored[place].offset == NEVER}
    # A partition that was added later holds nothing that somebody chose to leave out.
    starts = await at_start(consumer, config.start if new_group else "earliest", never)
    kept = memory.kept(given, stored, {place: there.end for place, there in held.items()})
    return Beginnings(
        total=len(everything),
        given={
            place: go_on(memory.position(place), stored[place], held[place])
            if place in kept
            else begin(starts.get(place), stored[place], held[place])
            for place in given
        },
        others={
            place: Committed(start.offset, "")
            for place, start in starts.items()
            if new_group and place not in given
        },
    )


def incomplete(
    given: Collection[TopicPartition], everything: Collection[TopicPartition], roles: Mapping[str, Role]
) -> str:
    """The partitions that others of the same number need beside them; empty if all are there.

    >>> topics = {"impressions": Role.IMPRESSIONS, "clicks": Role.INTERACTIONS}
    >>> incomplete([("impressions", 1)], [("impressions", 1), ("clicks", 0), ("clicks", 1)], topics)
    'clicks[1]'
    """
    numbers = {number for topic, number in given if roles[topic] in CO_PARTITIONED}
    return _names(
        (topic, number)
        for topic, number in everything
        if number in numbers and roles[topic] in CO_PARTITIONED and (topic, number) not in given
    )


def _names(places: Iterable[TopicPartition]) -> str:
    return ", ".join(f"{topic}[{number}]" for topic, number in places)


def go_on(position: int, stored: Committed, held: Log) -> Beginning:
    """Read on where the partition was handed out to, or from the first record that is left after it."""
    offset = max(position, held.first)
    start = Start(
        offset,
        stored.metadata,
        fresh=False,
        from_beginning=offset == held.first,
        kept=True,
        end=held.end,
    )
    return Beginning(start, stored, wanted=position)


def begin(chosen: Start | None, stored: Committed, held: Log) -> Beginning:
    """Read from the chosen start of a new partition, else from what was stored."""
    if chosen:
        return Beginning(chosen, Committed(chosen.offset, ""), wanted=chosen.offset)
    start = resume(stored, held)
    if stored.offset > held.end:
        return Beginning(start, Committed(start.offset, ""), wanted=stored.offset)
    return Beginning(start, stored, wanted=stored.offset)

"""The members of a consumer group, as its coordinator lists them."""

import logging
from collections.abc import Collection, Sequence
from typing import NamedTuple

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.coordinator.protocol import ConsumerProtocol
from aiokafka.errors import GroupAuthorizationFailedError, NoError, for_code

from monitor.sources.kafka import internals
from monitor.sources.kafka.waiting import Waiting
from monitor.stream.records import TopicPartition

log = logging.getLogger(__name__)


class Member(NamedTuple):
    """One member; what it owns is only listed while the group is stable."""

    member_id: str
    client_id: str
    owned: frozenset[TopicPartition]


async def members(admin: AIOKafkaAdminClient, group_id: str) -> list[Member]:
    """List the members of a group; nobody, where there is no such group."""
    (reply,) = await admin.describe_consumer_groups([group_id])
    ((error_code, _, _, _, _, found, *_),) = reply.groups
    error = for_code(error_code)
    if error is GroupAuthorizationFailedError:
        raise error(group_id)
    if error is not NoError:
        raise Waiting(f"waiting for the members of group {group_id}", error.__name__)
    return [
        Member(member_id, client_id, _decode(assignment))
        for member_id, client_id, _, _, assignment, *_ in found
    ]


def _decode(assignment: bytes) -> frozenset[TopicPartition]:
    if not assignment:
        return frozenset()
    owned = ConsumerProtocol.ASSIGNMENT.decode(assignment).partitions()
    return frozenset((place.topic, place.partition) for place in owned)


async def expel_predecessor(admin: AIOKafkaAdminClient, group_id: str, client_id: str) -> None:
    """Take the killed processes that this one replaces out of the group: they have its client id.

    The group would wait for each until its session times out. If one is alive after all, it joins again.
    """
    try:
        for member in await members(admin, group_id):
            if member.client_id == client_id:
                log.info("taking member %s, which this process replaces, out of the group", member.member_id)
                await internals.expel(admin, group_id, member.member_id)
    except Exception as error:  # noqa: BLE001 - without it the group waits for the session to time out
        log.debug("the members of group %s cannot be read: %r", group_id, error)


def without_owner(everything: Collection[TopicPartition], found: Sequence[Member]) -> list[TopicPartition]:
    """Partitions that no member owns.

    >>> without_owner([("events", 0), ("events", 1)], [Member("a", "", frozenset({("events", 0)}))])
    [('events', 1)]
    """
    owned = {place for member in found for place in member.owned}
    return [place for place in everything if place not in owned]

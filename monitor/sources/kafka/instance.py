"""Static membership: an instance id is one process's at a time, and the one that joined last has it.

aiokafka's heartbeats and commits carry no instance id. So a replaced member is not told that another process
has joined with its id, only that its member id is unknown. It would join again and take the id back, and so
would the other one, for ever.
"""

import asyncio
from collections.abc import Sequence

from aiokafka.errors import KafkaError

from monitor.config import KafkaConfig
from monitor.sources.kafka.client import Settings, admin_client, refusal
from monitor.sources.kafka.members import Member, members
from monitor.sources.kafka.waiting import Waiting

ASK_SECONDS = 5.0
UUID_LENGTH = 36


async def is_free(settings: Settings, config: KafkaConfig, own_member_id: str) -> bool | None:
    """Whether no other process has joined the group with our instance id; None where nobody answers."""
    try:
        async with asyncio.timeout(ASK_SECONDS), admin_client(settings) as admin:
            found = await members(admin, config.group_id)
    except (OSError, KafkaError, Waiting) as error:
        if refusal(error):
            raise
        return None
    return not has_instance(found, config.group_instance_id or "", but=own_member_id)


def has_instance(found: Sequence[Member], instance_id: str, but: str) -> bool:
    """Whether a member other than `but` has joined with an instance id: a member id is that and a UUID.

    >>> uuid = "2f1c3a52-9f38-4a41-8a6a-6d8b0f4f7a10"
    >>> has_instance([Member(f"monitor-0-{uuid}", "", frozenset())], "monitor-0", but="")
    True
    >>> has_instance([Member(f"monitor-0-{uuid}", "", frozenset())], "monitor", but="")
    False
    """
    return any(
        member.member_id[:-UUID_LENGTH] == f"{instance_id}-" and member.member_id != but for member in found
    )


def in_use(config: KafkaConfig) -> str:
    """Why it waits, in words."""
    return (
        f'kafka.group_instance_id "{config.group_instance_id}" is in use by another process:'
        " give each replica its own (docs/deploying.md)"
    )

"""What must hold of the topics: they exist, meet partition by partition, and keep records long enough."""

import logging
from collections.abc import Collection, Mapping

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import (
    BrokerResponseError,
    NoError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
    for_code,
)

from monitor.durations import in_words
from monitor.sources.base import SourceError
from monitor.sources.kafka.internals import describe
from monitor.sources.kafka.waiting import Waiting
from monitor.stream.records import Role

log = logging.getLogger(__name__)


async def partition_counts(admin: AIOKafkaAdminClient, topics: Collection[str]) -> dict[str, int]:
    """How many partitions each topic has; Waiting while one is missing."""
    counts = {}
    for topic in await describe(admin, topics):
        name, error = topic["topic"], for_code(topic["error_code"])
        if error is UnknownTopicOrPartitionError:
            raise Waiting(f'topic "{name}" does not exist: create it (docs/producing.md)')
        if error is TopicAuthorizationFailedError:
            raise error(name)
        if error is not NoError:
            raise Waiting(f'topic "{name}" is not available yet: {_name(error)}')
        counts[name] = len(topic["partitions"])
    return counts


def check_equal(counts: Mapping[str, int], roles: Mapping[str, Role]) -> None:
    """Impressions and their interactions meet only where equal keys go to equal partition numbers.

    >>> roles = {"impressions": Role.IMPRESSIONS, "clicks": Role.INTERACTIONS}
    >>> check_equal({"impressions": 3, "clicks": 2}, roles)
    Traceback (most recent call last):
    monitor.sources.base.SourceError: impressions has 3 partitions and clicks has 2: make them equal \
(docs/producing.md)
    """
    topics = [topic for topic, role in roles.items() if role in (Role.IMPRESSIONS, Role.INTERACTIONS)]
    for other in topics[1:]:
        if counts[other] != counts[topics[0]]:
            raise SourceError(
                f"{topics[0]} has {counts[topics[0]]} partitions and {other} has {counts[other]}:"
                " make them equal (docs/producing.md)"
            )


async def warn_of_short_retention(
    admin: AIOKafkaAdminClient, topics: Collection[str], longest_delay_seconds: float
) -> None:
    """Say which topics forget records that a restart would still need."""
    try:
        kept = await _retention_ms(admin, topics)
    except Exception as error:  # noqa: BLE001 - a hint is not worth failing for, whatever goes wrong
        log.debug("the retention of the topics cannot be read: %r", error)
        return
    for topic, retention_ms in kept.items():
        if 0 <= retention_ms < longest_delay_seconds * 1000:
            log.warning(
                'topic "%s" keeps records for %s, and the longest delay is %s: raise retention.ms,'
                " or a restart will miss records (docs/producing.md)",
                topic,
                in_words(retention_ms / 1000),
                in_words(longest_delay_seconds),
            )


async def _retention_ms(admin: AIOKafkaAdminClient, topics: Collection[str]) -> dict[str, int]:
    wanted = [ConfigResource(ConfigResourceType.TOPIC, topic, {"retention.ms": ""}) for topic in topics]
    kept = {}
    for reply in await admin.describe_configs(wanted):
        for error_code, _, _, topic, entries in reply.resources:
            if error_code:
                raise for_code(error_code)(topic)
            values = {name: value for name, value, *_ in entries}
            kept[topic] = int(values["retention.ms"])
    return kept


def _name(error: type[BrokerResponseError]) -> str:
    return str(getattr(error, "message", error.__name__))

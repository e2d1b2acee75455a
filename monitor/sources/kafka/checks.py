"""What must hold of the topics: they exist, meet partition by partition, and keep records long enough."""

import logging
from collections.abc import Collection, Mapping

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import (
    BrokerResponseError,
    InvalidTopicError,
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

CO_PARTITIONED = (Role.IMPRESSIONS, Role.INTERACTIONS)
"""Topics whose records meet by partition number."""


async def partition_counts(admin: AIOKafkaAdminClient, topics: Collection[str]) -> dict[str, int]:
    """How many partitions each topic has; Waiting while one is missing."""
    counts = {}
    for topic in await describe(admin, topics):
        name, error = topic["topic"], for_code(topic["error_code"])
        if error is UnknownTopicOrPartitionError:
            raise Waiting(f'topic "{name}" does not exist: create it (docs/producing.md)')
        if error is TopicAuthorizationFailedError:
            raise error(name)
        if error is InvalidTopicError:
            raise SourceError(
                f'kafka.topics: no topic can be named "{name}": use letters, digits, ".", "_" and "-",'
                " at most 249"
            )
        if error is not NoError:
            raise Waiting(f'topic "{name}" is not available yet: {_name(error)}')
        counts[name] = len(topic["partitions"])
    return counts


def check_equal(
    counts: Mapping[str, int], roles: Mapping[str, Role], error: type[Exception] = SourceError
) -> None:
    """Impressions and their interactions meet only where equal keys go to equal partition numbers.

    >>> roles = {"impressions": Role.IMPRESSIONS, "clicks": Role.INTERACTIONS}
    >>> check_equal({"impressions": 3, "clicks": 2}, roles)
    Traceback (most recent call last):
    monitor.sources.base.SourceError: impressions has 3 partitions and clicks has 2: make them equal \
(docs/producing.md)
    """
    topics = [topic for topic, role in roles.items() if role in CO_PARTITIONED]
    for other in topics[1:]:
        if counts[other] != counts[topics[0]]:
            raise error(
                f"{topics[0]} has {counts[topics[0]]} partitions and {other} has {counts[other]}:"
                " make them equal (docs/producing.md)"
            )


async def warn_of_short_retention(
    admin: AIOKafkaAdminClient, roles: Mapping[str, Role], longest_delay_seconds: float
) -> None:
    """Say which topics forget records that a restart would still need."""
    try:
        kept = await _retention(admin, roles)
    except Exception as error:  # noqa: BLE001 - a hint is not worth failing for, whatever goes wrong
        log.debug("the retention of the topics cannot be read: %r", error)
        return
    for topic, (seconds, policy) in kept.items():
        if roles[topic] is Role.JUDGMENTS:
            if "delete" in policy and seconds >= 0:
                log.warning(
                    'topic "%s" has cleanup.policy=%s and forgets judgments after %s: set'
                    " cleanup.policy=compact, or they will be missing after a restart (docs/producing.md)",
                    topic,
                    policy,
                    in_words(seconds),
                )
        elif 0 <= seconds < longest_delay_seconds:
            log.warning(
                'topic "%s" keeps records for %s, and a restart needs those of %s, the longest delay and'
                " the largest window: raise retention.ms, or it will miss some (docs/producing.md)",
                topic,
                in_words(seconds),
                in_words(longest_delay_seconds),
            )


async def _retention(admin: AIOKafkaAdminClient, topics: Collection[str]) -> dict[str, tuple[float, str]]:
    """How many seconds each topic keeps records, below 0 for ever, and its cleanup policy."""
    found = await topic_settings(admin, topics, ("retention.ms", "cleanup.policy"))
    return {
        topic: (int(values["retention.ms"]) / 1000, values["cleanup.policy"])
        for topic, values in found.items()
    }


async def topic_settings(
    admin: AIOKafkaAdminClient, topics: Collection[str], names: Collection[str]
) -> dict[str, dict[str, str]]:
    """Some settings of topics, by topic and name; a broker leaves out those that it does not know."""
    asked = dict.fromkeys(names, "")
    wanted = [ConfigResource(ConfigResourceType.TOPIC, topic, asked) for topic in topics]
    found = {}
    for reply in await admin.describe_configs(wanted):
        for error_code, _, _, topic, entries in reply.resources:
            if error_code:
                raise for_code(error_code)(topic)
            found[topic] = {name: value for name, value, *_ in entries}
    return found


def _name(error: type[BrokerResponseError]) -> str:
    return str(getattr(error, "message", error.__name__))

"""Whose clock writes the timestamps of a topic, and how far ahead of the broker's a producer's may be."""

import asyncio
from collections.abc import Collection
from typing import NamedTuple

from aiokafka.admin import AIOKafkaAdminClient

from monitor.config import KafkaConfig
from monitor.durations import in_words
from monitor.sources.base import SourceError
from monitor.sources.kafka.checks import topic_settings
from monitor.sources.kafka.client import admin_client, probe, settings
from monitor.sources.kafka.waiting import Waiting

TYPE, BOUND, OLD_BOUND = (
    "message.timestamp.type",
    "message.timestamp.after.max.ms",
    "message.timestamp.difference.max.ms",  # before Kafka 3.6
)
NO_BOUND_SECONDS = 100 * 365 * 86_400.0
LOOK_SECONDS = 8.0


class TopicClock(NamedTuple):
    """How a topic's records get their timestamps."""

    timestamp_type: str
    bound_seconds: float
    """By so much a producer's timestamp may be ahead of the broker's clock."""

    def __str__(self) -> str:
        """In words.

        >>> print(TopicClock("LogAppendTime", 3600.0))
        LogAppendTime, the broker's clock
        >>> print(TopicClock("CreateTime", 3600.0))
        CreateTime, the producers' clocks, at most 1h ahead of the broker's (message.timestamp.after.max.ms)
        >>> print(TopicClock("CreateTime", 9e15))
        CreateTime, the producers' clocks, without a bound on the future: set message.timestamp.after.max.ms
        """
        if self.timestamp_type == "LogAppendTime":
            return "LogAppendTime, the broker's clock"
        if self.bound_seconds >= NO_BOUND_SECONDS:
            return f"CreateTime, the producers' clocks, without a bound on the future: set {BOUND}"
        ahead = in_words(self.bound_seconds)
        return f"CreateTime, the producers' clocks, at most {ahead} ahead of the broker's ({BOUND})"


async def topic_clocks(admin: AIOKafkaAdminClient, topics: Collection[str]) -> dict[str, TopicClock]:
    """Ask the brokers."""
    found = await topic_settings(admin, topics, (TYPE, BOUND, OLD_BOUND))
    return {
        topic: TopicClock(
            values[TYPE],
            int(values.get(BOUND) or values.get(OLD_BOUND) or NO_BOUND_SECONDS * 1000) / 1000,
        )
        for topic, values in found.items()
    }


def in_lines(clocks: dict[str, TopicClock]) -> list[str]:
    """A line for each topic."""
    return [f'topic "{topic}": {clock}' for topic, clock in clocks.items()]


async def look(config: KafkaConfig) -> list[str]:
    """The same from the configuration alone, for a person; or the line that says why it cannot be had."""
    try:
        chosen = settings(config)
        async with asyncio.timeout(LOOK_SECONDS):
            await probe(chosen)
            async with admin_client(chosen) as admin:
                return in_lines(await topic_clocks(admin, config.topics.roles()))
    except Waiting:
        return [f"topics: not checked, no broker answers at {config.bootstrap_servers}"]
    except SourceError as error:
        return [f"topics: not checked: {error}"]
    except Exception as error:  # noqa: BLE001 - a hint is not worth failing for; aiokafka raises many things
        return [f"topics: not checked: {str(error) or type(error).__name__}"]

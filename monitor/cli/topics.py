"""Where on Kafka a command writes to: what the options say, and else the configuration."""

from collections.abc import Callable

from monitor import fields
from monitor.cli.errors import UserError
from monitor.config import KafkaConfig, TopicsConfig
from monitor.simulate.wire import ROLES


def topic_given(option: str, name: str | None) -> str | None:
    """A topic from an option, if it was given; Kafka has to like the name."""
    return _checked(option, name, fields.topic)


def kafka_given(configured: KafkaConfig, bootstrap_servers: str | None) -> KafkaConfig:
    """The configured Kafka, at the servers that were given."""
    servers = _checked("--bootstrap-servers", bootstrap_servers, fields.servers)
    return configured.model_copy(update={"bootstrap_servers": servers}) if servers is not None else configured


def topics_given(
    topic: str | None, impressions: str | None, interactions: str | None, judgments: str | None
) -> dict[str, str] | None:
    """The topic of each role, if any was given."""
    separate = (impressions, interactions, judgments)
    if topic is not None and any(separate):
        raise UserError("give either --topic or the three topics, not both")
    if any(separate) and not all(separate):
        raise UserError("give --impressions-topic, --interactions-topic and --judgments-topic together")
    if topic is None and not any(separate):
        return None
    named = dict.fromkeys(ROLES, topic) if topic is not None else dict(zip(ROLES, separate, strict=True))
    return {
        role: topic_given("--topic" if topic is not None else f"--{role}s-topic", name) or ""
        for role, name in named.items()
    }


def topics_configured(topics: TopicsConfig) -> dict[str, str]:
    """The topic of each role: of several, the first."""
    if not (topics.judgments or topics.events):
        raise UserError("no judgments topic is configured; give --impressions-topic and the other two")
    first = (topics.impressions or topics.events, topics.interactions or topics.events)
    return {
        role: names[0] for role, names in zip(ROLES, (*first, topics.judgments or topics.events), strict=True)
    }


def _checked(option: str, value: str | None, check: Callable[[str], str]) -> str | None:
    try:
        return value if value is None else check(value)
    except ValueError as error:
        raise UserError(f"{option}: {error}") from None

"""What is said of topics that do not fit."""

import logging
from types import SimpleNamespace
from typing import Any

import pytest
from aiokafka.errors import TopicAuthorizationFailedError

from monitor.sources.base import SourceError
from monitor.sources.kafka.checks import check_equal, partition_counts, warn_of_short_retention
from monitor.sources.kafka.waiting import Waiting
from monitor.stream.records import Role


def admin(*topics: tuple[str, int, int], retention: Any = None, policy: str = "delete") -> Any:
    """An admin client that knows topics as (name, error code, partitions)."""

    async def send(request: object) -> Any:
        found = [
            {"topic": name, "error_code": code, "partitions": [{}] * count} for name, code, count in topics
        ]
        return SimpleNamespace(to_object=lambda: {"topics": found})

    async def describe_configs(wanted: object) -> Any:
        if retention is None:
            raise AttributeError("not understood")
        entries = [("retention.ms", str(retention), False), ("cleanup.policy", policy, False)]
        return [SimpleNamespace(resources=[(0, "", 2, name, entries) for name, _, _ in topics])]

    return SimpleNamespace(_send_request=send, describe_configs=describe_configs)


async def test_partitions_are_counted() -> None:
    assert await partition_counts(admin(("a", 0, 3), ("b", 0, 1)), ["a", "b"]) == {"a": 3, "b": 1}


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (3, 'topic "b" does not exist: create it \\(docs/producing.md\\)'),
        (5, 'topic "b" is not available yet: LEADER_NOT_AVAILABLE'),
    ],
)
async def test_a_topic_that_is_not_there_is_waited_for(code: int, message: str) -> None:
    with pytest.raises(Waiting, match=message):
        await partition_counts(admin(("a", 0, 3), ("b", code, 0)), ["a", "b"])


async def test_a_topic_that_is_not_ours_to_read_is_refused() -> None:
    with pytest.raises(TopicAuthorizationFailedError, match="b"):
        await partition_counts(admin(("b", 29, 0)), ["b"])


async def test_a_name_that_no_topic_can_have_cannot_heal() -> None:
    message = r'kafka.topics: no topic can be named "bad topic!": use letters, digits, "\.", "_" and "-"'
    with pytest.raises(SourceError, match=message):
        await partition_counts(admin(("bad topic!", 17, 0)), ["bad topic!"])


def test_events_and_judgments_may_have_any_number_of_partitions() -> None:
    check_equal({"a": 3, "b": 2}, {"a": Role.EVENTS, "b": Role.EVENTS})
    roles = {"i": Role.IMPRESSIONS, "c": Role.INTERACTIONS, "j": Role.JUDGMENTS}
    check_equal({"i": 3, "c": 3, "j": 1}, roles)


@pytest.mark.parametrize(("retention", "warned"), [(3_599_999, 1), (3_600_000, 0), (-1, 0), (None, 0)])
async def test_retention_is_compared_with_the_longest_delay(
    retention: int | None, warned: int, caplog: pytest.LogCaptureFixture
) -> None:
    roles = {"a": Role.EVENTS}
    await warn_of_short_retention(admin(("a", 0, 1), retention=retention), roles, 3600.0)
    assert len([record for record in caplog.records if record.levelno >= logging.WARNING]) == warned


@pytest.mark.parametrize(
    ("policy", "retention", "warned"),
    [
        ("delete", 604_800_000, 1),
        ("compact,delete", 604_800_000, 1),
        ("compact", 604_800_000, 0),
        ("delete", -1, 0),
    ],
)
async def test_a_judgments_topic_that_forgets_is_warned_of(
    policy: str, retention: int, warned: int, caplog: pytest.LogCaptureFixture
) -> None:
    client = admin(("grades", 0, 1), retention=retention, policy=policy)
    await warn_of_short_retention(client, {"grades": Role.JUDGMENTS}, 3600.0)
    expected = (
        f'topic "grades" has cleanup.policy={policy} and forgets judgments after 7d: set'
        " cleanup.policy=compact, or they will be missing after a restart (docs/producing.md)"
    )
    assert [r.message for r in caplog.records if r.levelno >= logging.WARNING] == [expected] * warned

"""Fixtures for every test: a real Kafka, started once for the session when the first test asks for it."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.support import wait_until
from tests.support.kafka import Broker, OwnBroker, Unavailable, own_broker, running_broker

pytest_plugins = ["tests.faults.figures"]


class ByFile(LoadScopeScheduling):  # type: ignore[misc] # xdist is not typed
    """Where several processes share the tests, a file stays in one of them, and so does the folder of faults.

    Its scenarios run beside each other on one stage; two stages would run each of them twice.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.split("::", maxsplit=1)[0]
        return "tests/faults" if file.startswith("tests/faults/") else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByFile:
    return ByFile(config, log)


@pytest.fixture(scope="session")
def kafka(request: pytest.FixtureRequest) -> Broker:
    """A broker: the one that KAFKA_BOOTSTRAP_SERVERS names, else the session's own."""
    running = running_broker()
    own: Broker = running or request.getfixturevalue("secure_kafka")
    return own


@pytest.fixture(scope="session")
def secure_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnBroker]:
    """The session's own broker, with listeners for TLS and passwords. Tests leave it running."""
    with broker_or_skip(tmp_path_factory.mktemp("kafka")) as broker:
        yield broker


@pytest.fixture(autouse=True)
def closed_connections(request: pytest.FixtureRequest) -> None:
    """Let TLS connections close before the test's event loop does.

    asyncio says goodbye in the background, and aiokafka does not wait for it: a loop that ends first leaves
    the socket open, and the warning about it fails whichever test runs when it is collected.
    """
    if {"secure_kafka", "lone_kafka", "strict_kafka"} & set(request.fixturenames):
        request.getfixturevalue("closing_connections")


@pytest.fixture
async def closing_connections() -> AsyncIterator[None]:
    yield
    sockets = asyncio.get_running_loop()._selector.get_map()  # type: ignore[attr-defined]

    def only_the_loops_own_socket_is_open() -> bool:
        return len(sockets) == 1

    await wait_until(only_the_loops_own_socket_is_open)


@pytest.fixture
def lone_kafka(tmp_path: Path) -> Iterator[OwnBroker]:
    """A broker that only this test uses, and may stop, kill and start again."""
    with broker_or_skip(tmp_path) as broker:
        yield broker


@pytest.fixture(scope="session")
def strict_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnBroker]:
    """A broker that creates missing topics and has ACLs; a client without a password may do everything."""
    more = {
        "auto.create.topics.enable": "true",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
        "allow.everyone.if.no.acl.found": "true",
    }
    with broker_or_skip(tmp_path_factory.mktemp("strict-kafka"), more) as broker:
        yield broker


@contextmanager
def broker_or_skip(folder: Path, more: Mapping[str, str] | None = None) -> Iterator[OwnBroker]:
    """Start a broker; where none can be had the test is skipped, or fails when REQUIRE_KAFKA=1."""
    try:
        with own_broker(folder, more) as broker:
            yield broker
    except Unavailable as none:
        no_kafka(str(none))


def no_kafka(reason: str) -> NoReturn:
    if os.environ.get("REQUIRE_KAFKA") == "1":
        pytest.fail(f"{reason} (REQUIRE_KAFKA=1)", pytrace=False)
    pytest.skip(reason)

"""Which Kafka the tests use: a running one, a container, a process, or none."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.support.kafka.broker import Broker
from tests.support.kafka.container import Container
from tests.support.kafka.docker import docker_is_ready
from tests.support.kafka.jars import fetch_jars, java_version
from tests.support.kafka.own import Node, OwnBroker
from tests.support.kafka.process import Process
from tests.support.kafka.settings import Settings


class Unavailable(Exception):  # noqa: N818 - a finding, not an error
    """No Kafka can be had; the message says in one line what to install."""


def running_broker() -> Broker | None:
    """Return the broker that KAFKA_BOOTSTRAP_SERVERS names."""
    servers = os.environ.get("KAFKA_BOOTSTRAP_SERVERS", "")
    return Broker(servers) if servers else None


@contextmanager
def own_broker(folder: Path, more: Mapping[str, str] | None = None) -> Iterator[OwnBroker]:
    """Start a broker of one's own in a container or a process; stopped and removed at the end."""
    settings = Settings(more=more or {})
    broker = OwnBroker(settings, folder, choose_node(settings, folder))
    try:
        broker.start()
        yield broker
    finally:
        broker.remove()


def choose_node(settings: Settings, folder: Path) -> Node:
    """A container if Docker answers and has or gets the image, else a process of java."""
    if not shutil.which("openssl"):
        raise Unavailable("no Kafka: install openssl, which makes the certificates of the test broker")
    if docker_is_ready():
        return Container(settings, folder)
    if java_version() >= 17 and shutil.which("mvn"):
        return Process(settings, folder, fetch_jars())
    raise Unavailable(
        "no Kafka: start Docker, or install java 17 or newer and mvn, or set KAFKA_BOOTSTRAP_SERVERS"
    )

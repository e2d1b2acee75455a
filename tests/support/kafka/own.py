"""A broker that belongs to the tests: they may stop it, and it has listeners with TLS and passwords."""

import socket
import struct
import time
from pathlib import Path
from typing import Protocol

from tests.support.kafka.broker import Broker
from tests.support.kafka.keys import make_keys
from tests.support.kafka.settings import Settings

START_SECONDS = 90.0
# ApiVersions, version 0, without a client id: the smallest question a broker answers only when it serves.
ARE_YOU_THERE = struct.pack(">ihhih", 10, 18, 0, 1, -1)


class Node(Protocol):
    """How a broker runs: a process or a container."""

    def start(self) -> None: ...
    def stop(self, *, kill: bool = False) -> None: ...
    def remove(self) -> None: ...
    def alive(self) -> bool: ...
    def log(self) -> str: ...


class OwnBroker(Broker):
    """A broker with listeners PLAINTEXT, SSL (client certificate required) and SASL_SSL.

    `start` and `stop` block; an async test calls them with `asyncio.to_thread`.
    """

    def __init__(self, settings: Settings, folder: Path, node: Node) -> None:
        ports = settings.ports
        super().__init__(f"127.0.0.1:{ports.plaintext}")
        self.ssl_servers = f"127.0.0.1:{ports.ssl}"
        self.sasl_servers = f"127.0.0.1:{ports.sasl_ssl}"
        """SCRAM-SHA-256, SCRAM-SHA-512 and PLAIN, over TLS."""
        keys = make_keys(folder)
        self.ca_file, self.cert_file, self.key_file = keys.ca_file, keys.cert_file, keys.key_file
        self.username = settings.username
        self.password_file = folder / "password"
        self.password_file.write_text(settings.password + "\n")
        self._port = ports.plaintext
        self._node = node

    def start(self) -> None:
        """Start it, again at the same ports with the same data, and wait until it answers."""
        self._node.start()
        deadline = time.monotonic() + START_SECONDS
        while not answers(self._port):
            if not self._node.alive():
                raise RuntimeError(f"Kafka ended while it started; the end of its log:\n{self.log_tail()}")
            if time.monotonic() > deadline:
                raise RuntimeError(f"Kafka did not answer in {START_SECONDS:g} s:\n{self.log_tail()}")
            time.sleep(0.05)

    def stop(self, *, kill: bool = False) -> None:
        """Stop it as an operator would, or as a crash does; its ports and data stay."""
        self._node.stop(kill=kill)

    def remove(self) -> None:
        """Stop it for good."""
        self._node.remove()

    def log_tail(self, lines: int = 30) -> str:
        return "\n".join(self._node.log().splitlines()[-lines:])


def answers(port: int) -> bool:
    """Whether a broker at this port answers a request."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            connection.sendall(ARE_YOU_THERE)
            return len(connection.recv(4)) == 4
    except OSError:
        return False

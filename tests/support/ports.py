"""Ports that nothing listens on."""

import contextlib
import random
import socket

# Below the range the kernel takes for outgoing connections: a port from that range can be gone, or connected
# to itself, by the time a stopped broker comes back to it.
CANDIDATES = range(20_000, 32_000)


def free_port() -> int:
    """Return a port on 127.0.0.1 that nothing listens on."""
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """Return several such ports, all different."""
    ports: list[int] = []
    with contextlib.ExitStack() as held:
        while len(ports) < count:
            port = random.SystemRandom().choice(CANDIDATES)
            probe = held.enter_context(socket.socket())
            with contextlib.suppress(OSError):
                probe.bind(("127.0.0.1", port))
                ports.append(port)
    return ports

"""What several tests share: waiting for a condition, free ports, a real Kafka."""

from tests.support.ports import free_port, free_ports
from tests.support.waiting import wait_until

__all__ = ["free_port", "free_ports", "wait_until"]

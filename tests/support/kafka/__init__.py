"""A real Kafka for the tests, by the first way that can be had (docs/testing.md)."""

from tests.support.kafka.broker import Broker, Produced
from tests.support.kafka.choose import Unavailable, own_broker, running_broker
from tests.support.kafka.own import OwnBroker

__all__ = ["Broker", "OwnBroker", "Produced", "Unavailable", "own_broker", "running_broker"]

"""Rights that a test takes from a user of the broker and gives back."""

from enum import IntEnum

from aiokafka.errors import for_code
from aiokafka.protocol.admin import CreateAclsRequest, DeleteAclsRequest

from tests.support.kafka.own import OwnBroker

LITERAL, DENY = 3, 2


class Resource(IntEnum):
    """What a right is about, as Kafka numbers it."""

    TOPIC = 2
    GROUP = 3


class Operation(IntEnum):
    """What may be done, as Kafka numbers it."""

    ALL = 2
    READ = 3
    DESCRIBE = 8


async def deny(broker: OwnBroker, resource: Resource, name: str, operation: Operation) -> None:
    """Take a right from the broker's user, from now on."""
    async with broker.admin() as admin:
        request = CreateAclsRequest(*_rule(broker, resource, name, operation))
        reply = await admin._send_request(request)
    for code, message in reply.creation_responses:
        if code:
            raise for_code(code)(message)


async def allow(broker: OwnBroker, resource: Resource, name: str, operation: Operation) -> None:
    """Give the right back."""
    async with broker.admin() as admin:
        request = DeleteAclsRequest(*_rule(broker, resource, name, operation))
        reply = await admin._send_request(request)
    for code, message, matching in reply.filter_responses:
        if code:
            raise for_code(code)(message)
        assert matching, f"{operation.name} on {name} was not denied"


def _rule(
    broker: OwnBroker, resource: Resource, name: str, operation: Operation
) -> tuple[int, str, int, str, str, int, int]:
    return resource, name, LITERAL, f"User:{broker.username}", "*", operation, DENY

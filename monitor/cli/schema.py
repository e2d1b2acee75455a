"""`ranking-monitor schema`: the wire schema as JSON Schema."""

import json

from monitor import events


def schema() -> None:
    """Print the JSON Schema of an event, made from the structs that decode it."""
    print(json.dumps(events.schema(), indent=2))

"""Fetch ahead what the Kafka fixture needs, jars or an image, outside the time limit of a test."""

import sys
import tempfile
from pathlib import Path

from tests.support.kafka.choose import Unavailable, choose_node, running_broker
from tests.support.kafka.settings import Settings


def main() -> int:
    """Say which Kafka the tests will use; the exit code is 1 when there is none."""
    if running := running_broker():
        print(f"Kafka for the tests: running at {running.bootstrap_servers}")
        return 0
    try:
        with tempfile.TemporaryDirectory() as folder:
            print("Kafka for the tests:", choose_node(Settings(), Path(folder)))
    except Unavailable as none:
        print(none, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

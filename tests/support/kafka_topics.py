"""Stands in for `kafka-topics.sh --create`, which comes with Kafka's distribution but not with its jars.

It knows only the options that the documents use, so that a wrong one fails; the broker checks the rest.
"""

import argparse
import asyncio

from tests.support.kafka import Broker


def main() -> None:
    parser = argparse.ArgumentParser("kafka-topics.sh", allow_abbrev=False)
    parser.add_argument("--bootstrap-server", required=True)
    parser.add_argument("--create", action="store_true", required=True)
    parser.add_argument("--topic", required=True)
    parser.add_argument("--partitions", type=int, required=True)
    parser.add_argument("--config", action="append", default=[])
    given = parser.parse_args()
    config = dict(entry.split("=", 1) for entry in given.config)
    asyncio.run(Broker(given.bootstrap_server).create_topic(given.topic, given.partitions, config))
    print(f"Created topic {given.topic}.")


if __name__ == "__main__":
    main()

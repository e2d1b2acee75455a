"""The daemon on Kafka, from its configuration to its end."""

import asyncio
import logging
from pathlib import Path

from monitor.config import Config, load
from monitor.daemon import Daemon, signals
from monitor.logs import set_up
from monitor.sources.kafka import KafkaSource
from monitor.sources.kafka.client import client_id
from monitor.stream.plan import make_plan

log = logging.getLogger(__name__)


def serve(path: Path | None) -> None:
    """Run the daemon that a YAML file describes, until it is stopped."""
    config = load(path)
    log_queue = set_up(config.log)
    for line in config.warnings:
        log.warning("%s", line)
    try:
        asyncio.run(_serve(config))
    finally:
        log_queue.flush()


async def _serve(config: Config) -> None:
    # A restart reads back to the first impression of a window that is not closed for its last metric.
    needed_seconds = make_plan(config).last_delay + max(config.windows, default=0.0)
    source = KafkaSource(
        config.kafka, config.idle_seconds, needed_seconds, own_client_id=client_id(config.address)
    )
    daemon = Daemon(config, source)
    with signals(daemon.stop):
        await daemon.run(lambda: log.info("listening on %s, config %s", daemon.url, config.digest))
